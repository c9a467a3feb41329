"""Full-domain generalisation."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Literal

import numpy as np
from annotated_types import Ge, Gt, Le
from pydantic import AllowInfNan

from tacit.core.data import Microdata
from tacit.core.errors import ParameterError, ProtectionError
from tacit.core.keys import encode, group_ids
from tacit.core.method import Columns, Try
from tacit.core.plan import Plan
from tacit.mask._generalise_domains import Domain, domains
from tacit.mask._generalise_lattice import Lattice
from tacit.mask._generalise_objectives import Objective, ObjectiveName, shared_weights
from tacit.mask._generalise_search import Bounds, fits_optimal_search, greedy, optimal
from tacit.mask._privacy_models import ConditionedMask, Conditions
from tacit.mask._recode_ways import recode_level
from tacit.mask.recode import Recode

MOST_COMBINATIONS = 1_000_000
"""Lattices up to this size are searched to the end unless told otherwise."""
Level = Annotated[int, Ge(0)]
Weight = Annotated[float, Gt(0), AllowInfNan(False)]


class Generalise(
    ConditionedMask,
    key="generalise",
    title="Full-domain generalisation",
    cites=("samarati2001", "sweeney2002", "kohlmayer2012", "prasser2020", "bayardo2005",
           "machanavajjhala2007", "li2007", "truta2006"),
    example={"keys": ["region", "sex", "age", "marital"], "k": 3, "max_suppression": 0.05},
):  # fmt: skip
    r"""Replace keys by coarser categories, the same level on all records, until classes are safe.

    The levels are found by search: of all combinations that leave every class of records with the
    same keys at least ``k`` strong, with at most a share ``max_suppression`` of the records
    blanked, the one that loses least.

    Missing values of a key are a leaf of their own, which stays missing below the root ``*`` of the
    hierarchy. A missing confidential value is no value to the conditions of diversity and
    sensitivity, and a class without a known one fails them; to closeness it is a value of its own.
    Weights are not used; records are counted one by one.
    Households are not considered.

    Notes
    -----
    Each key :math:`j` is released at level :math:`\ell_j` of its hierarchy. A class that is smaller
    than ``k``, or fails a condition on confidential values, is suppressed: its keys are blanked.
    The conditions on a class with shares :math:`p` of confidential values, the whole file having
    :math:`q`, are

    - distinct diversity [machanavajjhala2007]_ and p-sensitivity [truta2006]_: at least :math:`l`
      (:math:`p`) different values; entropy diversity: :math:`-\sum_s p_s\log p_s\ge\log l`;
      recursive diversity: :math:`r_1 < c\,(r_l + \dots + r_m)` for counts
      :math:`r_1\ge r_2\ge\dots`;
    - t-closeness [li2007]_: the earth mover's distance of :math:`p` and :math:`q` is at most
      :math:`t`; moving a unit of mass costs 1 (equal), the difference of ranks over
      :math:`m - 1` (ordered), or the height of the lowest common ancestor over that of the
      hierarchy (hierarchical).

    The loss that is minimised is that of ARX [prasser2020]_, worked out from its results:
    with :math:`L_j` leaves in the domain of key :math:`j`, of which the label of record :math:`i`
    covers :math:`c_{ij}` (:math:`L_j` where it is suppressed), and importance :math:`w_j` adding up
    to 1,

    .. math:: \prod_j (1 + x_j)^{w_j} - 1, \qquad
              x_j = \frac1n \sum_i \frac{c_{ij}/L_j - 1/L_j}{1 - 1/L_j}.

    The leaves of a tree are those it lists; those of intervals and prefixes are the values that
    occur. Other measures: ``precision``, the mean of :math:`\ell_j` over its maximum, 1 where
    suppressed [sweeney2002]_; ``height``, the sum of the levels; ``discernibility`` [bayardo2005]_,
    the sum of squared class sizes and of :math:`n` per suppressed record; ``class-size``, the
    records per class.

    The search counts distinct rows, derives coarser classes from finer ones, skips combinations
    whose loss without suppression is above the best found, and all combinations finer than one that
    fails for good [kohlmayer2012]_. Its result is the optimum. Beyond a million combinations of
    levels a greedy search takes its place, which gives the same protection at a loss that need not
    be the least; `found_levels` and ``search`` tell and decide.

    Deviation: with ``strict`` the suppressed records must meet the conditions too, since an
    intruder who finds no class for a person knows that they are among them; ARX asks nothing of
    them.

    When not to use it: on many keys or keys with many values, where one level for all records costs
    much more than `Mondrian` or `LocalSuppression`, which adapt to where the data are dense.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> keys = ["region", "sex", "age"]
    >>> method = mask.Generalise(keys=keys, k=5)
    >>> data = tacit.datasets.census(500)
    >>> found_levels(method, data)
    {'region': 2, 'sex': 0, 'age': 3}
    >>> frame = tacit.Plan([method]).apply(data, seed=1).frame
    >>> bool(frame.group_by(keys).len()["len"].min() >= 5)
    True
    """

    keys: Columns | None = None
    """Variables to generalise, each with a hierarchy; by default all keys of the schema."""
    max_suppression: Annotated[float, Ge(0), Le(1), Try(0.0, 0.01, 0.05)] = 0.05
    """Largest share of records that may be blanked on all keys."""
    objective: ObjectiveName = "loss"
    """What the search minimises."""
    importance: dict[str, Weight] | None = None
    """Weight of keys in the objective, 1 where not given; an important key is kept finer."""
    min_levels: dict[str, Level] | None = None
    """Lowest level of some keys."""
    max_levels: dict[str, Level] | None = None
    """Highest level of some keys."""
    strict: bool = True
    """Ask the conditions also of the suppressed records, who all look alike."""
    search: Literal["auto", "optimal", "greedy"] = "auto"
    """Search to the optimum, or greedily; by default greedily beyond a million combinations."""

    def describe(self) -> str:
        """Say in plain words what the classes meet."""
        keys = "all keys" if self.keys is None else ", ".join(self.keys)
        how = "greedily" if self.search == "greedy" else f"for the least {self.objective}"
        return (
            f"{self.title} of {keys} {how}: {self.models.describe()}; "
            f"up to {100 * self.max_suppression:g} % of the records suppressed"
        )

    def apply(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """Return the records with keys at the levels found and failing classes blanked."""
        data = data.in_memory()
        found, lattice, conditions = _search(self, data)
        suppressed = lattice.suppressed_records(tuple(found.levels.values()))
        release = _released(data, lattice.domains, found.levels, suppressed)
        _verify(release, found, conditions, suppressed, strict=self.strict)
        return release


@dataclass(frozen=True)
class Generalisation:
    """A combination of levels, and what it costs."""

    levels: dict[str, int]
    """Level of each key."""
    score: float
    """Value of the objective."""
    n_suppressed: int
    """Number of records that are blanked."""
    n_checked: int
    """Number of combinations whose classes were counted."""
    n_combinations: int
    """Number of combinations there are."""
    is_optimal: bool
    """Whether no combination is better; a greedy search cannot tell."""


def generalisation(method: Generalise, data: Microdata) -> Generalisation:
    """Search the levels at which a method would release these data, and what they cost.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> method = mask.Generalise(keys=["sex", "age"], k=5)
    >>> found = generalisation(method, tacit.datasets.census(500))
    >>> found.levels, found.n_suppressed, found.is_optimal
    ({'sex': 0, 'age': 1}, 9, True)
    """
    return _search(method, data)[0]


def found_levels(method: Generalise, data: Microdata) -> dict[str, int]:
    """Return the level of each key at which a method would release these data."""
    return generalisation(method, data).levels


def recoding_plan(levels: dict[str, int]) -> Plan:
    """Return found levels as a plan of recodings, to be applied to new data of the same schema.

    The plan suppresses nothing and promises nothing about the classes of the new data; missing
    values stay missing in it even at the root of a hierarchy.

    Examples
    --------
    >>> [step.describe() for step in recoding_plan({"sex": 0, "age": 2})]
    ['Global recoding of age: replaced by level 2 of the hierarchy']
    """
    return Plan([Recode(column=key, level=level) for key, level in levels.items() if level > 0])


# -- search ---------------------------------------------------------------------------------------


def _search(method: Generalise, data: Microdata) -> tuple[Generalisation, Lattice, Conditions]:
    names = method.key_names(data)
    conditions = method.models.bound_to(data)
    found_domains = domains(data, names)
    bounds = _bounds(method, found_domains)
    objective = Objective(
        method.objective, found_domains, shared_weights(names, _known(method.importance, names))
    )
    max_suppressed = int(method.max_suppression * data.n_records + 1e-9)
    lattice = Lattice(found_domains, conditions, objective, max_suppressed, strict=method.strict)
    small = fits_optimal_search(bounds, MOST_COMBINATIONS)
    to_the_end = method.search == "optimal" or (method.search == "auto" and small)
    best = optimal(lattice, bounds) if to_the_end else greedy(lattice, bounds)
    if best is None:
        raise ProtectionError(
            "no combination of levels meets the conditions",
            got=f"{method.models.describe()}; at most {max_suppressed} records suppressed",
            do="allow more suppression, ask for less, or add coarser levels to the hierarchies",
        )
    found = Generalisation(
        dict(zip(names, best.levels, strict=True)), objective.score(best.total),
        best.n_suppressed, lattice.n_checks, bounds.n_combinations, to_the_end,
    )  # fmt: skip
    return found, lattice, conditions


def _known(given: dict[str, float] | dict[str, int] | None, names: list[str]) -> dict[str, float]:
    """Refuse names that are no keys."""
    for name in given or {}:
        if name not in names:
            raise ParameterError(f"{name!r} is not one of the keys", got=", ".join(names))
    return {name: float(value) for name, value in (given or {}).items()}


def _bounds(method: Generalise, found: Sequence[Domain]) -> Bounds:
    names = [d.name for d in found]
    lowest, highest = _known(method.min_levels, names), _known(method.max_levels, names)
    low = tuple(int(lowest.get(d.name, 0)) for d in found)
    high = tuple(int(min(highest.get(d.name, d.n_levels - 1), d.n_levels - 1)) for d in found)
    for name, a, b in zip(names, low, high, strict=True):
        if a > b:
            raise ParameterError(
                f"the lowest level of {name!r} is above its highest", got=f"{a} and {b}"
            )
    return Bounds(low, high)


# -- release --------------------------------------------------------------------------------------


def _released(
    data: Microdata, found: Sequence[Domain], levels: dict[str, int], suppressed: np.ndarray
) -> Microdata:
    import polars as pl

    release = data
    for name, level in levels.items():
        if level > 0:
            release = recode_level(release, name, level)
    tops = {d.name: d.root for d in found if d.root and levels[d.name] == d.n_levels - 1}
    table = release.local.with_columns(pl.col(c).fill_null(root) for c, root in tops.items())
    linked = [name for name, key in data.schema.linked.items() if key in levels]
    release = release.with_local(table)
    return release.with_missing(dict.fromkeys([*levels, *linked], suppressed))


def _verify(
    release: Microdata,
    found: Generalisation,
    conditions: Conditions,
    suppressed: np.ndarray,
    *,
    strict: bool,
) -> None:
    """Count the classes of the release itself, and refuse it if one fails."""
    groups, n_groups = group_ids(encode(release, list(found.levels)))
    if not strict:
        groups = np.where(suppressed, n_groups, groups)
    fails = conditions.failing(groups, n_groups + 1)
    at_risk = fails[groups] & (~suppressed | strict)
    if at_risk.any():
        raise ProtectionError(
            "the release does not meet the conditions it promises",
            got=f"{int(at_risk.sum())} records in failing classes",
            do="please report this with the hierarchies used",
        )
