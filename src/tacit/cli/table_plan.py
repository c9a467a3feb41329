"""From the options of ``tacit table`` to a plan."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from tacit.cli.table_checks import check_alone, check_hierarchies, check_used
from tacit.cli.table_options import NONE, Cells, Protecting
from tacit.core.errors import ParameterError, UnknownMethodError, nearest

if TYPE_CHECKING:
    from tacit.tables import Dimension, TablePlan
    from tacit.tables.protection import Protection
    from tacit.tables.table_plan import ReadyCells

KEYS = ("rk1", "rk2")
"""Names of the record keys that are made from a secret."""


class Chosen(NamedTuple):
    """A plan, the a-priori files it goes with, and what its file says of its last use."""

    plan: TablePlan
    files: tuple[Path, ...]
    last: dict[str, Any]


def chosen_plan(cells: Cells, protecting: Protecting) -> Chosen:
    """Return the plan of the options, or that of the file with further a-priori files."""
    from tacit.io.argus.apriori import apriori_of
    from tacit.tables.table_plan import read_plan

    given = tuple(protecting.apriori or ())
    if protecting.plan is None:
        return Chosen(_of_options(cells, protecting), given, {})
    check_alone(cells, protecting)
    made, last = read_plan(protecting.plan)
    folder = protecting.plan.parent
    apriori_of(made, folder)  # refuses files that are not those of the plan
    files = (*(folder / one.file for one in made.apriori), *given)
    return Chosen(made.replace(apriori=_marked(files)), files, last)


def _marked(files: Sequence[Path]) -> tuple[dict[str, str], ...]:
    """Return under which names the files will lie beside the plan, and their fingerprints."""
    from tacit.core.digest import file_digest
    from tacit.io.files import check_readable

    for path in files:
        check_readable(path)
    return tuple(
        {"file": f"apriori-{k}.hst", "digest": file_digest(path)} for k, path in enumerate(files, 1)
    )


def _of_options(cells: Cells, protecting: Protecting) -> TablePlan:
    from tacit.tables.table_plan import TablePlan

    if not cells.by and not cells.ready:
        raise ParameterError("nothing spans the table", do="give --by, for example --by region")
    keys = columns(protecting.record_keys) if protecting.record_keys else ()
    made = TablePlan(
        by=tuple(columns(text) for text in cells.by or []),
        value=cells.value,
        rule=protecting.rule,
        method=_chosen_method(protecting),
        hierarchies=hierarchies(cells.hierarchy or [], cells.total),
        weights=_said(cells.weight), weighted=cells.weight != NONE, unit=cells.unit,
        holding=_said(cells.holding), request=_said(cells.request),
        shadow=cells.shadow, cost=cells.cost, total=cells.total, missing=cells.missing,
        missing_value=cells.missing_value,
        keys=KEYS if protecting.secret is not None and not keys else keys,
        ready=_ready(cells) if cells.ready else None,
        apriori=_marked(protecting.apriori or []),
    )  # fmt: skip
    check_used(made, cells, protecting)
    if made.by:
        check_hierarchies(made, [name for by in made.by for name in by])
    return made


def _said(column: str | None) -> str | None:
    return None if column == NONE else column


def _ready(cells: Cells) -> ReadyCells:
    from tacit.tables.table_plan import ReadyCells

    largest = columns(cells.largest) if cells.largest else ()
    return ReadyCells(count=cells.count, largest=largest, status=cells.status)


def _chosen_method(protecting: Protecting) -> Protection:
    """Return the protection, against respondents alone in a cell if they are to attack it."""
    made = protection(protecting.method, protecting.option or [])
    if not protecting.singletons or "singletons" not in type(made).model_fields:
        return made
    if "singletons" in made.model_fields_set and not getattr(made, "singletons", None):
        raise ParameterError(
            "--singletons protects against respondents who are alone in a cell, and "
            "--option singletons=false leaves them out",
            do="give one of the two",
        )
    safe: Protection = made.replace(singletons=True)
    return safe


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
