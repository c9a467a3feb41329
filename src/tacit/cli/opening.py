"""Open the data of a command: read them and give their columns roles."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli.options import Engine, Reading, Roles
from tacit.core.errors import ParameterError, SchemaError
from tacit.core.schema import Role, Schema

if TYPE_CHECKING:
    from tacit.core.data import Microdata


def open_data(source: str, reading: Reading, roles: Roles | None = None) -> Microdata:
    """Read a file or table and give its columns the roles that were asked for.

    What the options say wins over the schema file, and the schema file over the suggestion.
    """
    from tacit.io.read import read

    roles = roles or Roles()
    data = read(source, schema=roles.schema, **read_options(source, reading))
    if roles.suggested_roles:
        data = _suggested(data, with_kinds=roles.schema is None)
    return data.with_schema(_declared(data.schema, roles))


def with_roles(data: Microdata, roles: Roles) -> Microdata:
    """Give data that were opened already the roles that were asked for, and no others."""
    schema = data.schema.with_roles({role: [] for role in Role if role != Role.LINKED})
    if roles.schema is not None:
        schema = Schema.load(roles.schema)
    data = data.with_schema(schema)
    if roles.suggested_roles:
        data = _suggested(data, with_kinds=False)
    return data.with_schema(_declared(data.schema, roles))


def open_beyond_memory(source: str, reading: Reading, roles: Roles, engine: Engine) -> Microdata:
    """Open a Parquet file in DuckDB, within the memory that was allowed."""
    from tacit.io.beyond_memory import open_parquet
    from tacit.io.files import is_url, suffix_of

    if engine.engine != "duckdb":
        raise ParameterError(
            "there is no such engine", got=repr(engine.engine), do="use memory or duckdb"
        )
    if is_url(source) or suffix_of(Path(source)) not in (".parquet", ".pq"):
        raise ParameterError(
            "beyond memory only Parquet files are read",
            got=shown(source),
            do="convert it first, or use --engine memory",
        )
    if reading != Reading():
        raise ParameterError("a Parquet file takes no options of reading beyond memory")
    data = open_parquet(source, memory=engine.memory, schema=roles.schema)
    if roles.suggested_roles:
        data = _suggested(data, with_kinds=roles.schema is None)
    return data.with_schema(_declared(data.schema, roles))


def shown(source: str) -> str:
    """Return the name of a source as it may be printed: a database URL without its password."""
    from tacit.io.files import is_url

    if not is_url(source):
        return source
    from tacit.io.database import without_password

    return without_password(source)


def read_options(source: str, reading: Reading) -> dict[str, Any]:
    """Return the options of reading a source, each as its format declares it."""
    named = {
        "table": reading.table,
        "separator": reading.separator,
        "encoding": reading.encoding,
        "decimal": reading.decimal,
    }
    options: dict[str, Any] = {name: value for name, value in named.items() if value is not None}
    return options | _typed(source, dict(map(pair, reading.read_option or [])))


def pair(option: str) -> tuple[str, str]:
    """Return the name and the value of an option for reading."""
    name, equals, value = option.partition("=")
    if not equals or not name.strip():
        raise ParameterError("an option for reading is written name=value", got=repr(option))
    if name.strip() == "schema":
        raise ParameterError("the schema has an option of its own", do="use --schema")
    return name.strip(), value


def _typed(source: str, given: dict[str, str]) -> dict[str, Any]:
    """Read the values as the format of the file declares them."""
    if not given:
        return {}
    from tacit.cli.steps import value_for
    from tacit.core.errors import ReadError
    from tacit.io.files import format_of, is_url

    fields = {}
    if not is_url(source):
        fields = format_of(Path(source), given.get("format"), ReadError).model_fields
    return {name: value_for(text, fields.get(name)) for name, text in given.items()}


def _suggested(data: Microdata, *, with_kinds: bool) -> Microdata:
    """Give the columns about which nothing is said the roles they seem to have."""
    from tacit.suggest import suggest_roles

    schema = data.schema
    said = set(schema.names(*(role for role in Role if role != Role.LINKED)))
    alone = [role for role in (Role.WEIGHT, Role.HOUSEHOLD) if schema.names(role)]
    roles = {role: schema.names(role) for role in Role}
    kinds = {}
    for suggestion in suggest_roles(data):
        if suggestion.column not in said and suggestion.role not in alone:
            roles[suggestion.role].append(suggestion.column)
            kinds[suggestion.column] = suggestion.kind
    schema = schema.with_roles(roles)
    return data.with_schema(schema.with_kinds(kinds) if with_kinds else schema)


def _declared(schema: Schema, roles: Roles) -> Schema:
    """Correct a schema column by column: a column that is named has the roles named, no others."""
    named = {
        Role.IDENTIFIER: roles.identifier or [],
        Role.KEY: roles.key or [],
        Role.CONFIDENTIAL: roles.confidential or [],
        Role.NON_CONFIDENTIAL: roles.non_confidential or [],
        Role.WEIGHT: [] if roles.weight is None else [roles.weight],
        Role.HOUSEHOLD: [] if roles.household is None else [roles.household],
        Role.STRATUM: roles.stratum or [],
    }
    corrected = {name for names in named.values() for name in names}
    full = {}
    for role, names in named.items():
        only_one = role in (Role.WEIGHT, Role.HOUSEHOLD) and names
        kept = [] if only_one else [n for n in schema.names(role) if n not in corrected]
        full[role] = kept + names
    return schema.with_roles(full)


def require_roles(data: Microdata) -> None:
    """Refuse data about which nothing is said: nobody would know what to protect."""
    if not data.schema.has_roles:
        raise SchemaError(
            "no column has a role, so nothing says what to protect",
            got=f"{len(data.columns)} columns",
            do="declare them with --identifier, --key and --confidential, give --schema, or take "
            "--suggested-roles after a look at `tacit inspect`",
        )
