"""From the options of ``tacit table`` to a plan, and from a plan to a table."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.cli.options import Reading
from tacit.cli.table_options import Cells, Protecting
from tacit.core.errors import ParameterError, ReadError, UnknownMethodError, nearest

if TYPE_CHECKING:
    from tacit.tables import Dimension, Table, TablePlan
    from tacit.tables.protection import Protection

_KEYS = ("rk1", "rk2")
_DEFAULTS = (Cells(), Protecting())


def chosen_plan(cells: Cells, protecting: Protecting) -> tuple[TablePlan, dict[str, Any]]:
    """Return the plan of the options or of the file, and what the file says of its last use."""
    from tacit.tables.table_plan import TablePlan, read_plan

    if protecting.plan is not None:
        _check_alone(cells, protecting)
        return read_plan(protecting.plan)
    if not cells.by and not cells.ready:
        raise ParameterError("nothing spans the table", do="give --by, for example --by region")
    keys = columns(protecting.record_keys) if protecting.record_keys else ()
    made = TablePlan(
        by=tuple(columns(text) for text in cells.by or []),
        value=cells.value,
        rule=protecting.rule,
        method=_chosen_method(protecting),
        hierarchies=hierarchies(cells.hierarchy or [], cells.total),
        weights=cells.weight, unit=cells.unit, holding=cells.holding, request=cells.request,
        shadow=cells.shadow, cost=cells.cost, total=cells.total, missing=cells.missing,
        missing_value=cells.missing_value,
        keys=_KEYS if protecting.secret is not None and not keys else keys,
    )  # fmt: skip
    _check_hierarchies(made)
    return made, {}


def _chosen_method(protecting: Protecting) -> Protection:
    """Return the protection, against respondents alone in a cell if they are to attack it."""
    made = protection(protecting.method, protecting.option or [])
    unsaid = "singletons" in type(made).model_fields and "singletons" not in made.model_fields_set
    return made.replace(singletons=True) if protecting.singletons and unsaid else made


def _check_alone(cells: Cells, protecting: Protecting) -> None:
    """Refuse options that the plan file would silently win over."""
    allowed = ("plan", "secret", "apriori", "singletons", "ready", "count", "largest", "status")
    for given, default in zip((cells, protecting), _DEFAULTS, strict=True):
        for name, value in vars(given).items():
            if name not in allowed and value != getattr(default, name):
                raise ParameterError(
                    f"the plan says all of the table, so --{name.replace('_', '-')} is too much",
                    do="leave it out, or leave --plan out",
                )


def _check_hierarchies(plan: TablePlan) -> None:
    named = {name for by in plan.by for name in by}
    for name in plan.hierarchies:
        if named and name not in named:
            raise ParameterError(
                f"there is a hierarchy for {name!r}, which does not span the table",
                do=nearest(name, named),
            )


def columns(text: str) -> tuple[str, ...]:
    """Return names written with commas; a name that holds one stands in quotes.

    Examples
    --------
    >>> columns('region, "size, class"')
    ('region', 'size, class')
    """
    from tacit.cli.steps import _as_text

    found = _as_text(text.strip())
    names = tuple(found) if isinstance(found, list) else (str(found),)
    if not all(names) or len(set(names)) < len(names):
        raise ParameterError("columns are named once each, with commas between", got=repr(text))
    return names


def protection(name: str, options: list[str]) -> Protection:
    """Return the protection of a key, or of its last word, with its parameters."""
    from tacit.cli.steps import _pair, value_for
    from tacit.core.method import methods
    from tacit.tables.protection import Protection

    known = {m.key: m for m in methods("protection")}
    key = name.strip().lower().replace("_", "-")
    found = [key] if key in known else [k for k in known if k.endswith(f"-{key}")]
    if len(found) > 1:
        raise ParameterError(f"{name!r} may be several protections", got=", ".join(found))
    if not found:
        short = [k.partition("-")[2] for k in known if "-" in k]
        raise UnknownMethodError(
            f"there is no protection {name!r}", do=nearest(key, [*known, *short])
        )
    method, given = known[found[0]], {}
    for text in options:
        parameter, value = _pair(text, text)
        if parameter in given:
            raise ParameterError(f"the option {parameter!r} is given twice", got=text)
        given[parameter] = value_for(value, method.model_fields.get(parameter))
    made = method(**given)
    if not isinstance(made, Protection):
        raise UnknownMethodError(f"{found[0]!r} does not protect tables")
    return made


def hierarchies(given: list[str], total: str) -> dict[str, Dimension]:
    """Read the hierarchies, several of one column as several breakdowns."""
    from tacit.io.hierarchies import read_hierarchy
    from tacit.tables.dimension import Dimension

    trees: dict[str, list[Any]] = {}
    for text in given:
        name, equals, path = text.partition("=")
        if not equals or not name.strip() or not path.strip():
            raise ParameterError("a hierarchy is written COLUMN=FILE", got=repr(text))
        trees.setdefault(name.strip(), []).append(read_hierarchy(path.strip()))
    return {n: Dimension.from_trees(n, *several, total=total) for n, several in trees.items()}


# -- from a plan to a table ------------------------------------------------------------------------


def built_table(
    plan: TablePlan, data: str, reading: Reading, cells: Cells, protecting: Protecting
) -> Table:
    """Build the table and apply what is said of its cells beforehand."""
    if cells.ready:
        table = _ready(plan, data, reading, cells)
    else:
        table = plan.tabulate(_keyed(_opened(data, reading), plan, protecting))
    if protecting.apriori is None:
        return table
    from tacit.io.argus.apriori import apply_apriori

    return apply_apriori(table, protecting.apriori)


def _opened(data: str, reading: Reading) -> Any:
    from tacit.cli.opening import open_data

    return open_data(data, reading)


def _keyed(data: Any, plan: TablePlan, protecting: Protecting) -> Any:
    """Give the records their secret keys, unless they have them."""
    missing = [key for key in plan.keys if key not in data.columns]
    if protecting.secret is None:
        if missing == list(_KEYS):
            raise ParameterError(
                "the record keys of the plan were made from a secret", do="give it with --secret"
            )
        return data
    from tacit.tables.perturb.record_keys import with_record_keys

    try:
        secret = protecting.secret.read_bytes().strip()
    except OSError as error:
        raise ReadError(f"could not read the secret: {error.strerror}") from error
    return with_record_keys(data, secret, unit=plan.unit, names=plan.keys)


def _ready(plan: TablePlan, data: str, reading: Reading, cells: Cells) -> Table:
    """Return a table from cells that were added up before."""
    from tacit.io.argus.ready_table import read_table
    from tacit.tables.aggregates import from_aggregates

    if len(plan.by) > 1:
        raise ParameterError("ready cells are one table", got=f"{len(plan.by)} sets of columns")
    by = plan.by[0] if plan.by else None
    if Path(data).suffix.lower() == ".tab" and Path(data).with_suffix(".rda").is_file():
        return read_table(data, by=by, value=plan.value, hierarchies=plan.hierarchies)
    if by is None:
        raise ParameterError("nothing spans the table", do="give --by, for example --by region")
    return from_aggregates(
        _opened(data, reading).frame, by, plan.value, hierarchies=plan.hierarchies,
        count=cells.count, top=columns(cells.largest) if cells.largest else (),
        status=cells.status, cost=plan.cost, total=plan.total,
    )  # fmt: skip
