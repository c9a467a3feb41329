"""Winkler's checklist: is a protected file analytically valid and interesting."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from itertools import combinations
from typing import Annotated, Any

import numpy as np
from annotated_types import Ge, Gt, Le

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.families import Utility
from tacit.core.measurement import Measurement
from tacit.core.method import Columns
from tacit.core.pairing import Pair, pair
from tacit.utility._domains import DomainMoments, Domains, recoded, usual_domains
from tacit.utility._numbers import finite, numeric_columns, shared_weights
from tacit.utility._sampling_errors import Moments
from tacit.utility._tables import SharedCodes, tabulated_columns

_MOST_CHECKS_LISTED = 100
_MOST_PAIRS = 60
_FEWEST = 30
"""Subdomains of fewer original records are not checked."""


@dataclass(frozen=True)
class Check:
    """One thing that an analyst expects to find unchanged."""

    group: str
    """``means``, ``covariances``, ``margins``, ``distributions`` or ``interest``."""
    what: str
    attributes: tuple[str, ...]
    difference: float
    """How far it moved; NaN where the release no longer has it."""
    limit: float

    @property
    def passed(self) -> bool:
        """Whether it moved no further than allowed."""
        return bool(self.difference <= self.limit + 1e-12)

    def as_dict(self) -> dict[str, Any]:
        """Return the check as plain data."""
        return {**asdict(self), "attributes": list(self.attributes), "passed": self.passed}


class AnalyticalValidity(
    Utility,
    key="analytical-validity",
    title="Analytical validity",
    cites=("winkler1998", "domingoferrer2007"),
    example={"columns": ["age", "hours", "income", "sex", "education", "marital"]},
):
    r"""Go through Winkler's checklist and report the share of checks that the release passes.

    Missing values: means are over the values there, covariances over complete records; in tables a
    gap is a category. Weights: used where both files have them. Households: not considered.

    Notes
    -----
    A protected file is analytically valid if it approximately keeps means and covariances on a few
    subdomains, marginal values of a few tabulations, and at least one distributional
    characteristic; it is interesting if six attributes can be validly analysed [winkler1998]_, as
    quoted in [domingoferrer2007]_. "Approximately" is made precise thus:

    * means, of the file and of subdomains of at least 30 records: moved by at most `tolerance`
      standard deviations of the column;
    * covariances: :math:`|v'_{ij} - v_{ij}| \le` `tolerance` :math:`s_i s_j`;
    * margins, tables of one and of two categorical columns: total variation at most `shift`;
    * distributions: :math:`\sup_x |F'(x) - F(x)| \le` `shift`, the Kolmogorov-Smirnov distance;
    * interest: at least `attributes` columns (or all, if there are fewer) pass every check that
      they take part in.

    A column that the release does not have, or not in a form that compares, fails its checks.

    Examples
    --------
    >>> import tacit
    >>> from tacit import utility
    >>> data = tacit.datasets.census(500)
    >>> check = utility.AnalyticalValidity(columns=["age", "income", "sex"])
    >>> check.measure(data, data).value
    1.0
    """

    columns: Columns | None = None
    """Attributes to check; by default all numbers, and categories with few values."""
    by: Columns | None = None
    """Columns whose categories make subdomains; by default the keys with few values."""
    tolerance: Annotated[float, Gt(0)] = 0.1
    """How far means and covariances may move, in standard deviations."""
    shift: Annotated[float, Gt(0), Le(1)] = 0.05
    """Share of the records that may stand elsewhere in a table or distribution."""
    attributes: Annotated[int, Ge(1)] = 6
    """How many attributes must pass all their checks."""

    def objection(self, original: Microdata) -> str | None:
        """Say that the file has no record or nothing to check."""
        if original.n_records == 0:
            return "the file has no record to compare"
        usual = [*numeric_columns(original), *tabulated_columns(pair(original))]
        return None if self.columns or usual else "no number and no category with few values"

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the share of checks passed."""
        both = pair(original, release)
        if min(both.original.n_records, both.released.n_records) == 0:
            raise DataError(f"{self.key} needs at least one record in each file")
        numbers, categories = self._attributes(both)
        checks = list(self._checks(both, numbers, categories))
        if not checks:
            raise DataError(f"{self.key} finds nothing to check", do="name other columns")
        valid = _valid(checks, [*numbers, *categories])
        wanted = min(self.attributes, len({*numbers, *categories}))
        checks.append(
            Check("interest", f"{wanted} attributes that can be validly analysed", (),
                  float(max(0, wanted - len(valid))), 0.0)
        )  # fmt: skip
        return self._measurement(checks, valid, _incomparable(both, numbers, categories))

    def _measurement(self, checks: list[Check], valid: list[str], gone: list[str]) -> Measurement:
        failed = [c for c in checks if not c.passed]
        failed.sort(key=lambda c: -np.nan_to_num(c.difference / (c.limit or 1.0), nan=np.inf))
        groups = {g: [sum(c.passed for c in checks if c.group == g),
                      sum(c.group == g for c in checks)]
                  for g in dict.fromkeys(c.group for c in checks)}  # fmt: skip
        return Measurement(
            key=self.key, title=self.title, value=1 - len(failed) / len(checks), better="higher",
            bounds=(0.0, 1.0), unit="percent",
            details={
                "passed_of": groups, "valid_attributes": valid,
                "checks": [c.as_dict() for c in
                           [*failed, *(c for c in checks if c.passed)][:_MOST_CHECKS_LISTED]],
                "n_checks": len(checks),
                "worst": [c.as_dict() for c in failed[:10]],
            },
            explanation=_explanation(checks, failed, valid),
            warnings=_warnings(gone),
        )  # fmt: skip

    def _attributes(self, both: Pair) -> tuple[list[str], list[str]]:
        """Return the numbers and the categories of the original that are checked."""
        named = list(self.columns) if self.columns else None
        both.original.schema.require([*(named or ()), *(self.by or ())])
        numbers = [c for c in numeric_columns(both.original) if named is None or c in named]
        alone = pair(both.original)
        categories = (
            [c for c in tabulated_columns(alone) if c not in numbers]
            if named is None
            else [c for c in named if c not in numbers]
        )
        return numbers, categories

    def _checks(self, both: Pair, numbers: list[str], categories: list[str]) -> Iterator[Check]:
        gone = _incomparable(both, numbers, categories)
        for name in gone:
            group = "distributions" if name in numbers else "margins"
            yield Check(group, f"{name}, not comparable in the release", (name,), float("nan"), 0.0)
        kept = [c for c in numbers if c not in gone]
        shown = [c for c in categories if c not in gone]
        if kept:
            yield from _number_checks(both, kept, self._by(both), self.tolerance, self.shift)
        yield from _table_checks(both, shown, self.shift)

    def _by(self, both: Pair) -> list[str]:
        wanted = list(self.by) if self.by else usual_domains(both)
        present = [c for c in wanted if c in both.released.schema]
        other = recoded(both, present)
        return [c for c in present if c not in other]


def _incomparable(both: Pair, numbers: list[str], categories: list[str]) -> list[str]:
    """Columns that the release does not have, or not in a form that compares."""
    released = both.released.schema
    gone = [c for c in numbers if c not in numeric_columns(both.released)]
    gone += [c for c in categories if c not in released]
    return gone + recoded(both, [c for c in categories if c in released])


def _warnings(gone: list[str]) -> tuple[str, ...]:
    if not gone:
        return ()
    return (f"Not comparable in the release, and counted as failed: {', '.join(gone)}.",)


def _number_checks(
    both: Pair, columns: list[str], by: list[str], tolerance: float, shift: float
) -> Iterator[Check]:
    """Check means, covariances and distributions of numeric columns."""
    sides = both.original, both.released
    before, after = (finite(s, columns, by="analytical-validity") for s in sides)
    weights = shared_weights(both)
    old, new = Moments.of(before, weights[0]), Moments.of(after, weights[1])
    spread = np.array([_spread(before[:, j], weights[0]) for j in range(len(columns))])
    for j, name in enumerate(columns):
        if np.isnan(old.means[j]):
            continue  # no value in the original: nothing to keep
        moved = _scaled(new.means[j] - old.means[j], spread[j])
        yield Check("means", f"mean of {name}", (name,), moved, tolerance)
        distance = _ks_distance(before[:, j], weights[0], after[:, j], weights[1])
        yield Check("distributions", f"distribution of {name}", (name,), distance, shift)
        for i in np.flatnonzero(~np.isnan(old.covariances[: j + 1, j])):
            moved = _scaled(new.covariances[i, j] - old.covariances[i, j], spread[i] * spread[j])
            what = f"variance of {name}" if i == j else f"covariance of {columns[i]} and {name}"
            names = (name,) if i == j else (columns[i], name)
            yield Check("covariances", what, names, moved, tolerance)
    for column in by:
        domains = Domains.of(both, [column])
        for j, name in enumerate(columns):
            if name != column:
                yield from _domain_means(domains, name, before[:, j], after[:, j], weights,
                                         spread[j], tolerance)  # fmt: skip


def _domain_means(
    domains: Domains, name: str, before: np.ndarray, after: np.ndarray,
    weights: tuple[np.ndarray, np.ndarray], spread: float, tolerance: float,
) -> Iterator[Check]:  # fmt: skip
    """Check the means of one column in the subdomains of another."""
    n = len(domains.labels)
    old = DomainMoments.of(before, weights[0], domains.before, n)
    new = DomainMoments.of(after, weights[1], domains.after, n)
    for d in np.flatnonzero(old.sizes >= _FEWEST):
        what = f"mean of {name} where {domains.labels[d]}"
        attributes = (name, *domains.columns)
        moved = _scaled(new.means[d] - old.means[d], spread)
        yield Check("means", what, attributes, moved, tolerance)


def _table_checks(both: Pair, columns: list[str], shift: float) -> Iterator[Check]:
    """Check tables of one and of two categorical columns."""
    if not columns:
        return
    codes = SharedCodes.of(both, columns)
    pairs = list(combinations(range(len(columns)), 2))[:_MOST_PAIRS]
    for chosen in [*((j,) for j in range(len(columns))), *pairs]:
        p, q = codes.shares(chosen)
        names = tuple(columns[j] for j in chosen)
        what = f"table of {' by '.join(names)}"
        yield Check("margins", what, names, float(0.5 * np.abs(p - q).sum()), shift)


def _spread(column: np.ndarray, weights: np.ndarray) -> float:
    known = ~np.isnan(column)
    if not known.any() or np.ptp(column[known]) == 0:
        return 0.0
    w, x = weights[known] / weights[known].sum(), column[known]
    return float(np.sqrt(w @ (x - w @ x) ** 2))


def _scaled(moved: float, spread: float) -> float:
    """Return a change in units of a spread; a constant column must stay as it is."""
    if spread > 0 or np.isnan(moved):
        return float(abs(moved) / spread) if spread > 0 else float("nan")
    return 0.0 if abs(moved) < 1e-300 else float("inf")


def _ks_distance(a: np.ndarray, wa: np.ndarray, b: np.ndarray, wb: np.ndarray) -> float:
    """Return the largest difference of two weighted distribution functions."""
    known_a, known_b = ~np.isnan(a), ~np.isnan(b)
    if not known_b.any():
        return float("nan")
    points, at = np.unique(np.concatenate([a[known_a], b[known_b]]), return_inverse=True)
    n = int(known_a.sum())
    steps = np.bincount(at[:n], wa[known_a] / wa[known_a].sum(), minlength=len(points))
    steps -= np.bincount(at[n:], wb[known_b] / wb[known_b].sum(), minlength=len(points))
    return float(np.abs(np.cumsum(steps)).max())


def _valid(checks: list[Check], attributes: list[str]) -> list[str]:
    """Attributes all of whose checks are passed."""
    failed = {name for c in checks if not c.passed for name in c.attributes}
    return [name for name in dict.fromkeys(attributes) if name not in failed]


def _explanation(checks: list[Check], failed: list[Check], valid: list[str]) -> str:
    if not failed:
        return f"All {len(checks)} checks of analytical validity are passed."
    return (
        f"{len(checks) - len(failed)} of {len(checks)} checks of analytical validity are passed; "
        f"{len(valid)} attributes pass all of theirs. Furthest off: {failed[0].what}."
    )
