"""Evidence: sums over units that an analysis may ask for, and that guards see and amend.

Evidence is all that leaves the data: counts, sums, keys of cells, largest contributions, moments.
No record ever does.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np

MARGIN = -1
"""Code of a total over a dimension."""
Transform = Literal["identity", "square", "sqrt", "log"]
Link = Literal["identity", "logit", "log", "squares", "logit squares", "log squares"]
"""How the mean follows from the linear predictor; ``squares`` weighs by squared residuals."""


@dataclass(frozen=True)
class Factor:
    """A part of a design column: one category of a variable (0 or 1), or a number of it."""

    variable: str
    level: str | None = None
    """Category that is 1, all others 0; nothing for a numeric variable."""
    transform: Transform = "identity"
    """What is done to a number; log and sqrt outside their range make the record incomplete."""


@dataclass(frozen=True)
class Term:
    """One column of a design: a product of factors; no factor is the intercept."""

    name: str
    factors: tuple[Factor, ...] = ()


@dataclass(frozen=True, eq=False)
class Sums:
    """Totals of one variable over the cells of a table; records without a value are left out.

    Every array has one entry per cell. Totals are exact multiples of a small step, so that they
    are equal on all engines.
    """

    n: np.ndarray
    """Records with a value."""
    units: np.ndarray
    """Distinct units with a value."""
    keys: np.ndarray
    """Cells by two: sums of the secret keys of these units, modulo p."""
    weight: np.ndarray
    """Sum of weights (the number of records where there are none)."""
    total: np.ndarray
    """Weighted sum of values."""
    square: np.ndarray
    """Weighted sum of squares."""
    plain_total: np.ndarray
    """Unweighted sum of values."""
    top: np.ndarray
    """Cells by three: largest absolute contributions of single units, unweighted."""
    largest_weighted: np.ndarray
    """Largest absolute weighted contribution of a single unit."""


@dataclass(frozen=True, eq=False)
class Cells:
    """Cells of a table with all its margins, and what guards need to know about each.

    ``codes[i, j]`` is the place of cell i in ``labels[j]``, or `MARGIN`. Guards amend by setting
    `change` (what is added to the number of records), `noise` (what is added to totals) and
    `withheld`; an analysis publishes `count`, `weighted`, `total(...)` only, which apply them.
    """

    by: tuple[str, ...]
    labels: tuple[tuple[str, ...], ...]
    codes: np.ndarray
    n: np.ndarray
    """Records of each cell, after any that are dropped."""
    units: np.ndarray
    """Distinct units."""
    keys: np.ndarray
    """Cells by two: sums of the secret keys of the undropped distinct units, modulo p."""
    weight: np.ndarray
    """Sum of weights; the number of records where there are none."""
    sums: Mapping[str, Sums] = field(default_factory=dict)
    change: np.ndarray | None = None
    """Noise on the number of records; a whole number each, unless counts are weighted."""
    change_scale: float = 0.0
    """Standard deviation of that noise."""
    changes: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Noise on the number of records with a value of a variable; totals are of as many records."""
    noise: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Noise on the weighted total of a variable."""
    withheld: np.ndarray | None = None
    """Cells that are not published at all."""
    withheld_totals: Mapping[str, np.ndarray] = field(default_factory=dict)
    """Cells whose total of a variable is not published."""
    weighted: bool = False
    """Whether published counts and totals are weighted."""
    noise_scale: Mapping[str, np.ndarray] = field(default_factory=dict)
    """How large the noise on a total is, so that released digits stop there."""
    intervals: Mapping[str, tuple[np.ndarray, np.ndarray]] = field(default_factory=dict)
    """Lower and upper end of the total of a camouflaged variable."""
    edges: tuple[float, ...] = ()
    """Public cutpoints of the last dimension, where an analysis needs them."""
    joins: tuple[np.ndarray | None, ...] = ()
    """Where an analysis joined categories: for each code of a dimension that of its label, or
    `MARGIN` where it was left out; nothing for a dimension that is as it was."""

    def __len__(self) -> int:
        return len(self.n)

    def with_(self, **changes: Any) -> Cells:
        """Return the cells with some fields changed."""
        return replace(self, **changes)

    @property
    def hidden(self) -> np.ndarray:
        """Whether each cell is withheld."""
        return np.zeros(len(self), bool) if self.withheld is None else self.withheld

    def withholding(self, cells: np.ndarray) -> Cells:
        """Return the cells with more of them withheld."""
        return replace(self, withheld=self.hidden | cells)

    def withholding_totals(self, name: str, cells: np.ndarray) -> Cells:
        """Return the cells with more totals of a variable withheld."""
        before = self.withheld_totals.get(name, np.zeros(len(self), bool))
        return replace(self, withheld_totals={**self.withheld_totals, name: before | cells})

    @property
    def levels(self) -> list[tuple[int, ...]]:
        """Which dimensions are kept at each level of margins, in the order of the cells."""
        inner = self.codes != MARGIN
        powers = 1 << np.arange(len(self.by))
        marks = inner @ powers if len(self.by) else np.zeros(len(self), dtype=np.int64)
        _, first = np.unique(marks, return_index=True)
        return [tuple(np.flatnonzero(inner[at]).tolist()) for at in np.sort(first)]

    def level_size(self, kept: tuple[int, ...]) -> int:
        """Return the number of cells of one level."""
        return int(np.prod([len(self.labels[j]) for j in kept], initial=1))

    # -- what may be published ------------------------------------------------------------------

    @property
    def is_margin(self) -> np.ndarray:
        """Whether each cell is a total over some dimension."""
        return np.asarray((self.codes == MARGIN).any(axis=1))

    @property
    def count(self) -> np.ndarray:
        """Published number of records, weighted where that was asked; NaN where withheld."""
        changed = self.n + (0 if self.change is None else self.change)
        published = changed * self.mean_weight if self.weighted else changed.astype(float)
        return np.asarray(np.where(self.hidden, np.nan, published))

    @property
    def mean_weight(self) -> np.ndarray:
        """Mean weight of each cell."""
        return np.asarray(np.divide(self.weight, self.n, out=np.zeros(len(self)), where=self.n > 0))

    def total(self, name: str) -> np.ndarray:
        """Return the published total of a variable; NaN where it or the cell is withheld."""
        held = self.hidden | self.withheld_totals.get(name, np.zeros(len(self), bool))
        return np.where(held, np.nan, self.noisy_total(name))

    def noisy_total(self, name: str) -> np.ndarray:
        """Return the total of as many records as are published, with its own noise.

        The exact total beside a published number would tell the true number of records wherever
        the mean is known, and it is: means are released, and ages or years hardly vary.
        """
        return np.asarray(self.sums[name].total * self.part(name) + self.noise.get(name, 0.0))

    def part(self, name: str) -> np.ndarray:
        """Return the published number of records with a value, divided by the true one."""
        n = self.sums[name].n
        changed = np.maximum(n + self.changes.get(name, 0), 0.0)
        return np.asarray(np.divide(changed, n, out=np.ones(len(self)), where=n > 0))

    def interval(self, name: str) -> tuple[np.ndarray, np.ndarray]:
        """Return the published ends of a camouflaged total; NaN where it is withheld."""
        held = self.hidden | self.withheld_totals.get(name, np.zeros(len(self), bool))
        low, high = self.intervals[name]
        return np.where(held, np.nan, low), np.where(held, np.nan, high)

    def square(self, name: str) -> np.ndarray:
        """Return the published sum of squares; NaN where the total is withheld."""
        sums = self.sums[name].square * self.part(name) + self.noise.get(f"{name} squared", 0.0)
        return np.where(np.isnan(self.total(name)), np.nan, np.maximum(sums, 0.0))

    def weight_of(self, name: str) -> np.ndarray:
        """Return the published weight of the records with a value; NaN where there are none."""
        weight = self.sums[name].weight * self.part(name)
        return np.where(weight > 0, weight, np.nan)

    def noise_size(self, name: str) -> np.ndarray:
        """Return how large the noise on a mean, times its records, is, by cell."""
        return np.asarray(np.abs(self.noise_scale.get(name, np.zeros(len(self)))))

    def total_noise_size(self, name: str) -> np.ndarray:
        """Return how large the noise on a total is: its own, and that on the number of records."""
        if name not in self.changes:
            return self.noise_size(name)
        sums = self.sums[name]
        mean = np.divide(sums.total, sums.n, out=np.zeros(len(self)), where=sums.n > 0)
        return np.asarray(np.hypot(self.noise_size(name), self.change_scale * mean))

    def label(self, cell: int) -> tuple[str | None, ...]:
        """Return the categories of a cell, None for a total."""
        codes = self.codes[cell]
        return tuple(
            None if c == MARGIN else self.labels[j][c] for j, c in enumerate(codes.tolist())
        )


@dataclass(frozen=True, eq=False)
class Moments:
    """Sufficient statistics of a linear or generalised linear model, and how exposed units are.

    Records with a missing value in any term, the response or the weight are left out of every
    number here, so that rules act on the design the model really has.
    """

    names: tuple[str, ...]
    """Design columns, the intercept first where there is one."""
    xtx: np.ndarray
    """X'WX; W holds survey weights and, for a link, the working weights."""
    xty: np.ndarray
    """X'Wy; for a link, the score X'W(y - mu) at the coefficients given."""
    yty: float
    """y'Wy; for a link, the deviance."""
    n: int
    """Complete records."""
    units: int
    """Distinct units among them."""
    weight: float
    """Sum of weights."""
    keys: tuple[int, int]
    """Sums of the secret keys of the distinct units, modulo p: what sticky noise is made from."""
    y_sum: float = 0.0
    """Weighted sum of the response."""
    link: Link = "identity"
    support: Mapping[str, int] = field(default_factory=dict)
    """Distinct units for which a column that stands for categories is 1."""
    leverage: float | None = None
    """Largest leverage of a single unit: max of w x'(X'WX)^-1 x."""
    scores: np.ndarray | None = None
    """Largest influence of a single unit on each score: max of |w x_j r|."""
    extra: Mapping[str, Any] = field(default_factory=dict)
    """What a model of its own kind adds (fits of groups, iterations)."""
    centre: np.ndarray | None = None
    """What was taken from each design column before its moments, and from the response last."""
    scale: np.ndarray | None = None
    """What each column, and the response last, was then divided by; nothing means one."""

    def with_(self, **changes: Any) -> Moments:
        """Return the moments with some fields changed."""
        return replace(self, **changes)

    @property
    def degrees_of_freedom(self) -> int:
        """Units beyond the number of coefficients."""
        return self.units - len(self.names)


@dataclass(frozen=True)
class GroupFit:
    """How well the units of one category are predicted; all sums are weighted."""

    weight: float
    y_sum: float
    y_square: float
    residual_square: float


@dataclass(frozen=True, eq=False)
class Influence:
    """A second pass over the design: the most exposed unit of a model."""

    leverage: float
    scores: np.ndarray
    """Largest |w x_j r| of a unit, by column."""
    residual_square: float
    """Weighted sum of squared residuals."""
    groups: Mapping[str, GroupFit] = field(default_factory=dict)
    """How well each category of a factor is predicted, under ``variable[category]``."""


class Lazy:
    """Evidence that reads more sums when a guard or its analysis asks: see `tacit.query.model`."""


Evidence = Cells | Moments | Lazy
