"""From a plan to a table: from records with what they bring with them, or from ready cells."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli.options import Reading
from tacit.cli.table_checks import (
    READ_OPTIONS,
    check_hierarchies,
    check_metadata_alone,
    check_secret,
)
from tacit.cli.table_options import Cells, Protecting
from tacit.cli.table_plan import KEYS
from tacit.core.errors import DataError, ParameterError, ReadError, nearest

if TYPE_CHECKING:
    from tacit.core.data import Microdata
    from tacit.tables import Table, TablePlan

_METADATA, _TOTALS = READ_OPTIONS
_HOW = ("given", "add up")


def built_table(
    plan: TablePlan,
    data: str,
    reading: Reading,
    cells: Cells,
    protecting: Protecting,
    files: Sequence[Path] = (),
) -> tuple[TablePlan, Table, tuple[str, ...]]:
    """Build the table of a plan with what its a-priori `files` say of its cells.

    Returned are also the plan with what the data brought with them, and words on that.
    """
    if plan.ready is not None and _is_ready_table(data, reading):
        made, table = _ready_table(plan, data, reading, cells)
        return made, _told(files)(table), ()
    opened = _opened(data, reading)
    if plan.ready is not None:
        if not plan.by:
            raise ParameterError("nothing spans the table", do=_what_spans(data))
        return plan, plan.tabulate(opened, told=_told(files)), ()
    said: tuple[str, ...] = ()
    if protecting.plan is None:
        plan, said = _with_roles_of_data(plan, opened, data, reading, cells)
    return plan, plan.tabulate(_keyed(opened, plan, protecting), told=_told(files)), said


def _told(files: Sequence[Path]) -> Callable[[Table], Table]:
    def told(table: Table) -> Table:
        from tacit.io.argus.apriori import apply_apriori

        for path in files:
            table = apply_apriori(table, path)
        return table

    return told


def _opened(data: str, reading: Reading) -> Microdata:
    from tacit.cli.opening import open_data, shown

    opened = open_data(data, reading)
    if not opened.n_records:
        raise DataError("the data hold no records, so there is no table", got=shown(data))
    return opened


# -- records ---------------------------------------------------------------------------------------


def _with_roles_of_data(
    plan: TablePlan, opened: Microdata, data: str, reading: Reading, cells: Cells
) -> tuple[TablePlan, tuple[str, ...]]:
    """Give the plan the weight, holding and request that the data name and nobody spoke of."""
    found = {"weight": opened.schema.weight, **_roles_of_metadata(data, reading)}
    words = {"weight": "sampling weight", "holding": "holding", "request": "request for protection"}
    brought = {
        role: column
        for role, column in found.items()
        if column is not None and getattr(cells, role) is None
    }
    if not brought:
        return plan, ()
    fields = {"weights" if role == "weight" else role: name for role, name in brought.items()}
    said = tuple(
        f"The data name {column!r} as their {words[role]}, and it is used; --{role} none leaves "
        "it out."
        for role, column in brought.items()
    )
    return plan.replace(**fields), said


def _roles_of_metadata(data: str, reading: Reading) -> dict[str, str | None]:
    """Return the holding and the request that metadata of tau-ARGUS name."""
    from tacit.cli.opening import read_options
    from tacit.io.files import is_url, suffix_of

    if is_url(data) or suffix_of(Path(data)) != ".asc":
        return {}
    from tacit.io.argus.record_roles import record_roles

    return record_roles(Path(data), **read_options(data, reading))


def _keyed(data: Microdata, plan: TablePlan, protecting: Protecting) -> Microdata:
    """Give the records their secret keys, unless they have them."""
    check_secret(plan, protecting)
    missing = [key for key in plan.keys if key not in data.columns]
    if protecting.secret is None:
        if missing == list(KEYS):
            raise ParameterError(
                "the record keys of the plan were made from a secret", do="give it with --secret"
            )
        return data
    from tacit.tables.perturb.record_keys import with_record_keys

    secret = secret_of(protecting.secret)
    return with_record_keys(data, secret, unit=plan.unit, names=plan.keys)


def secret_of(path: Path) -> bytes:
    """Return the secret in a file."""
    try:
        return path.read_bytes().strip()
    except OSError as error:
        raise ReadError(f"could not read the secret: {error.strerror}") from error


# -- ready tables of tau-ARGUS ---------------------------------------------------------------------


def _is_ready_table(data: str, reading: Reading) -> bool:
    from tacit.io.argus.ready_table import is_ready_table

    return is_ready_table(data, _options(reading).get(_METADATA))


def _what_spans(data: str) -> str:
    from tacit.io.files import is_url, suffix_of

    if not is_url(data) and suffix_of(Path(data)) == ".tab":
        return f"give --by, or the file of tau-ARGUS that says it: --read-option {_METADATA}=FILE"
    return "give --by, for example --by region"


def reading_of(plan: TablePlan, data: str, reading: Reading) -> dict[str, Any]:
    """Return how the data were read, so that they can be read like that again."""
    from tacit.cli.opening import read_options

    if plan.ready is not None and _is_ready_table(data, reading):
        return dict(_of_ready_table(reading))
    return read_options(data, reading)


def _options(reading: Reading) -> dict[str, str]:
    from tacit.cli.opening import pair

    return dict(map(pair, reading.read_option or []))


def _ready_table(
    plan: TablePlan, data: str, reading: Reading, cells: Cells
) -> tuple[TablePlan, Table]:
    """Read a ready table of tau-ARGUS; its metadata may say what spans it."""
    from tacit.io.argus.ready_table import read_table

    if len(plan.by) > 1:
        raise ParameterError("ready cells are one table", got=f"{len(plan.by)} sets of columns")
    check_metadata_alone(plan, cells, reading)
    table = read_table(
        data, by=plan.by[0] if plan.by else None, value=plan.value, hierarchies=plan.hierarchies,
        **dict(_of_ready_table(reading)),
    )  # fmt: skip
    spanning = tuple(dimension.name for dimension in table.dimensions)
    check_hierarchies(plan, spanning)
    return plan.replace(by=(spanning,), value=plan.value or table.variable), table


def _of_ready_table(reading: Reading) -> Iterator[tuple[str, Any]]:
    """Yield how a ready table is read, as `tacit.io.read_table` takes it."""
    if reading.encoding is not None:
        yield "encoding", reading.encoding
    for name, value in _options(reading).items():
        if name not in READ_OPTIONS:
            raise ParameterError(
                f"a ready table of tau-ARGUS has no read option {name!r}",
                do=nearest(name, READ_OPTIONS),
            )
        if name == _TOTALS and value not in _HOW:
            raise ParameterError(
                "totals are taken as given or added up anew",
                got=repr(value),
                do="write --read-option totals=given or --read-option totals='add up'",
            )
        if name == _METADATA and not Path(value).is_file():
            raise ReadError("there is no such metadata file", got=value)
        yield name, value
