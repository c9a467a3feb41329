"""A plan for tables: how they are built, what is sensitive, how it is protected; plain data."""

from __future__ import annotations

import hashlib
import tomllib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge
from pydantic import AfterValidator, BeforeValidator, PlainSerializer

from tacit.core.errors import ParameterError, PlanError
from tacit.core.method import build
from tacit.core.value import Value
from tacit.tables._precision import decimals, settled
from tacit.tables._records import MissingCodes, MissingValues
from tacit.tables.dimension import TOTAL, Dimension
from tacit.tables.protected import ProtectedTable
from tacit.tables.protection import Protection
from tacit.tables.rule import Rule, rule_from
from tacit.tables.table import Table

_FORMAT = 1


def _protection(given: Any) -> Protection:
    made = build(given, "protection") if isinstance(given, Mapping) else given
    if not isinstance(made, Protection):
        raise ParameterError("this is not a protection of tables", got=repr(given))
    return made


def _step(method: Protection | Rule | None) -> Any:
    return None if method is None else method.as_step()


def _rule(given: Any) -> Rule | None:
    if isinstance(given, str):
        from tacit.tables.rule_text import rule

        return rule(given)
    return None if given is None else rule_from(given)


def _beside_the_plan(name: str) -> str:
    if name in ("", ".", "..") or "/" in name or "\\" in name:
        raise ParameterError(
            "the a-priori file of a plan lies beside it",
            got=repr(name),
            do="do not trust this plan",
        )
    return name


class AprioriFile(Value):
    """An a-priori file that a plan goes with."""

    file: Annotated[str, AfterValidator(_beside_the_plan)]
    """Its name in the folder of the plan."""
    digest: str
    """Its fingerprint: another file under this name is not the one that is meant."""


class ReadyCells(Value):
    """Which columns of cells that were added up before say what, besides codes and value."""

    count: str | None = None
    """Column of the number of respondents."""
    largest: tuple[str, ...] = ()
    """Columns of the largest contributions, largest first."""
    status: str | None = None
    """Column that says which cells are safe, unsafe or must be published."""


class TablePlan(Value):
    """How tables are built from records, what is sensitive in them, and how it is protected.

    Several sets of columns give linked tables, protected together. A plan may go with a-priori
    files: these lie beside it, and the plan is not carried out without them.

    Examples
    --------
    >>> import polars as pl
    >>> from tacit import tables
    >>> frame = pl.DataFrame({"region": list("NNSSEE"), "x": [90, 1, 20, 25, 30, 33]})
    >>> plan = TablePlan(
    ...     by=[["region"]], value="x", rule="dominance(1,80)", method=tables.SuppressModular()
    ... )
    >>> made = plan.apply(frame)
    >>> int(made.suppressed.sum()), TablePlan.from_toml(plan.to_toml()) == plan
    (2, True)
    """

    by: tuple[tuple[str, ...], ...]
    """For each table the columns that span it."""
    value: str | None = None
    """Column to add up; nothing gives counts."""
    rule: Annotated[
        Rule | None, BeforeValidator(_rule), PlainSerializer(_step, return_type=dict[str, Any])
    ] = None
    """What is sensitive."""
    method: Annotated[
        Protection, BeforeValidator(_protection), PlainSerializer(_step, return_type=dict[str, Any])
    ]
    """How it is protected."""
    hierarchies: Mapping[str, Dimension] = {}
    """For columns the codes that add up."""
    weights: str | None = None
    """Column of sampling weights; nothing takes the schema's."""
    weighted: bool = True
    """Whether sampling weights count; without, the schema's do not either."""
    unit: str | None = None
    """Column that names the respondent."""
    holding: str | None = None
    """Column that names the holding."""
    request: str | None = None
    """Column that says who asks for protection."""
    shadow: str | None = None
    """Column whose contributions the rules look at."""
    cost: str | None = None
    """Column whose totals are what it costs to suppress a cell."""
    keys: tuple[str, ...] = ()
    """Columns of secret record keys."""
    top: Annotated[int, Ge(1)] = 5
    """How many of the largest contributions are kept at least; more where rule or method ask."""
    total: str = TOTAL
    """Code of the total."""
    missing: MissingCodes = "error"
    """What happens to records whose code is missing."""
    missing_value: MissingValues = "error"
    """What happens to records whose value is missing."""
    ready: ReadyCells | None = None
    """The data are cells that were added up before, and these columns say more of them."""
    apriori: tuple[AprioriFile, ...] = ()
    """Files that say something of single cells beforehand; later ones win."""

    def tabulate(self, data: Any, *, told: Callable[[Table], Table] | None = None) -> Table:
        """Return the table, or the linked tables as one.

        Parameters
        ----------
        data
            Records, or cells where the plan is for ready ones.
        told
            Applies the a-priori files of the plan, see `tacit.io.apriori_of`.

        Raises
        ------
        PlanError
            If the plan goes with a-priori files and nothing applies them.
        """
        if self.apriori and told is None:
            raise PlanError(
                "the plan goes with an a-priori file, which says what else is sensitive",
                got=", ".join(one.file for one in self.apriori),
                do="apply it: told=tacit.io.apriori_of(plan, folder), or tacit table --plan",
            )
        table = self._from_records(data) if self.ready is None else self._from_cells(data)
        return table if told is None else told(table)

    def _from_cells(self, data: Any) -> Table:
        from tacit.core.data import Microdata
        from tacit.tables.aggregates import from_aggregates

        if self.ready is None or len(self.by) != 1:
            raise ParameterError("ready cells are one table", got=f"{len(self.by)} sets of columns")
        return from_aggregates(
            Microdata.of(data).frame, self.by[0], self.value, hierarchies=self.hierarchies,
            count=self.ready.count, top=self.ready.largest, status=self.ready.status,
            cost=self.cost, total=self.total,
        )  # fmt: skip

    def _from_records(self, data: Any) -> Table:
        from tacit.tables.link import link
        from tacit.tables.tabulate import tabulate

        depth = max(self.top, self.method.depth, 0 if self.rule is None else self.rule.depth)
        schemas = self.weights is None and self.weighted
        weights: dict[str, Any] = {} if schemas else {"weights": self.weights}
        tables = {
            " x ".join(by): tabulate(
                data, by, self.value,
                hierarchies={n: h for n, h in self.hierarchies.items() if n in by},
                unit=self.unit, holding=self.holding, request=self.request, shadow=self.shadow,
                cost=self.cost, keys=self.keys, top=depth,
                total=self.total,
                missing=self.missing, missing_value=self.missing_value, **weights,
            )
            for by in self.by
        }  # fmt: skip
        if len(tables) == 1:
            return next(iter(tables.values()))
        return link(tables, records=data, missing=self.missing, missing_value=self.missing_value)

    def protect(self, table: Table) -> ProtectedTable:
        """Protect a table by the rule and the method of the plan.

        Raises
        ------
        PlanError
            If there is no rule and the method leaves every value as it is: nothing would be
            protected.
        """
        made = table.protect(self.method, self.rule)
        nothing_declared = self.rule is None and not len(made.sensitive)
        if nothing_declared and not made.hides_changes and not made.changed.any():
            raise PlanError(
                "nothing says which cells are sensitive, and the method changes no value",
                got=self.method.describe(),
                do="give a rule, for example p(10)|freq(3)",
            )
        return made

    def apply(self, data: Any, *, told: Callable[[Table], Table] | None = None) -> ProtectedTable:
        """Build the table and protect it; see `tabulate`."""
        return self.protect(self.tabulate(data, told=told))

    def repeatable(self, made: ProtectedTable) -> TablePlan:
        """Return the plan with the seed that was drawn, so that it gives the same table again."""
        seed = made.notes.get("seed")
        has_seed = "seed" in type(self.method).model_fields
        if seed is None or not has_seed:
            return self
        again: TablePlan = self.replace(method=self.method.replace(seed=int(seed)))
        return again

    # -- plain data -----------------------------------------------------------------------------

    def to_toml(self, **about: Any) -> str:
        """Write the plan as TOML, with entries about where it was used."""
        import tomli_w

        return tomli_w.dumps({"format": _FORMAT, **about, "table": self.as_dict()})

    @classmethod
    def from_toml(cls, text: str) -> TablePlan:
        """Read a plan from TOML."""
        return cls(**_content(text)["table"])


def read_plan(path: str | Path) -> tuple[TablePlan, dict[str, Any]]:
    """Read a plan from a file, and the entries about where it was used."""
    path = Path(path)
    if not path.is_file():
        raise PlanError("there is no plan file", got=str(path))
    try:
        content = _content(path.read_text(encoding="utf-8"))
    except UnicodeDecodeError as error:
        raise PlanError(f"the plan file is not UTF-8 text: {path}") from error
    return TablePlan(**content.pop("table")), content


def _content(text: str) -> dict[str, Any]:
    try:
        content = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise PlanError(f"the plan is not TOML: {error}") from error
    if content.get("format") != _FORMAT or not isinstance(content.get("table"), dict):
        raise PlanError(
            "this is not a plan for tables of this version",
            got=f"format = {content.get('format')!r}",
        )
    return content


def table_digest(table: Table) -> str:
    """Return a fingerprint of a table: its codes, values, counts and wishes.

    Of numbers without an end, such as totals with calibrated weights, it takes seven digits: the
    others depend on the order in which an engine adds up.
    """
    sha = hashlib.sha256()
    for dimension in table.dimensions:
        sha.update("\0".join([dimension.name, *dimension.codes, ""]).encode())
    for array in _arrays(table):
        sha.update(b"-" if array is None else np.ascontiguousarray(array).tobytes())
    return sha.hexdigest()


def outcome_digest(made: ProtectedTable) -> str:
    """Return a fingerprint of what is published of a table, see `table_digest`."""
    shown = np.where(made.suppressed, 0.0, made.published)
    parts = (made.suppressed.tobytes(), _stable(shown).tobytes())
    return hashlib.sha256(b"".join(parts)).hexdigest()


def _stable(values: np.ndarray) -> np.ndarray:
    values = settled(values.astype(float))
    endless = decimals(values) is None
    return np.char.mod("%.7g", values).astype("S") if endless else values


def _arrays(table: Table) -> Iterable[np.ndarray | None]:
    yield from (table.codes.astype(np.int32), _stable(table.value))
    yield None if table.count is None else table.count.astype(np.int64)
    yield from (table.frozen, table.forced, table.waived, table.unsafe)
