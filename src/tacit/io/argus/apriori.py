"""A-priori files of tau-ARGUS (``.hst``): what is said of single cells beforehand."""

from __future__ import annotations

import csv
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import NamedTuple

import numpy as np

from tacit.core.atomic import new_file
from tacit.core.digest import file_digest
from tacit.core.errors import PlanError, ReadError, SchemaError, nearest
from tacit.io.delimited import Delimited
from tacit.io.files import check_readable, reading
from tacit.tables._selection import code_keys
from tacit.tables.dimension import Dimension
from tacit.tables.protected import ProtectedTable, Status
from tacit.tables.table import Table
from tacit.tables.table_plan import TablePlan

_NUMBERS = {"s": 0, "u": 0, "p": 0, "m": 0, "ml": 0, "c": 1, "w": 1, "pl": 2, "ab": 2, "ad": 2}
"""How many numbers follow each word."""
_MEANT = {
    **dict.fromkeys(("s", "u", "p", "m", "ml"), "stands alone, with no number after it"),
    **dict.fromkeys(("c", "w"), "is the cost of a cell and needs 1 finite number"),
    "pl": "needs 2 finite numbers, the protection levels below and above",
    **dict.fromkeys(("ab", "ad"), "needs 2 finite numbers, the bounds known beforehand"),
}
_FLAGS = ("unsafe", "frozen", "forced", "waived")
_SETS = {"s": "waived", "u": "unsafe", "p": "frozen", "m": "forced", "ml": "forced"}


class Entry(NamedTuple):
    """One line: a cell, a word, its numbers."""

    line: int
    codes: list[str]
    word: str
    numbers: list[float]


def apply_apriori(
    table: Table,
    path: str | Path,
    *,
    separator: str | None = None,
    encoding: str = "utf-8",
    ignore_unknown: bool = False,
) -> Table:
    r"""Return a table with what an a-priori file says of its cells.

    A line names a cell by its codes (an empty code is the total) and says one thing: ``u`` unsafe,
    ``s`` safe (published whatever the rules say), ``p`` must be published, ``m`` must be
    suppressed, ``c`` a cost, ``pl`` protection levels below and above, ``ab`` bounds known
    beforehand. Later lines win over earlier ones, but ``p`` after ``s`` says both.

    Parameters
    ----------
    table
        A table with dimensions.
    path
        The file.
    separator
        Character between the fields; found out without one.
    encoding
        Encoding of the text.
    ignore_unknown
        Whether lines about codes or cells that the table does not have are passed over.

    Raises
    ------
    ReadError
        With the line that is wrong, or that names a cell the table does not have.

    Examples
    --------
    >>> import polars as pl, tacit, tempfile
    >>> table = tacit.tabulate(pl.DataFrame({"region": ["N", "S"], "x": [7, 8]}), "region", "x")
    >>> path = Path(tempfile.mkdtemp(), "before.hst")
    >>> _ = path.write_text('"N",u\n"N",pl,2,3\n"",p\n')
    >>> told = apply_apriori(table, path)
    >>> told.describe(told.sensitive().primary), told.flags("frozen").tolist()
    ('(N)', [True, False, False])
    """
    path = Path(path)
    if not table.dimensions:
        raise SchemaError("an a-priori file names cells by codes; the table has no dimensions")
    entries = _entries(path, separator, encoding, len(table.dimensions))
    at = _cells(table, entries, path, ignore_unknown)
    return _applied(table, [(i, e) for i, e in zip(at, entries, strict=True) if i >= 0], path)


def apriori_of(
    plan: TablePlan, folder: str | Path, *, encoding: str = "utf-8"
) -> Callable[[Table], Table]:
    """Return what applies the a-priori files of a plan to its table.

    Parameters
    ----------
    plan
        The plan.
    folder
        Where the plan and its a-priori files lie, for example a dossier.
    encoding
        Encoding of the files.

    Raises
    ------
    PlanError
        If a file is missing, or is not the one that the plan was made with.
    """
    paths = [Path(folder) / one.file for one in plan.apriori]
    for one, path in zip(plan.apriori, paths, strict=True):
        if not path.is_file():
            raise PlanError(
                "an a-priori file of the plan is missing",
                got=str(path),
                do="put it back: without it cells would be published that it declares unsafe",
            )
        if file_digest(path) != one.digest:
            raise PlanError(
                "an a-priori file was changed since the plan was made",
                got=str(path),
                do="put back what it was, or make a new plan with the changed file (--apriori)",
            )

    def told(table: Table) -> Table:
        for path in paths:
            table = apply_apriori(table, path, encoding=encoding)
        return table

    return told


def _entries(path: Path, separator: str | None, encoding: str, n_codes: int) -> list[Entry]:
    check_readable(path)
    choices = (separator,) if separator else (",", ";", "\t")
    with reading(path, "an a-priori file"):
        records = list(Delimited.open(path, encoding, choices, '"').records())
    return [_entry(line, fields, n_codes, path) for line, fields in records]


def _entry(line: int, fields: list[str], n_codes: int, path: Path) -> Entry:
    word = fields[n_codes].strip().lower() if len(fields) > n_codes else ""
    where = f"line {line} of {path.name}"
    if word not in _NUMBERS:
        raise ReadError(
            f"{where}: after {n_codes} codes stands what is said of the cell",
            got=repr(word) if word else f"{len(fields)} fields",
            do=nearest(word, _NUMBERS) if word else "write for example: A,B,u",
        )
    given = [text.strip() for text in fields[n_codes + 1 :] if text.strip()]
    try:
        numbers = [float(text) for text in given]
    except ValueError:
        raise ReadError(f"{where}: expected numbers after {word!r}", got=", ".join(given)) from None
    if len(numbers) != _NUMBERS[word] or not np.all(np.isfinite(numbers)):
        raise ReadError(
            f"{where}: {word!r} {_MEANT[word]}", got=", ".join(given) or "nothing after it",
            do="write s to waive the protection of a cell" if word == "w" and not given else None,
        )  # fmt: skip
    return Entry(line, fields[:n_codes], word, numbers)


def _cells(table: Table, entries: list[Entry], path: Path, ignore_unknown: bool) -> np.ndarray:
    """Return the position of each entry's cell, -1 where the table has none."""
    found = np.full((len(entries), len(table.dimensions)), -1, dtype=np.int64)
    for j, dimension in enumerate(table.dimensions):
        reader = CodeReader(dimension)
        found[:, j] = [reader.place(entry.codes[j]) for entry in entries]
    known = np.asarray((found >= 0).all(axis=1))
    keys, order = table.keys
    packed = code_keys(np.where(known[:, None], found, 0), table.dimensions)
    near = np.minimum(np.searchsorted(keys, packed), len(keys) - 1)
    known = known & np.asarray(keys[near] == packed)
    wrong = np.flatnonzero(~known)
    if len(wrong) and not ignore_unknown:
        entry = entries[wrong[0]]
        raise ReadError(
            f"line {entry.line} of {path.name} is about a cell the table does not have",
            got="(" + ", ".join(map(repr, entry.codes)) + ")",
            do="correct the codes, or pass over such lines (ignore_unknown)",
        )
    return np.where(known, order[near], -1)


class CodeReader:
    """Find codes as files write them: an empty one is the total, blanks around may differ."""

    def __init__(self, dimension: Dimension) -> None:
        self.dimension = dimension
        self.bare: dict[str, int] = {}
        for position, code in enumerate(dimension.codes):
            self.bare.setdefault(code.strip(), position)

    def place(self, code: str) -> int:
        """Return the position of a code, -1 if there is none."""
        if not code.strip():
            return 0
        return self.dimension.index.get(code, self.bare.get(code.strip(), -1))


def _applied(table: Table, told: Sequence[tuple[int, Entry]], path: Path) -> Table:
    flags = {name: table.flags(name).copy() for name in _FLAGS}
    levels = [_or_missing(table.level_below, table), _or_missing(table.level_above, table)]
    cost = (np.abs(table.value) if table.cost is None else table.cost).astype(float)
    lower, upper = (bound.copy() for bound in table.bounds)
    for cell, (_, _, word, numbers) in told:
        if word in _SETS:
            agreed = word == "p" and flags["waived"][cell]  # a waived cell may have to be published
            for name in _FLAGS:
                flags[name][cell] = name == _SETS[word]
            flags["waived"][cell] |= agreed
        elif word == "pl":
            levels[0][cell], levels[1][cell] = numbers
        elif word in ("ab", "ad"):
            lower[cell], upper[cell] = numbers
        else:
            cost[cell] = numbers[0]
    words = {entry.word for _, entry in told}
    changes = {n: f for n, f in flags.items() if f.any() or getattr(table, n) is not None}
    if "pl" in words:
        changes |= {"level_below": levels[0], "level_above": levels[1]}
    if words & {"c", "w"}:
        changes["cost"] = cost
    changed = table.replace(**changes)
    cells = np.array([cell for cell, e in told if e.word in ("ab", "ad")], dtype=np.int64)
    if not len(cells):
        return changed
    return changed.with_bounds(cells, lower=lower[cells], upper=upper[cells])


def _or_missing(given: np.ndarray | None, table: Table) -> np.ndarray:
    return np.full(table.n_cells, np.nan) if given is None else given.astype(float)


def write_apriori(
    protected: ProtectedTable,
    path: str | Path,
    *,
    separator: str = ",",
    published: bool = True,
) -> None:
    """Write the outcome of a suppression so that later tables can keep to it.

    Sensitive cells become ``u`` with their protection levels, other suppressed ones ``m``, and
    published ones ``p``, after ``s`` where protection was waived: a table that shares cells with
    this one, or next year's, then has the same pattern there. The file tells which cells are
    sensitive: it stays inside.

    Parameters
    ----------
    protected
        A table some cells of which are suppressed and none changed.
    path
        The file.
    separator
        Character between the fields.
    published
        Whether published cells are written too.
    """
    table = protected.original
    if protected.changed.any():
        raise SchemaError(
            "an a-priori file can tell suppressed from published cells, not changed values",
            got=protected.method,
        )
    if not table.dimensions:
        raise SchemaError("an a-priori file names cells by codes; the table has no dimensions")
    waived = table.flags("waived")
    words = {Status.PRIMARY: "u", Status.SECONDARY: "m", Status.FORCED: "m"}
    with new_file(Path(path)) as scratch, scratch.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, delimiter=separator, lineterminator="\n")
        for cell, status in enumerate(protected.status):
            word = words.get(status, "p")
            if word == "p" and not published:
                continue
            codes = table.labels(cell)
            if word == "p" and waived[cell]:
                writer.writerow([*codes, "s"])
            writer.writerow([*codes, word])
            if word == "u":
                levels = (protected.sensitive.below[cell], protected.sensitive.above[cell])
                writer.writerow([*codes, "pl", *(f"{level:.12g}" for level in levels)])
