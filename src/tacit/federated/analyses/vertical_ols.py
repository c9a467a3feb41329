"""Regression over agencies that hold different variables of the same units."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

import numpy as np
from pydantic import PrivateAttr

from tacit.core.data import Microdata
from tacit.core.errors import ParameterError
from tacit.core.schema import Role
from tacit.federated import messages as m
from tacit.federated.analyses._held import Held
from tacit.federated.analyses._vertical import (
    Moments,
    as_limbs,
    from_limbs,
    gram_of,
    places,
    require_shared_out,
    units_of,
)
from tacit.federated.analysis import (
    Analysis,
    Outcome,
    State,
    numbers_of,
    require_plausible,
    require_records,
)
from tacit.federated.joint_leverage import LEVERAGE, SQUARE, bound_of
from tacit.federated.matrix_product import PRODUCT
from tacit.federated.pairs import Pairs
from tacit.federated.policy import Policy
from tacit.federated.routing import Asking, align, multiply, square_leverages
from tacit.federated.stopped import RefusedError

_LIMBS = len(as_limbs(PRODUCT.zeros(1)))


class VerticalOls(Analysis, key="vertical-ols"):
    r"""Linear regression of a variable of one agency on variables of several, for common units.

    Units are aligned by tags under a key that the coordinator lacks; units with a missing value at
    any agency are left out. Every pair gets shares of the products of its variables, under random
    factors that the coordinator deals [beaver1991]_; a secure sum of the shares gives
    :math:`X^T X` and :math:`X^T y` of centred and scaled variables to the agencies
    [sanil2004]_, [karr2009]_. A second one gives them the sum of squared leverages, so that a
    regression that one unit could decide is refused. All agencies are needed to the end.

    Missing values: units with one are left out. Weights: not used.

    Notes
    -----
    Scaled values are held with 40 bits after the point: an entry of the correlation matrix is off
    by at most about :math:`2^{-40}`, and coefficients by that times the condition number.
    """

    whole: ClassVar[bool] = True

    unit: str
    """Column with the identifier of the unit, the same at every agency."""
    y: str
    """Response."""
    x: tuple[str, ...]
    """Predictors."""
    holders: Mapping[str, tuple[str, ...]]
    """Which of these variables each agency has; every agency that takes part has one."""
    _here: str = PrivateAttr("")

    def model_post_init(self, context: Any) -> None:
        """Check that the model makes sense."""
        super().model_post_init(context)
        held = [column for columns in self.holders.values() for column in columns]
        wanted = self._wanted
        if len(set(wanted)) != len(wanted) or len(wanted) < 2 or self.unit in wanted:
            raise ParameterError("response, predictors and unit are different columns", got=wanted)
        if sorted(held) != sorted(wanted) or not all(self.holders.values()):
            raise ParameterError(
                "each variable has one holder, and each holder a variable", got=dict(self.holders)
            )

    @property
    def _wanted(self) -> tuple[str, ...]:
        return self.y, *self.x

    # -- at an agency ---------------------------------------------------------------------------

    def held_by(self, name: str, proposal: m.Proposal) -> VerticalOls:
        """Return the analysis as one agency sees it."""
        if set(proposal.participants) != set(self.holders):
            raise RefusedError("the agencies are not those that hold the variables")
        if proposal.threshold != len(proposal.participants):
            raise RefusedError("all agencies are needed to the end")
        return self._at(name)

    def limited_to(self, columns: Sequence[str]) -> VerticalOls:
        """Return an earlier analysis as the agency with these columns saw it."""
        names = (n for n, own in self.holders.items() if sorted(own) == sorted(columns))
        return self._at(next(names, ""))

    def _at(self, name: str) -> VerticalOls:
        here = self.model_copy()
        here._here = name
        return here

    def columns(self) -> tuple[str, ...]:
        """Return the variables of this agency, or of all if it is not known which one it is."""
        return self.holders[self._here] if self._here else self._wanted

    def multiplied(self) -> tuple[str, ...]:
        """Return the variables of this agency."""
        return self.columns()

    def part(self, data: Microdata, policy: Policy) -> Held:
        """Return the agency's complete records, or refuse by its own rules."""
        if self.unit not in data.schema:
            raise RefusedError(f"there is no column {self.unit!r}")
        listed = not policy.columns or self.unit in policy.columns
        if not listed and self.unit not in data.schema.names(Role.IDENTIFIER):
            raise RefusedError(f"the column {self.unit!r} may not be used")
        values = numbers_of(data, self.columns())
        kept = np.isfinite(values).all(axis=1)
        require_records(int(kept.sum()), policy)
        units = units_of(data, self.unit)[kept]
        return Held(dict(self.holders), self._wanted, values[kept], units, kept, policy)

    def used_records(self, part: Held) -> np.ndarray | None:
        """Return which of the agency's records are common to all."""
        return part.used

    def exchange(self, part: Held, pairs: Pairs, message: m.Exchange, state: State) -> m.Message:
        """Answer what the coordinator passes on before a sum."""
        return part.answer(pairs, message, state.get("moments"))

    def length(self, state: State) -> int:
        """Return how many numbers the next sum has: shares, and first n, centres and spreads."""
        size = len(self._wanted)
        return 2 * _LIMBS if state else 1 + 2 * size + _LIMBS * size**2

    def contribute(self, part: Held, state: State) -> np.ndarray:
        """Return the own share as whole numbers, and first what is known of the own variables."""
        part.require_ready(1 if state else 0)
        if state or part.holder is None:
            return part.contribution()
        centre, spread = np.zeros((2, len(self._wanted)))
        own = places(part.holder.names, self._wanted)
        centre[own], spread[own] = part.holder.centre, part.holder.spread
        return np.concatenate([[len(part.holder.z)], centre, spread, part.contribution()])

    def absorb(self, total: np.ndarray, state: State, policy: Policy) -> Outcome:
        """Return the products, then the coefficients; or refuse by the rules on results."""
        if not state:
            moments = self._moments(total)
            moments.answer(policy)  # a fit that is refused needs no second sum
            return Outcome({"moments": moments})
        moments = state["moments"]
        shares = from_limbs(total, len(self.holders))
        squares, lengths = (
            float(held.decode(shares[:, i : i + 1])[0]) for i, held in enumerate((SQUARE, LEVERAGE))
        )
        least = len(self.x) ** 2 / moments.n
        require_plausible(least - 1e-3 <= squares <= len(self.x) + 1e-3, "leverages")
        require_shared_out(bound_of(lengths, squares, moments.n, len(self.x)), policy)
        return Outcome(state, moments.answer(policy))

    def _moments(self, total: np.ndarray) -> Moments:
        size, n_agencies = len(self._wanted), len(self.holders)
        n = total[0] / n_agencies
        require_plausible(n > 0 and n == round(n), "the number of units")
        centre, spread = total[1 : 1 + size], total[1 + size : 1 + 2 * size]
        gram = gram_of(from_limbs(total[1 + 2 * size :], n_agencies), size)
        return Moments(round(n), self._wanted, gram, centre, spread)

    # -- at the coordinator ---------------------------------------------------------------------

    def route(self, step: int, ask: Asking, memory: dict[str, Any]) -> None:
        """Pass on what the agencies exchange before a sum."""
        if step == 0:
            memory["n"] = align(ask)
            multiply(ask, memory["n"], {name: len(c) for name, c in self.holders.items()})
        else:
            square_leverages(ask, memory["n"], tuple(self.holders), len(self.x))
