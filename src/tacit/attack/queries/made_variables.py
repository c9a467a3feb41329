"""Made variables: regressors built so that a model gives one unit away."""

from __future__ import annotations

from typing import Annotated, ClassVar, Literal, Self

import numpy as np
from annotated_types import Ge, Gt

from tacit.attack.family import Attack
from tacit.attack.finding import Outcome
from tacit.attack.knowledge import Knowledge
from tacit.attack.queries._asking import Asker
from tacit.attack.target import QueryTarget

_EPSILON = 1e-4


class MadeVariables(
    Attack,
    key="made-variables",
    title="Strategic dummies and artificial outliers",
    cites=("bleninger2011",),
):
    r"""Fit a regression on a variable that is made to single out one unit.

    Missing values: units without the response or the known number are not attacked. Weights: not
    used. Households: not considered.

    Notes
    -----
    The server is taken to hold the intruder's column as if users could make columns. A *dummy* is 1
    for the unit whose number :math:`x_m` is known; a *jitter* is the same plus :math:`10^{-9}`
    times the rank, so that it is not binary; an *outlier* is
    :math:`1 / (|x - x_m| + \varepsilon)`, Eq. (1) of [bleninger2011]_. The fitted value at the unit
    is then its response :math:`y_m`. Within `p` percent of it the attack succeeds; guessing takes
    the median.

    Examples
    --------
    >>> import tacit
    >>> from tacit import attack, query
    >>> data = tacit.datasets.establishments(800)
    >>> made = attack.MadeVariables(response="turnover", known="employees", most=3)
    >>> made.run((data, query.Policy(name="open"))).success.value
    1.0
    """

    kind: ClassVar[type] = QueryTarget
    remedy: ClassVar[str] = (
        "Limit the largest leverage of a unit and the transformations of variables (guards "
        "leverage, transformations, dummy-size)."
    )

    variant: Literal["dummy", "jitter", "outlier"] = "dummy"
    """How the column is made."""
    response: str | None = None
    """Number to be learnt; by default a confidential one."""
    known: str | None = None
    """Number the intruder knows; by default one that tells most units apart."""
    p: Annotated[float, Gt(0)] = 1.0
    """An estimate within this percentage counts as disclosure."""
    most: Annotated[int, Ge(1)] = 8
    """Units that are attacked: those with the largest known numbers that nobody shares."""

    @classmethod
    def in_audit(cls) -> list[Self]:
        """Return all ways: rules about dummies let columns pass that are not binary."""
        return [cls(), cls(variant="jitter"), cls(variant="outlier")]

    @property
    def in_words(self) -> str:
        """Say how the column is made, unless it is a plain dummy."""
        return "" if self.variant == "dummy" else self.variant

    def objection(self, target: QueryTarget, knowledge: Knowledge) -> str | None:
        """Say that there are no two numbers."""
        return None if self._numbers(target) else "there are no two numbers, one confidential"

    def _numbers(self, target: QueryTarget) -> tuple[str, str] | None:
        numbers = [n for n, told in target.variables.items() if "bins" in told]
        wanted = [self.response] if self.response else target.data.schema.confidential
        response = next((n for n in wanted if n in numbers), None)
        others = [self.known] if self.known else numbers
        others = [n for n in others if n in numbers and n != response]
        if response is None or not others:
            return None
        y = target.data.numeric([response])[:, 0]
        alone = {n: len(_targets(target.data.numeric([n])[:, 0], y, 10**9)) for n in others}
        known = max(alone, key=lambda n: alone[n])
        return (response, known) if alone[known] else None

    def attacked(self, target: QueryTarget, knowledge: Knowledge) -> Outcome:
        """Regress the response on the made column of each unit."""
        import polars as pl

        response, known = self._numbers(target) or ("", "")
        y, x = (target.data.numeric([name])[:, 0] for name in (response, known))
        units = _targets(x, y, self.most)
        made = {f"made{k}": pl.Series(self._made(x, m)) for k, m in enumerate(units)}
        frame = target.data.local.select(response, known).with_columns(**made)
        server = target.serving(frame, numbers=[response, known, *made], categories=[])
        asker = Asker(server, knowledge.queries)
        found = [
            self._estimated(
                asker, response, f"made{k}", known, float(frame[f"made{k}"][int(m)]), x[m]
            )
            for k, m in enumerate(units)
        ]
        limit = self.p / 100 * np.abs(y[units])
        estimates = np.array([np.nan if f is None else f for f in found])
        hits = np.abs(estimates - y[units]) <= limit
        errors = np.abs(estimates - y[units]) / np.maximum(np.abs(y[units]), 1e-12)
        return Outcome(
            hits=hits.astype(float), guesses=(np.abs(np.nanmedian(y) - y[units]) <= limit) * 1.0,
            question=f"Learn {response} of one unit from a regression on a made column",
            unit="unit", positions=units, exact=True,
            worst=f"{response} of {int(hits.sum())} units known within {self.p:g} %",
            warnings=asker.warnings(),
            details={**asker.told(), "variant": self.variant,
                     "median_error": float(np.nanmedian(errors)) if hits.any() else None},
        )  # fmt: skip

    def _made(self, x: np.ndarray, m: int) -> np.ndarray:
        if self.variant == "outlier":
            return np.asarray(1 / (np.abs(x - x[m]) + _EPSILON))  # Eq. (1) of bleninger2011
        dummy = (np.arange(len(x)) == m).astype(float)
        jitter = 0.0 if self.variant == "dummy" else 1e-9 * np.argsort(np.argsort(x))
        return np.asarray(dummy + jitter)

    @staticmethod
    def _estimated(
        asker: Asker, response: str, column: str, known: str, value: float, own: float
    ) -> float | None:
        """Return the fitted value at the unit."""
        answer = asker.ask({"method": "ols", "formula": f"`{response}` ~ `{column}` + `{known}`"})
        if answer is None or "coefficient" not in answer.columns:
            return None
        terms = zip(answer.columns["term"], answer.columns["coefficient"], strict=True)
        at = {"(intercept)": 1.0, column: value, known: own}
        return float(sum((b or 0.0) * at.get(str(t).strip("`"), 0.0) for t, b in terms))


def _targets(x: np.ndarray, y: np.ndarray, most: int) -> np.ndarray:
    """Return units with the largest numbers that no other unit has."""
    values, first, counts = np.unique(x, return_index=True, return_counts=True)
    alone = first[(counts == 1) & ~np.isnan(values)]
    alone = alone[~np.isnan(y[alone]) & (y[alone] != 0)]
    return np.asarray(alone[-most:])
