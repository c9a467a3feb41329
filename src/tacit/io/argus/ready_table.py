"""Ready tables of tau-ARGUS: a row per cell (``.tab``) with its metadata (``.rda``)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, Literal

import numpy as np

from tacit.core.atomic import new_file, write_text
from tacit.core.errors import ReadError, SchemaError
from tacit.io.argus._metadata import Roles, dimension_of, indented, roles_of, total_of, tree_of
from tacit.io.argus.apriori import CodeReader
from tacit.io.delimited import Delimited
from tacit.io.files import check_readable, is_gzip, is_url, reading, suffix_of
from tacit.io.formats._rda import Item, Metadata, read_metadata
from tacit.io.formats.argus import _code_list, _find
from tacit.tables.aggregates import from_aggregates
from tacit.tables.dimension import Dimension, as_dimension
from tacit.tables.sensitive import Sensitive
from tacit.tables.table import Table

_STATUSES = {"SAFE": "s", "UNSAFE": "u", "PROTECT": "p"}
_HOW_MANY_TOP = 5


def read_table(
    path: str | Path,
    *,
    metadata: str | Path | None = None,
    by: str | Iterable[str] | None = None,
    value: str | None = None,
    hierarchies: Mapping[str, Any] | None = None,
    totals: Literal["given", "add up"] = "given",
    encoding: str = "utf-8",
) -> Table:
    """Read a ready table of tau-ARGUS.

    The metadata say which columns are codes, value, frequency, largest contributions, shadow, cost,
    status and protection levels, and name the hierarchies. Status ``U`` declares a cell unsafe,
    with the levels of its row; ``P`` says that it must be published. A decimal comma is recognised.

    Parameters
    ----------
    path
        The ``.tab`` file.
    metadata
        The ``.rda`` file; without it the one of the same name beside the table.
    by
        Columns that span the table; without it those that the metadata call codes.
    value
        Column of totals; without it the first number that has no other meaning.
    hierarchies
        Hierarchies that win over those of the metadata, as `tacit.tabulate` takes them.
    totals
        Whether the totals of the file are taken as they are, and a table that does not add up is
        refused, or left out and added up anew.
    encoding
        Encoding of the text.

    Raises
    ------
    ReadError
        If the files do not fit together.
    DataError
        If the table does not add up; the totals are named.
    """
    path = Path(path)
    check_readable(path)
    described = read_metadata(_beside(path, metadata), encoding)
    names = (by,) if isinstance(by, str) else None if by is None else tuple(by)
    roles = roles_of(described, names, value)
    if not roles.by:
        raise ReadError(f"{described.path.name} names no column of codes", do="give by=")
    with reading(path, "a table of tau-ARGUS"):
        rows = _rows(path, described, roles, encoding)
    dimensions = _dimensions(rows, described, roles, hierarchies or {}, encoding)
    return _made(_coded(rows, dimensions, path), roles, dimensions, totals)


def is_ready_table(source: Any, metadata: str | Path | None = None) -> bool:
    """Say whether a source is a ready table of tau-ARGUS: a ``.tab`` file that has metadata."""
    if not isinstance(source, str | Path) or is_url(str(source)):
        return False
    path = Path(source)
    is_table = suffix_of(path) == ".tab"
    return is_table and (metadata is not None or _metadata_of(path) is not None)


def _metadata_of(path: Path) -> Path | None:
    return _find(path.parent, _metadata_name(path)) if path.parent.is_dir() else None


def _metadata_name(path: Path) -> str:
    return (path.with_suffix("") if is_gzip(path) else path).with_suffix(".rda").name


def _beside(path: Path, metadata: str | Path | None) -> Path:
    if metadata is not None:
        return Path(metadata)
    found = _metadata_of(path)
    if found is None:
        raise ReadError(
            f"there is no metadata file beside {path.name}",
            do=f"put {_metadata_name(path)} there, or give metadata=",
        )
    return found


# -- rows ------------------------------------------------------------------------------------------


def _rows(path: Path, described: Metadata, roles: Roles, encoding: str) -> Any:
    """Return the columns: codes and status as text, the others as numbers."""
    import polars as pl

    separator = described.separator or ","
    text = Delimited.open(path, encoding, (separator,), '"')
    table = text.columns([item.name for item in described.items], ())
    made = [table[name] for name in roles.by]
    made += [_numbers(table[name], separator, path) for name in roles.numeric]
    if roles.status is not None:
        made.append(_plain_status(table[roles.status], described))
    return pl.DataFrame(made)


def _numbers(column: Any, separator: str, path: Path) -> Any:
    import polars as pl

    text = column.str.strip_chars()
    if separator != "," and text.str.contains(",", literal=True).any():
        text = text.str.replace(",", ".", literal=True)
    text = text.replace(["", "-", "."], ["0", "0", "0"]).fill_null("0")
    found = text.cast(pl.Float64, strict=False)
    if found.null_count():
        record = int(found.is_null().arg_max() or 0)
        raise ReadError(
            f"row {record + 1} of {path.name}: {column.name!r} is not a number", got=text[record]
        )
    return found


def _plain_status(column: Any, described: Metadata) -> Any:
    """Return the status in the usual letters; the metadata may declare others."""
    text = column.str.strip_chars().str.to_lowercase()
    for tag, letter in _STATUSES.items():
        for word in described.tags.get(tag, []):
            text = text.replace([word.strip().lower()], [letter])
    return text


# -- codes -----------------------------------------------------------------------------------------


def _dimensions(
    rows: Any, described: Metadata, roles: Roles, given: Mapping[str, Any], encoding: str
) -> dict[str, Dimension]:
    items = {item.name: item for item in described.items}
    made = {}
    for name in roles.by:
        observed = [code or "" for code in rows[name].unique(maintain_order=True).to_list()]
        item = items[name]
        if name in given:
            made[name] = as_dimension(name, given[name], observed, total_of(item))
        else:
            tree = tree_of(item, described.path.parent, _find)
            made[name] = dimension_of(item, observed, tree, _labels(item, described, encoding))
    return made


def _labels(item: Item, described: Metadata, encoding: str) -> dict[str, str]:
    """Return the words for codes, where the file that holds them is there."""
    name = item.word("CODELIST")
    path = (
        _find(described.path.parent, name.replace("\\", "/").rsplit("/", 1)[-1]) if name else None
    )
    return {} if path is None else _code_list(path, encoding)


def _coded(rows: Any, dimensions: Mapping[str, Dimension], path: Path) -> Any:
    """Write the codes as the classifications do: an empty one is the total, blanks may differ."""
    import polars as pl

    for name, dimension in dimensions.items():
        reader = CodeReader(dimension)
        written = rows[name].fill_null("").unique().to_list()
        places = {code: reader.place(code) for code in written}
        unknown = sorted(code for code, place in places.items() if place < 0)
        if unknown:
            raise ReadError(
                f"{path.name} has codes of {name!r} that are not in its hierarchy",
                got=", ".join(map(repr, unknown[:5])),
                do="add them to the hierarchy, or correct the table",
            )
        proper = [dimension.codes[places[code]] for code in written]
        column = rows[name].fill_null("").replace_strict(written, proper, return_dtype=pl.String)
        rows = rows.with_columns(column.alias(name))
    return rows


# -- the table -------------------------------------------------------------------------------------


def _made(rows: Any, roles: Roles, dimensions: Mapping[str, Dimension], totals: str) -> Table:
    shadow = None if roles.shadow == roles.value else roles.shadow
    kept = _finest(rows, dimensions) if totals == "add up" else rows
    table = from_aggregates(
        kept, roles.by, roles.value, hierarchies=dimensions, count=roles.count,
        top=roles.top if roles.count else (), status=roles.status, below=roles.below,
        above=roles.above, cost=roles.cost, sums=(shadow,) if shadow else (),
    )  # fmt: skip
    if totals == "add up" and roles.status is not None:
        table = _with_flags_of_totals(table, rows, roles)
    unsafe = table.flags("unsafe")
    # Levels of cells that the file does not call unsafe are fillers; rules find their own.
    levels = {
        name: np.where(unsafe, given, np.nan)
        for name, given in (("level_below", table.level_below), ("level_above", table.level_above))
        if given is not None
    }
    table = table.replace(**levels)
    if shadow is None or table.respondents is None:
        return table
    net = table.sums[shadow]
    known = replace(table.respondents, net=net, absolute=np.abs(net))
    return table.replace(respondents=known)


def _with_flags_of_totals(table: Table, rows: Any, roles: Roles) -> Table:
    """Return the table with what the rows of totals, which were added up anew, say of them."""
    for letter, flag in (("u", "declare_unsafe"), ("p", "freeze"), ("m", "force")):
        marked = rows.filter(rows[roles.status] == letter)
        if not marked.height:
            continue
        table = getattr(table, flag)(marked.select(roles.by))
        if letter == "u" and roles.below and roles.above:
            levels = {"below": marked[roles.below], "above": marked[roles.above]}
            table = table.with_levels(
                marked.select(roles.by), **{k: v.to_numpy() for k, v in levels.items()}
            )
    return table


def _finest(rows: Any, dimensions: Mapping[str, Dimension]) -> Any:
    """Leave out the rows of totals."""
    for name, dimension in dimensions.items():
        rows = rows.filter(rows[name].is_in(list(dimension.leaves)))
    return rows


# -- writing ---------------------------------------------------------------------------------------


def write_table(table: Table, path: str | Path, sensitive: Sensitive | None = None) -> list[Path]:
    """Write a table for tau-ARGUS: the rows, their metadata and the hierarchies.

    The files hold the original values and the largest contributions: they stay inside.

    Parameters
    ----------
    table
        A table with dimensions, each with one breakdown.
    path
        The ``.tab`` file; the others lie beside it.
    sensitive
        Sensitive cells, written with status ``U`` and their protection levels; without it those
        that the user declared.

    Returns
    -------
    The files written.
    """
    path = Path(path)
    if not table.dimensions:
        raise SchemaError("a ready table names cells by codes; the table has no dimensions")
    found = table.sensitive() if sensitive is None else sensitive
    columns, tags = _columns(table, found)
    trees = {
        path.with_name(f"{path.stem}_{k + 1}.hrc"): indented(dimension)
        for k, dimension in enumerate(table.dimensions)
    }
    described = ['<SEPARATOR> ";"']
    for dimension, tree in zip(table.dimensions, trees, strict=True):
        described += [
            f'"{dimension.name}"', "  <RECODEABLE>", f'  <TOTCODE> "{dimension.total}"',
            "  <HIERARCHICAL>", f'  <HIERCODELIST> "{tree.name}"', '  <HIERLEADSTRING> "@"',
        ]  # fmt: skip
    for name, tag in tags.items():
        described += [f'"{name}"', f"  {tag}"]
    with new_file(path) as scratch:
        columns.write_csv(scratch, separator=";", include_header=False, quote_style="non_numeric")
    metadata = path.with_suffix(".rda")
    for file, text in {metadata: "\n".join(described) + "\n", **trees}.items():
        write_text(file, text)
    return [path, metadata, *trees]


def _columns(table: Table, sensitive: Sensitive) -> tuple[Any, dict[str, str]]:
    """Return the rows, and the tag of each column that is not a code."""
    import polars as pl

    value = table.variable or "count"
    rows = table.code_frame.select([d.name for d in table.dimensions])
    added: dict[str, tuple[str, Any]] = {value: ("<NUMERIC>", table.value)}
    if table.count is not None:
        added["freq"] = ("<FREQUENCY>", table.count)
    if table.respondents is not None and table.count is not None:
        for j in range(min(table.respondents.depth, _HOW_MANY_TOP)):
            added[f"top{j + 1}"] = ("<MAXSCORE>", table.respondents.top[:, j])
    if table.cost is not None:
        added["cost"] = ("<NUMERIC> <COSTVAR>", table.cost)
    status = np.select(
        [sensitive.cells, table.flags("frozen"), table.flags("forced")], ["U", "P", "M"], "S"
    )
    added["status"] = ("<STATUS>", status)
    added["lpl"] = ("<NUMERIC> <LOWERPL>", sensitive.below)
    added["upl"] = ("<NUMERIC> <UPPERPL>", sensitive.above)
    taken = {d.name for d in table.dimensions} & added.keys()
    if taken:
        raise SchemaError("a dimension has the name of another column", got=min(taken))
    series = [pl.Series(name, given) for name, (_, given) in added.items()]
    return rows.with_columns(series), {name: tag for name, (tag, _) in added.items()}
