"""Measures of tables that synthetic data are judged by."""

from __future__ import annotations

from itertools import combinations
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Le

from tacit.core.common_scale import common_codes
from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.families import Utility
from tacit.core.keys import group_ids
from tacit.core.measurement import Measurement, counted
from tacit.core.method import Columns
from tacit.core.pairing import Pair, pair
from tacit.core.schema import Kind
from tacit.utility._design import comparable
from tacit.utility._propensity_model import difference_warnings

Statistic = Literal[
    "S_pMSE", "pMSE", "VW", "FT", "G", "JSD", "SPECKS", "PO50", "MabsDD", "dBhatt"
]  # fmt: skip
_MOST_TABLES = 2000


class TableUtility(
    Utility,
    key="table-utility",
    title="Tables of synthetic data",
    cites=("voas2001", "raab2021", "snoke2018"),
    example={"columns": ["age", "sex", "income"]},
):
    r"""Measure how far tables of a release are from those of the original, against chance.

    The value is the mean over all tables of the chosen order; for the standardised measure about 1
    is what a right model gives, below 10 is good in practice, and 0 means equal tables.

    Missing values: a gap is a category. Weights: not used. Households: not considered.

    Notes
    -----
    Numbers are cut into `groups` quantile groups of the original. With :math:`o_i, s_i` the counts
    of cell :math:`i` in original and release, :math:`p_i, q_i` their shares, :math:`\bar o_i` and
    :math:`\bar s_i` the counts scaled to equal totals, and :math:`c` the share of released records
    [voas2001]_, [raab2021]_:

    .. math::

       VW &= \sum \frac{(\bar s_i - \bar o_i)^2}{(\bar s_i + \bar o_i)/2}, \qquad
       S\_pMSE = VW / (\text{cells} - 1), \\
       pMSE &= \frac1N \sum (o_i + s_i)\left(\frac{s_i}{o_i + s_i} - c\right)^2, \qquad
       FT = 4 \sum (\sqrt{\bar s_i} - \sqrt{\bar o_i})^2, \\
       G &= 2 \sum s_i \ln\frac{q_i}{p_i}, \qquad
       SPECKS = \tfrac12 \sum |p_i - q_i|, \qquad PO50 = 50\,SPECKS, \\
       MabsDD &= \frac{\sum |p_i - q_i|}{\text{cells}}, \qquad
       dBhatt = \sqrt{1 - \sum \sqrt{p_i q_i}},

    and JSD the Jensen-Shannon divergence in bits. S_pMSE has the expectation 1 for a release drawn
    from the table of the original itself, and 2 for an independent sample of the population. Sums
    of G leave out cells that are empty in either file.

    Examples
    --------
    >>> import tacit
    >>> from tacit import utility
    >>> data = tacit.datasets.census(400)
    >>> utility.TableUtility(columns=["age", "sex"]).measure(data, data).value
    0.0
    """

    default: ClassVar[bool] = False

    columns: Columns | None = None
    """Columns to tabulate; by default all that both files have."""
    order: Annotated[int, Ge(1), Le(4)] = 2
    """Variables in each table."""
    statistic: Statistic = "S_pMSE"
    """Measure that the value is the mean of; all are in the details."""
    groups: Annotated[int, Ge(2)] = 5
    """Quantile groups of numbers."""

    def objection(self, original: Microdata) -> str | None:
        """Say that an empty file cannot be tabulated."""
        return "there is no record to compare" if original.n_records == 0 else None

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the mean of the chosen measure over all tables."""
        both = pair(original, release)
        names = list(self.columns) if self.columns else comparable(both)
        for side in both.sides:
            side.schema.require(names)
            if side.n_records == 0:
                raise DataError("tables need at least one record in each file", got="none")
        tables = list(combinations(names, self.order))
        if not tables or len(tables) > _MOST_TABLES:
            raise DataError(
                f"tables of {self.order} variables are compared, 1 to {_MOST_TABLES:,} of them",
                got=f"{len(tables):,}",
                do="name other columns or another order",
            )
        codes = {name: grouped_codes(both, name, self.groups) for name in names}
        rows: list[dict[str, Any]] = [
            {"columns": list(t), **_row(codes, t, both.original.n_records)} for t in tables
        ]
        value = float(np.mean([row[self.statistic] for row in rows]))
        worst = max(rows, key=lambda row: row[self.statistic])
        return Measurement(
            key=self.key, title=self.title, value=value, better="lower", bounds=(0.0, np.inf),
            details={"tables": sorted(rows, key=lambda r: -r[self.statistic])[:50],
                     "n_tables": len(rows), "statistic": self.statistic},
            explanation=f"Over {counted(len(rows), 'table')} {self.statistic} is {value:.3g} on "
            f"average, and largest for {' by '.join(worst['columns'])} "
            f"({worst[self.statistic]:.3g}).",
            warnings=difference_warnings(both, names),
        )  # fmt: skip


def grouped_codes(both: Pair, name: str, groups: int) -> np.ndarray:
    """Code a column of both files, numbers by quantile groups of the original; gaps are a code."""
    before, after = (side.local[name] for side in both.sides)
    numeric = both.kinds(name) == {Kind.NUMERIC}
    if not numeric or before.n_unique() <= groups:
        return np.concatenate(common_codes(before, after)) + 1
    values = [np.asarray(s.cast(float).to_numpy(), dtype=np.float64) for s in (before, after)]
    known = values[0][np.isfinite(values[0])]
    cuts: Any = (
        np.unique(np.quantile(known, np.linspace(0, 1, groups + 1)[1:-1])) if len(known) else []
    )
    joined = np.concatenate(values)
    return np.where(np.isnan(joined), 0, 1 + np.searchsorted(cuts, joined, side="left"))


def _row(codes: dict[str, np.ndarray], table: tuple[str, ...], n_original: int) -> dict[str, float]:
    ids, n_cells = group_ids(np.column_stack([codes[name] for name in table]))
    o = np.bincount(ids[:n_original], minlength=n_cells).astype(np.float64)
    s = np.bincount(ids[n_original:], minlength=n_cells).astype(np.float64)
    return table_measures(o, s)


def table_measures(o: np.ndarray, s: np.ndarray) -> dict[str, float]:
    """Return all measures of a table from the counts of original and release.

    Examples
    --------
    >>> found = table_measures(np.array([6.0, 4.0]), np.array([4.0, 6.0]))
    >>> round(found["VW"], 6), round(found["SPECKS"], 6), round(found["PO50"], 6)
    (1.6, 0.2, 10.0)
    """
    p, q = o / o.sum(), s / s.sum()
    total = (o.sum() + s.sum()) / 2
    distance = float(0.5 * np.abs(p - q).sum())
    vw = float(total * np.sum((p - q) ** 2 / ((p + q) / 2)))
    share = s.sum() / (s.sum() + o.sum())
    both = (o > 0) & (s > 0)
    middle = (p + q) / 2
    divergence = sum(
        float(np.sum(x[x > 0] * np.log2(x[x > 0] / middle[x > 0]))) / 2 for x in (p, q)
    )
    return {
        "S_pMSE": vw / max(len(o) - 1, 1),
        "pMSE": float(np.sum((o + s) * (s / (o + s) - share) ** 2) / (o + s).sum()),
        "VW": vw,
        "FT": float(4 * total * np.sum((np.sqrt(q) - np.sqrt(p)) ** 2)),
        "G": float(2 * np.sum(s[both] * np.log(q[both] / p[both]))),
        "JSD": max(divergence, 0.0),
        "SPECKS": distance,
        "PO50": 50 * distance,
        "MabsDD": float(np.abs(p - q).sum() / len(o)),
        "dBhatt": float(np.sqrt(max(1 - np.sum(np.sqrt(p * q)), 0.0))),
    }
