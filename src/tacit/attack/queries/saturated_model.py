"""Saturated models: coefficients that are cell means, some of one unit."""

from __future__ import annotations

from itertools import combinations
from typing import Annotated, ClassVar

import numpy as np
from annotated_types import Ge, Gt

from tacit.attack.family import Attack
from tacit.attack.finding import Outcome
from tacit.attack.knowledge import Knowledge
from tacit.attack.queries._asking import Asker
from tacit.attack.target import QueryTarget


class SaturatedModel(
    Attack,
    key="saturated-model",
    title="Saturated regression",
    cites=("bleninger2011", "gomatam2005"),
):
    r"""Read the value of units that are alone in a cell off a fully interacted model.

    Missing values: units without the response are not attacked. Weights: not used. Households: not
    considered.

    Notes
    -----
    In ``y ~ a*b`` the fitted value of every cell is its mean; where one unit is alone, that is its
    value. Within `p` percent of it the attack succeeds; guessing takes the median of all.

    Examples
    --------
    >>> import tacit
    >>> from tacit import attack, query
    >>> data = tacit.datasets.establishments(800)
    >>> saturated = attack.SaturatedModel(response="turnover")
    >>> saturated.run((data, query.Policy.named("strict"))).leaked
    False
    """

    kind: ClassVar[type] = QueryTarget
    remedy: ClassVar[str] = (
        "Limit interactions and join rare categories (guards interactions, sparse-categories, "
        "leverage)."
    )

    response: str | None = None
    """Number to be learnt; by default a confidential one."""
    p: Annotated[float, Gt(0)] = 1.0
    """An estimate within this percentage counts as disclosure."""
    most: Annotated[int, Ge(1)] = 30
    """Units that are attacked."""

    def objection(self, target: QueryTarget, knowledge: Knowledge) -> str | None:
        """Say that no unit is alone with two categories."""
        if self._response(target) is None:
            return "there is no confidential number"
        return None if self._pair(target) else "no unit is alone with two categories"

    def _response(self, target: QueryTarget) -> str | None:
        wanted = [self.response] if self.response else target.data.schema.confidential
        numbers = [n for n, told in target.variables.items() if "bins" in told]
        return next((n for n in wanted if n in numbers), None)

    def _pair(self, target: QueryTarget) -> tuple[str, str, np.ndarray] | None:
        """Return two variables of not too many cells, and the units alone in one of them."""
        few = {
            n: len(target.levels(n)) for n, told in target.variables.items() if "categories" in told
        }
        best: tuple[str, str, np.ndarray] | None = None
        y = target.data.numeric([str(self._response(target))])[:, 0]
        for a, b in combinations(few, 2):
            if few[a] * few[b] <= 200:
                alone = _alone(target, a, b)
                alone = alone[~np.isnan(y[alone]) & (y[alone] != 0)]
                if len(alone) and (best is None or len(alone) > len(best[2])):
                    best = (a, b, alone)
        return best

    def attacked(self, target: QueryTarget, knowledge: Knowledge) -> Outcome:
        """Fit the interacted model and predict the units that are alone."""
        response = str(self._response(target))
        a, b, units = self._pair(target) or ("", "", np.empty(0, np.int64))
        units = units[: self.most]
        y = target.data.numeric([response])[:, 0]
        asker = Asker(target.open(), knowledge.queries)
        answer = asker.ask({"method": "ols", "formula": f"`{response}` ~ `{a}`*`{b}`"})
        estimates = np.full(len(units), np.nan)
        if answer is not None and "coefficient" in answer.columns:
            table = dict(zip(answer.columns["term"], answer.columns["coefficient"], strict=True))
            one, two = (target.labels(name)[units] for name in (a, b))
            estimates = np.array(
                [_fitted(table, a, b, u, v) for u, v in zip(one, two, strict=True)]
            )
        limit = self.p / 100 * np.abs(y[units])
        hits = np.abs(estimates - y[units]) <= limit
        return Outcome(
            hits=hits.astype(float), guesses=(np.abs(np.nanmedian(y) - y[units]) <= limit) * 1.0,
            question=f"Read {response} of single units off the model {a} * {b}", unit="unit",
            positions=units, exact=True,
            worst=f"{response} of {int(hits.sum())} units known within {self.p:g} %",
            warnings=asker.warnings(),
            details={**asker.told(), "variables": [a, b]},
        )  # fmt: skip


def _alone(target: QueryTarget, a: str, b: str) -> np.ndarray:
    pairs = np.stack([target.labels(n).astype(str) for n in (a, b)], axis=1)
    _, first, counts = np.unique(pairs, axis=0, return_index=True, return_counts=True)
    return np.asarray(first[counts == 1])


def _fitted(table: dict[str, float], a: str, b: str, one: str, two: str) -> float:
    """Return the fitted value of a cell; a term that is not there is the reference."""
    terms = ["(intercept)", f"{a}[{one}]", f"{b}[{two}]", f"{a}[{one}]:{b}[{two}]"]
    return float(sum(table.get(term) or 0.0 for term in terms))
