"""Read microdata: a file, a database table, or a frame."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

from tacit.core.data import Microdata
from tacit.core.errors import DataError, ParameterError, ReadError
from tacit.core.families import Format
from tacit.core.schema import Kind, Schema
from tacit.io.files import check_readable, format_of, is_gzip, is_url
from tacit.io.kinds import checked_kinds, conform


def read(
    source: Any,
    *,
    table: str | None = None,
    schema: Schema | str | Path | None = None,
    types: Mapping[str, Kind | str] | None = None,
    format: str | None = None,
    **options: Any,
) -> Microdata:
    """Read records from a file, a database or a frame.

    Parameters
    ----------
    source
        A path (its ending names the format), the URL of a database, microdata, or any frame
        Narwhals knows. The input is never changed.
    table
        Table of the database.
    schema
        Roles, kinds, hierarchies and constraints: a `Schema` or the path of its TOML file. Its
        kinds count as declared types.
    types
        Declared types of columns, ``{"zip": "text", "age": "numeric"}``: numeric, ordinal,
        nominal, date or text. They win over those the values look like, and over the schema's.
    format
        Key of the format, where the file's ending does not tell.
    options
        Parameters of the format, such as ``separator=";"`` for CSV.

    Examples
    --------
    >>> import polars as pl
    >>> import tacit
    >>> people = pl.DataFrame({"sex": [1, 2], "zip": ["01234", "99999"]})
    >>> tacit.read(people, types={"sex": "nominal"}).schema["sex"].kind
    <Kind.NOMINAL: 'nominal'>
    """
    described = Schema.load(schema) if isinstance(schema, str | Path) else schema
    kinds = _declared(described, types)
    if is_url(source):
        data, how = _from_database(source, table, format, options)
    elif isinstance(source, str | Path):
        _refuse(table=table)
        data, how = _from_file(Path(source), format, kinds, options)
    else:
        _refuse(table=table, format=format, **options)
        data, how = Microdata.of(source), {}
    if kinds:
        how["types"] = {name: str(kind) for name, kind in kinds.items()}
        data = conform(data, kinds)
    said = checked_kinds(types or {})
    if described is not None:
        corrected = {name: kind for name, kind in said.items() if name in described}
        data = data.with_schema(described.with_kinds(corrected))
    if said:
        data = data.with_kinds(**said)
    return replace(data, reading=how or data.reading)


def _declared(schema: Schema | None, types: Mapping[str, Kind | str] | None) -> dict[str, Kind]:
    from_schema = {} if schema is None else {v.name: v.kind for v in schema.variables}
    return from_schema | checked_kinds(types or {})


def _refuse(**given: Any) -> None:
    """Refuse arguments that make no sense for this kind of source."""
    named = sorted(name for name, value in given.items() if value is not None)
    if named:
        raise ParameterError(
            f"{named[0]}= has no meaning for this kind of source",
            do="leave it out, or give a path or a database URL",
        )


def _from_database(
    url: str, table: str | None, format: str | None, options: Mapping[str, Any]
) -> tuple[Microdata, dict[str, Any]]:
    from tacit.io.database import DatabaseTable, read_table, without_password

    _refuse(format=format)
    asked = DatabaseTable(**options)
    data = replace(Microdata.of(read_table(url, table, asked)), source=without_password(url))
    return data, _recorded({"table": table, "options": asked.as_dict()})


def _from_file(
    path: Path, key: str | None, kinds: Mapping[str, Kind], options: Mapping[str, Any]
) -> tuple[Microdata, dict[str, Any]]:
    check_readable(path)
    kind_of_file = format_of(path, key, ReadError)
    if is_gzip(path) and not getattr(kind_of_file, "reads_gzip", False):
        raise ReadError(
            f"{kind_of_file.title} files are read unpacked: {path.name}", do="gunzip it"
        )
    reader = _with_types(kind_of_file, kinds, options)
    try:
        data = Microdata.of(reader.read(path))
    except DataError as error:
        if isinstance(error, ReadError):
            raise
        raise ReadError(f"{path.name}: {error.what}", got=error.got, do=error.do) from error
    given = {name: value for name, value in reader.as_dict().items() if name != "types"}
    how = _recorded({"format": reader.key, "options": given})
    return replace(data, source=str(path.absolute())), how


def _with_types(
    kind_of_file: type[Format], kinds: Mapping[str, Kind], options: Mapping[str, Any]
) -> Format:
    """Make the reader; formats of text also take the declared types."""
    takes_types = "types" in kind_of_file.model_fields
    return kind_of_file(**options, **({"types": dict(kinds)} if takes_types else {}))


def _recorded(how: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in how.items() if value}
