"""Delimited text: bytes in, columns of text out, and the line number of whatever is wrong."""

from __future__ import annotations

import codecs
import csv
import mmap
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import islice
from pathlib import Path
from typing import Any, NoReturn

from tacit.core.errors import ReadError
from tacit.io.files import Buffer, file_bytes, first_line

SEPARATORS = (",", ";", "\t", "|")
"""Separators that are tried when none is given."""
_LINE_END = re.compile(rb"\r*\n|\r")
_BOM = b"\xef\xbb\xbf"
_SAMPLE_RECORDS = 100
_SAMPLE_BYTES = 1 << 18
BLOCK = 1 << 22
"""Bytes of a file that are looked at together."""
_MAX_BLOCK = (1 << 31) - 1


@dataclass(frozen=True)
class Delimited:
    """One delimited text file in UTF-8 and how its fields are told apart."""

    path: Path
    content: Buffer
    separator: str = ","
    quote: str = '"'
    start: int = 0
    """Where the records begin: after the byte-order mark and the header."""
    start_line: int = 1
    """Number of the line where the records begin."""

    @classmethod
    def open(cls, path: Path, encoding: str, separators: tuple[str, ...], quote: str) -> Delimited:
        """Load a file; which of several separators it has is found out."""
        content = as_utf8(path, encoding)
        text = cls(path, content, quote=quote, start=len(_BOM) if content[:3] == _BOM else 0)
        chosen = separators[0] if len(separators) == 1 else text.sniffed(separators)
        return replace(text, separator=chosen)

    def sniffed(self, candidates: tuple[str, ...]) -> str:
        """Return the separator that cuts most records into as many fields as the first has."""

        def fit(candidate: str) -> tuple[float, int]:
            trial = replace(self, separator=candidate, content=self.content[:_SAMPLE_BYTES])
            parsed = _until_bad_quotes(trial.records())
            counts = [len(fields) for _, fields in islice(parsed, _SAMPLE_RECORDS)]
            if len(counts) > 1 and len(self.content) > _SAMPLE_BYTES:
                counts.pop()
            if not counts or counts[0] < 2:
                return 0.0, 0
            return counts.count(counts[0]) / len(counts), counts[0]

        return max(candidates, key=fit)

    def without_header(self) -> tuple[list[str], Delimited]:
        """Return the fields of the first record, and the text after it."""
        for end, line, fields in self._parsed():
            if fields:
                check_utf8(self.path, self.content[:end])
                return fields, replace(self, start=end, start_line=line)
        raise ReadError(f"the file has no header line: {self.path}")

    def records(
        self, *, strict: bool = False, blank: bool = False
    ) -> Iterator[tuple[int, list[str]]]:
        """Yield the first line number and the fields of each record, `blank` lines as well or not.

        This is the slow way, for samples and for finding the line of an error.
        """
        line = self.start_line
        for _, next_line, fields in self._parsed(strict=strict):
            if fields or blank:
                yield line, fields
            line = next_line

    def _parsed(self, *, strict: bool = False) -> Iterator[tuple[int, int, list[str]]]:
        """Yield for each record where it ends, the number of the next line, and its fields."""
        ends = [self.start]
        parser = csv.reader(
            self._lines(ends),
            delimiter=self.separator,
            quotechar=self.quote or None,
            quoting=csv.QUOTE_MINIMAL if self.quote else csv.QUOTE_NONE,
            strict=strict,
        )
        line = self.start_line
        try:
            for fields in parser:
                line = self.start_line + parser.line_num
                yield ends[0], line, fields
        except csv.Error as error:
            raise _BadQuotes(line, str(error)) from error

    def _lines(self, ends: list[int]) -> Iterator[str]:
        """Yield the lines as text; `ends` is told where the last one ended."""
        position = self.start
        for found in _LINE_END.finditer(self.content, self.start):
            ends[0] = found.end()
            yield self.content[position : found.start()].decode("utf-8", "replace") + "\n"
            position = found.end()
        if position < len(self.content):
            ends[0] = len(self.content)
            yield self.content[position:].decode("utf-8", "replace")

    def columns(self, names: list[str], missing: tuple[str, ...]) -> Any:
        """Parse the records into a Polars frame of text; unquoted missing-value words are null."""
        import polars as pl

        if self._is_blank(names):
            return pl.DataFrame(schema=dict.fromkeys(names, pl.String))
        self.check_quotes()
        return pl.from_arrow(self._table(names, missing, BLOCK))

    def _is_blank(self, names: list[str]) -> bool:
        if len(names) == 1:  # here a blank line is a record whose one value is missing
            return self.start == len(self.content)
        head = self.content[self.start : self.start + BLOCK]
        return not head.strip(b"\r\n") and not self.content[self.start :].strip(b"\r\n")

    def _table(self, names: list[str], missing: tuple[str, ...], block: int) -> Any:
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        try:
            return arrow_csv.read_csv(*self._parsing(names, missing, block))
        except pa.ArrowInvalid as error:
            # One field longer than a block: read the file as a single one.
            if "straddl" in str(error) and block < _MAX_BLOCK:
                return self._table(names, missing, min(len(self.content) + 1, _MAX_BLOCK))
            self._explain(names, error)

    def batches(self, names: list[str], missing: tuple[str, ...]) -> Iterator[Any]:
        """Yield what `columns` returns in Polars frames of a few megabytes, one after the other."""
        import polars as pl
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        if self._is_blank(names):
            return
        try:
            for batch in arrow_csv.open_csv(*self._parsing(names, missing, BLOCK)):
                yield pl.from_arrow(batch)
                self.let_go()
        except pa.ArrowInvalid as error:
            if "straddl" in str(error):
                raise ReadError(
                    f"{self.path.name} holds a record of more than {BLOCK >> 20} MB",
                    do="mend the quotes, or cut the text",
                ) from error
            self._explain(names, error)

    def _parsing(self, names: list[str], missing: tuple[str, ...], block: int) -> tuple[Any, ...]:
        """Return the source and how it is parsed and converted, as Arrow wants it."""
        import pyarrow as pa
        from pyarrow import csv as arrow_csv

        source = pa.BufferReader(pa.py_buffer(self.content).slice(self.start))
        return (
            source,
            arrow_csv.ReadOptions(column_names=names, block_size=block),
            arrow_csv.ParseOptions(
                delimiter=self.separator,
                quote_char=self.quote or False,
                newlines_in_values=self._has_quotes(),
                ignore_empty_lines=len(names) > 1,
            ),
            arrow_csv.ConvertOptions(
                column_types=dict.fromkeys(names, pa.string()),
                null_values=list(missing),
                strings_can_be_null=True,
                quoted_strings_can_be_null=False,
            ),
        )

    def _has_quotes(self) -> bool:
        """Whether a quote stands anywhere in the records."""
        quote = self.quote.encode()
        for begin in range(self.start, len(self.content), BLOCK) if quote else ():
            if self.content.find(quote, begin, begin + BLOCK) >= 0:
                return True
            self.let_go()
        return False

    def let_go(self) -> None:
        """Take the pages of a mapped file that were read so far out of memory again."""
        if isinstance(self.content, mmap.mmap):
            self.content.madvise(mmap.MADV_DONTNEED)

    def _explain(self, names: list[str], error: Exception) -> NoReturn:
        """Raise the `ReadError` that names the line where parsing failed."""
        if "UTF8" in str(error):
            check_utf8(self.path, self.content)
        for line, fields in _until_bad_quotes(self.records()):
            if len(fields) != len(names):
                raise ReadError(
                    f"line {line} of {self.path.name} has {_count(fields)}, not {len(names)}",
                    do="mend the line, or give separator=",
                ) from error
        raise ReadError(f"{self.path.name} is not delimited text: {first_line(error)}") from error

    def check_quotes(self) -> None:
        """Refuse a quoted field that never ends or goes on after its closing quote."""
        if not self.quote or self._quotes_are_regular():
            return
        try:
            for _ in self.records(strict=True):
                pass
        except _BadQuotes as problem:
            if "limit" in str(problem):  # a field too long for the slow parser, not for the fast
                return
            raise ReadError(
                f"line {problem.line} of {self.path.name} has a quoted field that does not end "
                "where it should",
                do='mend the quotes, or give quote="" if they are part of the text',
            ) from problem

    def _quotes_are_regular(self) -> bool:
        """Whether quotes only stand at the edges of fields, or twice within: the usual case."""
        import numpy as np

        if not self._has_quotes():
            return True
        view = np.frombuffer(self.content, dtype=np.uint8)
        quote = ord(self.quote)
        edges = np.frombuffer(f"{self.separator}{self.quote}\r\n".encode(), dtype=np.uint8)
        n_seen = 0
        for begin in range(self.start, len(view), BLOCK):
            at = begin + np.flatnonzero(view[begin : begin + BLOCK] == quote)
            opening, closing = at[n_seen % 2 :: 2], at[1 - n_seen % 2 :: 2]
            before = opening[opening > self.start] - 1
            after = closing[closing < len(view) - 1] + 1
            if not np.isin(view[before], edges).all() or not np.isin(view[after], edges).all():
                return False
            n_seen += len(at)
            self.let_go()
        return n_seen % 2 == 0

    def line_of(self, record: int, n_columns: int) -> int | None:
        """Return the line on which a record (counted from 0) begins."""
        parsed = _until_bad_quotes(self.records(blank=n_columns == 1))
        return next((line for n, (line, _) in enumerate(parsed) if n == record), None)


class _BadQuotes(Exception):
    def __init__(self, line: int, message: str) -> None:
        self.line = line
        super().__init__(message)


def _until_bad_quotes(records: Iterator[Any]) -> Iterator[Any]:
    try:
        yield from records
    except _BadQuotes:
        return


def _count(fields: list[str]) -> str:
    return "1 field" if len(fields) == 1 else f"{len(fields)} fields"


def as_utf8(path: Path, encoding: str) -> Buffer:
    """Return the bytes of a text file in UTF-8, whatever its encoding."""
    content = file_bytes(path)
    if encoding.lower().replace("_", "-") in ("utf-8", "utf8", "utf-8-sig"):
        if content[:2] in (b"\xff\xfe", b"\xfe\xff"):
            raise ReadError(f"{path.name} is UTF-16 text, not UTF-8", do="give encoding='utf-16'")
        return content
    try:
        return content[:].decode(encoding).encode()
    except UnicodeDecodeError as error:
        raise ReadError(
            f"{path.name} is not {encoding} text",
            got=f"byte {error.object[error.start]:#04x} at position {error.start}",
            do="give another encoding=",
        ) from error


def check_utf8(path: Path, content: Buffer) -> None:
    """Raise a `ReadError` that names the first line that is not UTF-8."""
    decoder, n_bytes = codecs.getincrementaldecoder("utf-8")(), len(content)
    for begin in range(0, n_bytes, BLOCK):
        position = begin - len(decoder.getstate()[0])
        try:
            decoder.decode(content[begin : begin + BLOCK], begin + BLOCK >= n_bytes)
        except UnicodeDecodeError as error:
            before = _LINE_END.finditer(content, 0, position + error.start)
            raise ReadError(
                f"line {sum(1 for _ in before) + 1} of {path.name} is not UTF-8 text",
                got=f"byte {error.object[error.start]:#04x}",
                do="say how the file is encoded, for example encoding='latin-1' or 'cp1252'",
            ) from error


def column_names(fields: list[str], path: Path) -> list[str]:
    """Return the header as names: blanks around them gone, nameless columns numbered."""
    names = [field.strip() or f"column_{i}" for i, field in enumerate(fields, 1)]
    twice = sorted(name for name, n in Counter(names).items() if n > 1)
    if twice:
        raise ReadError(
            f"{path.name} has duplicate column names: {', '.join(map(repr, twice[:5]))}",
            do="rename them in the file",
        )
    return names
