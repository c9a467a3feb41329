"""Text files that number cells and list the sums among them: their lines, their numbers."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.core.errors import DataError, ReadError, SchemaError
from tacit.io.delimited import as_utf8
from tacit.io.files import check_readable, reading
from tacit.tables.table import Table

if TYPE_CHECKING:
    from scipy.sparse import csr_array

_TERM = re.compile(r"(\S+?)\s*\(\s*([^()\s]+)\s*\)")


class Lines:
    """The lines of a text file, taken one block after the other."""

    def __init__(self, path: Path, title: str) -> None:
        check_readable(path)
        with reading(path, title):
            text = bytes(as_utf8(path, "utf-8")[:]).decode("utf-8-sig")
        self.path = path
        self.lines = text.splitlines()
        self.place = 0

    def error(self, what: str, *, got: str | None = None, line: int | None = None) -> ReadError:
        """Return an error that names a line, the present one unless another is given."""
        number = self.place if line is None else line
        return ReadError(f"line {number + 1} of {self.path.name}: {what}", got=got)

    def take(self, n: int, what: str) -> list[list[str]]:
        """Return the words of the next lines, blank ones left out."""
        taken: list[list[str]] = []
        while len(taken) < n:
            if self.place >= len(self.lines):
                raise self.error(f"the file ends, {n - len(taken):,} {what} are missing")
            words = self.lines[self.place].split()
            self.place += 1
            if words:
                taken.append(words)
        return taken

    def number(self, what: str) -> int:
        """Return the whole number that stands alone on the next line."""
        words = self.take(1, what)[0]
        if len(words) != 1 or not words[0].isdigit():
            self.place -= 1
            raise self.error(f"expected the number of {what}", got=" ".join(words)[:40])
        return int(words[0])


def numbers(words: Sequence[str], lines: Lines, start: int) -> np.ndarray:
    """Return a column of finite or infinite numbers; a word that is none is named by its line."""
    try:
        found = np.array(words, dtype=float)
    except ValueError:
        wrong = next(i for i, word in enumerate(words) if not _is_number(word))
        raise lines.error("expected a number", got=words[wrong], line=start + wrong) from None
    if np.isnan(found).any():
        raise lines.error("a number is missing", line=start + int(np.isnan(found).argmax()))
    return found


def _is_number(word: str) -> bool:
    try:
        float(word)
    except ValueError:
        return False
    return True


def read_relations(lines: Lines, n: int, place: dict[str, int], *, has_side: bool) -> csr_array:
    """Read ``[side] n : id (coefficient) ...``; each sum is zero, its total has -1."""
    from scipy.sparse import csr_array

    row: list[int] = []
    column: list[int] = []
    weight: list[str] = []
    start = lines.place
    for k, words in enumerate(lines.take(n, "relations")):
        head, colon, terms = " ".join(words).partition(":")
        found = _TERM.findall(terms)
        heads = head.split()
        if not colon or len(heads) != 1 + has_side or heads[-1] != str(len(found)):
            raise lines.error("a relation is written n : cell (coefficient) ...", line=start + k)
        if has_side and numbers(heads[:1], lines, start + k)[0] != 0:
            raise lines.error("a sum of cells must be zero", got=heads[0], line=start + k)
        for cell, coefficient in found:
            if cell not in place:
                raise lines.error("a relation names a cell that is not there", got=cell,
                                  line=start + k)  # fmt: skip
            row.append(k)
            column.append(place[cell])
            weight.append(coefficient)
    signed = numbers(weight, lines, start)
    return csr_array((signed, (row, column)), shape=(n, len(place)))


def written_relations(relations: csr_array, *, has_side: bool) -> list[str]:
    """Write the sums, one line each."""
    side = "0 " if has_side else ""
    lines = []
    for start, end in zip(relations.indptr[:-1], relations.indptr[1:], strict=True):
        terms = zip(relations.indices[start:end], relations.data[start:end], strict=True)
        listed = " ".join(f"{cell} ({weight:.12g})" for cell, weight in terms)
        lines.append(f"{side}{end - start} : {listed}")
    return lines


def made_table(path: Path, **fields: Any) -> Table:
    """Return the table, or say which file is wrong and how."""
    try:
        return Table(**fields)
    except (SchemaError, DataError) as error:
        raise ReadError(f"{path.name}: {error.what}", got=error.got, do=error.do) from error
