"""Comma-separated values, and their relatives with other separators."""

from __future__ import annotations

import codecs
import gzip
import io
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, ClassVar, Literal, Self

from pydantic import AfterValidator, BeforeValidator, model_validator

from tacit.core.data import Microdata
from tacit.core.families import Format
from tacit.core.schema import Kind
from tacit.io.delimited import SEPARATORS, Delimited, column_names
from tacit.io.files import is_gzip, reading, records, suffix_of, writing
from tacit.io.kinds import Misfit, Notation, typed


def _one_character(text: str) -> str:
    if len(text) != 1 or not text.isascii() or text in "\r\n":
        raise ValueError("should be one ASCII character")
    return text


def _named_separator(given: Any) -> Any:
    return "\t" if given in ("tab", "\\t") else given


def _known_encoding(name: str) -> str:
    try:
        codecs.lookup(name)
    except LookupError as error:
        raise ValueError("should be an encoding Python knows, such as utf-8 or latin-1") from error
    return name


def _listed(given: Any) -> Any:
    return (given,) if isinstance(given, str) else given


Encoding = Annotated[str, AfterValidator(_known_encoding)]
"""Name of a text encoding."""
Separator = Annotated[str, BeforeValidator(_named_separator), AfterValidator(_one_character)]
"""One character between fields."""


class Csv(Format, key="csv", title="CSV"):
    r"""Text with one record per line and a separator between the fields.

    Reading: types are found from all values of a column, unless declared. Codes such as 007 stay
    text, ISO dates become dates, true and false become logical values. A record with more or fewer
    fields than the header, a quoted field that never ends, duplicate names and bytes that are not
    of the encoding are refused, with the line. A column without a name is called ``column_1``, ...
    by its position.

    Writing: UTF-8, ``\n`` line ends, shortest numbers that read back exactly, missing values
    empty; the same records always give the same bytes. Missing values stay missing; weights and
    households are columns like others.

    Examples
    --------
    >>> import tacit, tempfile, pathlib
    >>> path = pathlib.Path(tempfile.mkdtemp(), "people.csv")
    >>> _ = path.write_text("zip;income\n01234;1,5\n99999;NA\n", encoding="utf-8")
    >>> tacit.read(path, decimal=",").frame.rows()
    [('01234', 1.5), ('99999', None)]
    """

    suffixes: ClassVar[tuple[str, ...]] = (".csv", ".tsv", ".tab", ".txt")
    reads_gzip: ClassVar[bool] = True

    separator: Separator | None = None
    """Character between fields; without one it is found on reading, and a comma (in .tsv files a
    tab) is written."""
    decimal: Literal[".", ","] = "."
    """Decimal mark of numbers."""
    quote: Literal['"', "'", ""] = '"'
    """Character around fields that hold separators; empty for none."""
    encoding: Encoding = "utf-8"
    """Encoding of the text."""
    missing: Annotated[tuple[str, ...], BeforeValidator(_listed)] = ("", "NA")
    """Words that stand for a missing value; in text columns only where they are not quoted."""
    header: bool = True
    """Whether the first line names the columns; otherwise they are column_1, column_2, ..."""
    dates: str | None = None
    """How columns declared as dates are written, such as %d.%m.%Y; ISO without."""
    types: Mapping[str, Kind] = {}
    """Declared types of columns; they win over what the values look like."""

    @model_validator(mode="after")
    def _check(self) -> Self:
        if self.separator == self.decimal:
            raise ValueError("should have different characters for separator and decimal")
        return self

    def read(self, path: Path) -> Any:
        """Return the file as a Polars frame."""
        with reading(path, self.title):
            names, body = self.opened(path)
            table = body.columns(names, self.missing)
            notation = Notation(self.decimal, self.missing, self.dates)
            try:
                return typed(table, self.types, notation)
            except Misfit as misfit:
                line = body.line_of(misfit.record, len(names))
                where = f"record {misfit.record + 1}" if line is None else f"line {line}"
                raise misfit.as_error(f"{where} of {path.name}") from None

    def opened(self, path: Path) -> tuple[list[str], Delimited]:
        """Return the names of the columns, and the text of the records."""
        text = Delimited.open(path, self.encoding, self._separators(path), self.quote)
        return self._named(text)

    def write(self, data: Microdata, path: Path) -> None:
        """Write the records to a new file."""
        table = records(data)
        with writing(path, self.title):
            if codecs.lookup(self.encoding).name == "utf-8" and not is_gzip(path):
                with path.open("wb") as handle:
                    self._write_table(table, handle, path)
                return
            content = io.BytesIO()
            self._write_table(table, content, path)
            encoded = content.getvalue().decode("utf-8").encode(self.encoding)
            path.write_bytes(gzip.compress(encoded, mtime=0) if is_gzip(path) else encoded)

    def _write_table(self, table: Any, target: Any, path: Path) -> None:
        import polars as pl

        words = [word for word in self.missing if word]
        text = [c for c in table.get_columns() if c.dtype == pl.String]
        ambiguous = any(column.is_in(words).any() for column in text)
        table.write_csv(
            target,
            include_header=self.header,
            separator=self._separators(path)[0],
            decimal_comma=self.decimal == ",",
            quote_char=self.quote or '"',
            # A text that reads like a missing value is told apart by its quotes.
            quote_style="non_numeric" if ambiguous else "necessary",
        )

    def _separators(self, path: Path) -> tuple[str, ...]:
        """Return the separators the file may have, the one to write first."""
        if self.separator is not None:
            return (self.separator,)
        if suffix_of(path) in (".tsv", ".tab"):
            return ("\t",)
        return tuple(s for s in SEPARATORS if s != self.decimal)

    def _named(self, text: Delimited) -> tuple[list[str], Delimited]:
        fields, body = text.without_header()
        if not self.header:
            return [f"column_{i}" for i in range(1, len(fields) + 1)], text
        return column_names(fields, text.path), body
