"""The design of a regression at one agency: numbers, and indicators of agreed categories."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import ParameterError
from tacit.federated.analysis import (
    Analysis,
    ballot,
    codes_of,
    numbers_of,
    require_cells,
    require_plausible,
    require_records,
    require_varied,
)
from tacit.federated.policy import Policy
from tacit.federated.stopped import RefusedError


@dataclass(frozen=True)
class Design:
    """One agency's complete records for a regression."""

    x: np.ndarray
    """Predictors without the constant."""
    y: np.ndarray
    w: np.ndarray
    """Weights; ones if there are none."""
    vote: np.ndarray
    """The agency's rule on the smallest cell that is shown."""

    def __len__(self) -> int:
        return len(self.y)


@dataclass(frozen=True)
class Scale:
    """Pooled centres and spreads that make the cross-products well conditioned."""

    n: int
    weight: float
    centre: np.ndarray
    spread: np.ndarray
    y_centre: float

    def of(self, x: np.ndarray) -> np.ndarray:
        """Return predictors in units of their spread around their centre."""
        scaled: np.ndarray = (x - self.centre) / self.spread
        return scaled


class Regression(Analysis):
    """What all regressions share: a response, predictors, agreed categories."""

    y: str
    """Response."""
    x: tuple[str, ...]
    """Predictors."""
    levels: Mapping[str, tuple[str, ...]] = {}
    """Categories of the predictors that are not numbers; the first one is the reference."""
    intercept: bool = True
    """Whether there is a constant."""

    def columns(self) -> tuple[str, ...]:
        """Return response and predictors."""
        return tuple(dict.fromkeys((self.y, *self.x)))

    def multiplied(self) -> tuple[str, ...]:
        """Return response and predictors: the sums are products of two of them."""
        return (self.y, *self.x)

    def categories(self) -> Mapping[str, tuple[str, ...]]:
        """Return the categories of the predictors that are not numbers."""
        return self.levels

    @property
    def predictors(self) -> list[str]:
        """Names of the columns of the design, without the constant."""
        return [
            name
            for column in self.x
            for name in (
                [f"{column}={level}" for level in self.levels[column][1:]]
                if column in self.levels
                else [column]
            )
        ]

    @property
    def terms(self) -> list[str]:
        """Names of the coefficients."""
        return [*(["(constant)"] if self.intercept else []), *self.predictors]

    def model_post_init(self, context: Any) -> None:
        """Check that the model makes sense."""
        if not self.x or len(set(self.x)) != len(self.x) or self.y in self.x:
            raise ParameterError(
                "a regression needs different predictors, none of them the response",
                got=f"y = {self.y!r}, x = {list(self.x)}",
            )
        strange = set(self.levels) - set(self.x)
        if strange or any(len(set(v)) < max(len(v), 2) for v in self.levels.values()):
            raise ParameterError(
                "levels are two or more different categories of a predictor", got=dict(self.levels)
            )

    def design(self, data: Microdata, policy: Policy, weight: str | None = None) -> Design:
        """Return the agency's design, or refuse by its own rules."""
        numbers = [self.y, *(c for c in self.x if c not in self.levels)]
        values = numbers_of(data, [*numbers, *([weight] if weight else [])])
        codes = {c: codes_of(data, c, self.levels[c]) for c in self.x if c in self.levels}
        kept = np.isfinite(values).all(axis=1)
        for code in codes.values():
            kept &= code >= 0
        w = values[kept, -1] if weight else np.ones(int(kept.sum()))
        if np.any(w <= 0):
            raise RefusedError("weights must be above 0")
        columns = {name: values[kept, i] for i, name in enumerate(numbers)}
        parts = [_columns(c, columns, codes, kept, len(self.levels.get(c, ()))) for c in self.x]
        design = Design(np.column_stack(parts), columns[self.y], w, ballot(policy))
        self._check_own(design, codes, kept, policy)
        return design

    def _check_own(
        self, design: Design, codes: dict[str, np.ndarray], kept: np.ndarray, policy: Policy
    ) -> None:
        require_records(len(design), policy)
        if len(design) <= len(self.terms):
            raise RefusedError("no more records than coefficients (p >= n)")
        # A mark on one record shows its other values as response or weight just as well.
        require_varied(np.column_stack([design.x, design.y, design.w]), policy)
        for code in codes.values():
            require_cells(np.bincount(code[kept]), policy, "a category of this agency")

    # -- the first sum: centres and spreads -----------------------------------------------------

    @property
    def _n_scale(self) -> int:
        return 4 + 2 * len(self.predictors)

    def _scale_sums(self, part: Design) -> np.ndarray:
        w = part.w[:, None]
        tops = (w * part.x).sum(axis=0), (w * part.x**2).sum(axis=0)
        ends = [len(part), part.w.sum(), (part.w * part.y).sum(), (part.w * part.y**2).sum()]
        return np.concatenate([ends, *tops])

    def _scale(self, total: np.ndarray, policy: Policy) -> Scale:
        n, weight, y_sum, _ = total[:4]
        first, second = np.split(total[4:], 2)
        require_plausible(n > 0 and weight > 0 and bool((second >= 0).all()), "negative squares")
        if round(n) <= len(self.terms):
            raise RefusedError("no more pooled records than coefficients (p >= n)")
        require_records(round(n), policy)
        centre = first / weight if self.intercept else np.zeros_like(first)
        square = np.maximum(second / weight - centre**2, 0.0)
        spread = np.sqrt(square)
        flat = spread <= 1e-10 * np.sqrt(second / weight)
        spread = np.where(flat, np.where(second > 0, np.sqrt(second / weight), 1.0), spread)
        y_centre = y_sum / weight if self.intercept else 0.0
        return Scale(round(n), float(weight), centre, spread, float(y_centre))

    def _in_units(self, b: np.ndarray, scale: Scale) -> np.ndarray:
        """Return what turns coefficients of scaled predictors into those of the predictors."""
        shrink = np.diag(1.0 / scale.spread)
        if not self.intercept:
            return shrink
        top = np.concatenate([[1.0], -scale.centre / scale.spread])
        return np.vstack([top, np.column_stack([np.zeros(len(scale.spread)), shrink])])

    def _named(self, values: np.ndarray) -> dict[str, float]:
        return dict(zip(self.terms, np.asarray(values, dtype=float).tolist(), strict=True))


def _columns(
    column: str,
    numbers: dict[str, np.ndarray],
    codes: dict[str, np.ndarray],
    kept: np.ndarray,
    n_levels: int,
) -> np.ndarray:
    if column in numbers:
        return numbers[column][:, None]
    indicators: np.ndarray = codes[column][kept, None] == np.arange(1, n_levels)
    return indicators.astype(float)


def solved(information: np.ndarray) -> np.ndarray:
    """Return the inverse of an information matrix, or refuse one that is singular."""
    values, vectors = np.linalg.eigh(information)
    require_plausible(bool(values[0] > -1e-6 * max(values[-1], 1e-300)), "negative squares")
    if values[0] <= 1e-12 * values[-1]:
        raise RefusedError("the predictors are collinear in the pooled records")
    inverse: np.ndarray = (vectors / values) @ vectors.T
    return inverse
