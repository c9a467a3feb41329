"""Means and totals of subdomains before and after."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import combinations
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.families import Utility
from tacit.core.measurement import Measurement
from tacit.core.method import Columns
from tacit.core.pairing import Pair, pair
from tacit.utility._domains import DomainMoments, Domains, recoded, usual_domains
from tacit.utility._numbers import Numbers, numeric_columns
from tacit.utility._tables import recoded_warnings

_N_WORST = 10
_MOST_TABLES = 500


class SubdomainMeans(
    Utility,
    key="subdomain-means",
    title="Change of subdomain means",
    cites=("domingoferrer2007", "winkler1998"),
    example={"columns": ["income", "hours"], "by": ["region", "sex"]},
):
    r"""Measure how far means or totals moved in groups of records, such as regions.

    Statistics of the whole file may stay while those of its parts, which users publish, are gone.

    Missing values: left out of a mean and of its weight; a gap in a column that makes groups is a
    group. Weights: used where both files have them. Households: not considered.

    Notes
    -----
    For a column and a domain :math:`d`, a combination of categories of `order` columns with at
    least `smallest` values in the original, the relative and the standardised change are

    .. math:: \frac{|\bar x'_d - \bar x_d|}{|\bar x_d|}, \qquad
       \frac{|\bar x'_d - \bar x_d|}{s_d / \sqrt{n_d}}.

    The value is the mean relative change; means of zero are left out and counted, and a domain
    without a value in the release has lost all, which counts as 1. Means and covariances on
    subdomains are what makes a file analytically valid [winkler1998]_ [domingoferrer2007]_.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask, utility
    >>> data = tacit.datasets.census(1000)
    >>> release = tacit.Plan([mask.RankSwap(columns=["income"], p=20)]).apply(data, seed=1)
    >>> means = utility.SubdomainMeans(columns=["income"], by=["education"])
    >>> means.measure(data, data).value, means.measure(data, release).value > 0.02
    (0.0, True)
    """

    default = False

    columns: Columns | None = None
    """Numeric columns to average; by default all that both files have."""
    by: Columns | None = None
    """Columns that make the groups; by default the keys with few values."""
    order: Annotated[int, Ge(1)] = 1
    """How many of these columns are crossed."""
    statistic: Literal["mean", "total"] = "mean"
    """Compare means or totals."""
    smallest: Annotated[int, Ge(2)] = 10
    """Groups with fewer original values are left out: their means are noise, and disclosive."""

    def objection(self, original: Microdata) -> str | None:
        """Say that there is nothing to average, or no group."""
        if self.columns is None and not numeric_columns(original):
            return "no numeric column"
        if original.n_records and self.by is None and not usual_domains(pair(original)):
            return "no column with few values makes groups"
        return None

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the mean relative change over groups and columns."""
        both = pair(original, release)
        numbers = Numbers.of(both, self.columns, by=self.key)
        rows = [row for domains in self._domains(both)
                for row in _compared(domains, numbers, self.statistic, self.smallest)]  # fmt: skip
        relative = np.array([row["relative"] for row in rows])
        known = ~np.isnan(relative)
        if not known.any():
            raise DataError(
                f"{self.key} finds no group with at least {self.smallest} values to compare",
                do="lower smallest or name columns with fewer categories",
            )
        value = float(relative[known].mean())
        worst = sorted(rows, key=lambda r: -_rank(r["standardised"]))[:_N_WORST]
        beyond = np.mean([row["standardised"] > 1.96 for row in rows])
        return Measurement(
            key=self.key, title=self.title, value=value, better="lower",
            bounds=(0.0, float("inf")), unit="percent",
            details={
                "statistic": self.statistic, "groups_compared": len(rows),
                "zero_means": int((~known).sum()), "beyond_sampling_error": float(beyond),
                "lost_groups": sum(row["release"] is None for row in rows),
                "worst": [row for row in worst if row["standardised"] > 0],
            },
            explanation=_explanation(value, float(beyond), worst[0], self.statistic),
            warnings=(*numbers.warnings, *self._doubts(both)),
        )  # fmt: skip

    def _doubts(self, both: Pair) -> tuple[str, ...]:
        """Say where groups were recoded, so that none of the original's is left."""
        wanted = self.by or [c for c in both.original.schema.keys if c in both.released.schema]
        verdict = "its groups count as lost" if self.by else "left out"
        return recoded_warnings(recoded(both, list(wanted)), verdict)

    def _domains(self, both: Pair) -> Iterator[Domains]:
        columns = list(self.by) if self.by else usual_domains(both)
        for side in (both.original, both.released):
            side.schema.require(columns)
        tables = list(combinations(columns, self.order))
        if not 0 < len(tables) <= _MOST_TABLES:
            raise DataError(
                f"{self.key} crosses {self.order} of the columns that make groups",
                got=f"{len(columns)} columns, {len(tables):,} crossings",
                do="name other columns in by",
            )
        return (Domains.of(both, chosen) for chosen in tables)


def _compared(
    domains: Domains, numbers: Numbers, statistic: str, smallest: int
) -> Iterator[dict[str, Any]]:
    """Compare each numeric column in each group that is large enough."""
    n = len(domains.labels)
    for j, name in enumerate(numbers.columns):
        if name in domains.columns:
            continue
        old = DomainMoments.of(numbers.before[:, j], numbers.weights[0], domains.before, n)
        new = DomainMoments.of(numbers.after[:, j], numbers.weights[1], domains.after, n)
        a, b, errors = _figures(old, new, statistic, len(domains.before))
        for d in np.flatnonzero(old.sizes >= smallest):
            what = f"{statistic} of {name} where {domains.labels[d]}"
            yield _row(what, float(a[d]), float(b[d]), float(errors[d]), int(old.sizes[d]))


def _figures(
    old: DomainMoments, new: DomainMoments, statistic: str, n_records: int
) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    if statistic == "mean":
        return old.means, new.means, old.errors
    # Records drawn with replacement, those of other domains having the value 0.
    variances = np.maximum(old.squares - old.totals**2 / n_records, 0.0)
    return old.totals, np.where(new.sizes > 0, new.totals, np.nan), np.sqrt(variances)


def _row(what: str, a: float, b: float, error: float, size: int) -> dict[str, Any]:
    """Describe one comparison; NaN in the release means that the group is gone."""
    gone = np.isnan(b)
    moved = np.inf if gone else abs(b - a)
    if moved <= 1e-12 * max(abs(a), 1e-300):
        moved = 0.0
    relative = moved / abs(a) if a != 0 else (0.0 if moved == 0 else float("nan"))
    standardised = 0.0 if moved == 0 else (moved / error if error > 0 else float("inf"))
    return {
        "what": what, "original": a, "release": None if gone else b, "records": size,
        "relative": 1.0 if gone else float(relative), "standardised": float(standardised),
    }  # fmt: skip


def _rank(value: float) -> float:
    return 1e300 if np.isinf(value) else value


def _explanation(value: float, beyond: float, worst: dict[str, Any], statistic: str) -> str:
    said = (
        f"The {statistic}s of groups of records changed by {100 * value:.3g} % on average; "
        f"{100 * beyond:.3g} % of them by more than sampling error explains."
    )
    if worst["standardised"] == 0:
        return said
    return f"{said} Most changed: the {worst['what']}."
