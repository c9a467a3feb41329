"""Analyses: what may be asked, computed from evidence that guards have seen."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Protocol

import numpy as np
from pydantic import BeforeValidator

from tacit.core.method import Method
from tacit.query.answer import Answer
from tacit.query.evidence import Cells, Evidence, Factor, Influence, Link, Moments, Term
from tacit.query.universe import Universe, UniverseField


def _listed(given: Any) -> Any:
    return (given,) if isinstance(given, str | int | float) else given


Names = Annotated[tuple[str, ...], BeforeValidator(_listed)]
"""Any number of variables; one alone needs no list."""


@dataclass(frozen=True)
class Needs:
    """The variables a request uses, by the part they play; the server refuses unknown ones."""

    categories: tuple[str, ...] = ()
    """Variables used through their categories or bins: dimensions, dummies, strata."""
    numbers: tuple[str, ...] = ()
    """Variables whose values are summed or modelled."""
    weighted: bool = False
    """Whether survey weights are used, where the data have them."""


class View(Protocol):
    """The data as an analysis sees them: only the request's universe, and only sums.

    The runner makes it; drops and substitutions that the policy requires are already in it.
    """

    @property
    def schema(self) -> Any:
        """The public description of the data (`tacit.query.source.Registered`)."""

    def table(
        self,
        by: Sequence[str],
        *,
        totals: Sequence[str] = (),
        weighted: bool = False,
        margins: bool = True,
    ) -> Cells:
        """Count the units of every cell and margin, and add up variables over them."""

    def moments(
        self,
        terms: Sequence[Term],
        response: Term,
        *,
        weighted: bool = False,
        link: Link = "identity",
        coefficients: np.ndarray | None = None,
        clip: float | None = None,
    ) -> Moments:
        """Return X'WX, X'Wy and y'Wy of a design in one pass over the complete records.

        With a link other than the identity, `coefficients` give the linear predictor; then W are
        the working weights, X'Wy is the score and y'Wy the deviance. With `clip`, residuals beyond
        it count less (Huber). See `tacit.query._moments_engine.moments`, which the engine calls.
        """

    def influence(
        self,
        terms: Sequence[Term],
        response: Term,
        coefficients: np.ndarray,
        inverse: np.ndarray,
        *,
        weighted: bool = False,
        link: Link = "identity",
        groups: Sequence[Factor] = (),
        leverage: bool = True,
    ) -> Influence:
        """Return the largest leverage and score of a single unit, and the fit by group."""

    def leverage_bound(
        self,
        terms: Sequence[Term],
        response: Term,
        inverse: np.ndarray,
        *,
        weighted: bool = False,
        link: Link = "identity",
    ) -> float:
        """Return a number that the leverage of no unit exceeds; infinite where none is known."""

    def pairs(
        self, terms: Sequence[Term], correlation: np.ndarray, *, weighted: bool = False
    ) -> np.ndarray:
        """Return the largest part of a single unit in each correlation and variance."""


class Analysis(Method):
    """A request: a statistic of the units of a universe.

    An analysis names its variables, asks a view for evidence, and turns evidence that the output
    rules have amended into an answer. It never sees records, keys, secrets or the log.
    """

    family: ClassVar[str] = "analysis"
    verb: ClassVar[str] = "compute"

    universe: UniverseField = Universe()
    """The units the request is about; everybody unless told otherwise."""

    @property
    def tells_margins(self) -> bool:
        """Whether, of a table, totals over dimensions are released as well."""
        return True

    @property
    def numbers_of_totals(self) -> int:
        """How many numbers are released of each variable that is added up over a cell."""
        return 1

    @abstractmethod
    def variables(self) -> Needs:
        """Return the variables the request uses; those of the universe are added by the server."""

    @abstractmethod
    def gather(self, view: View) -> Evidence:
        """Ask for the sums that the statistic needs."""

    @abstractmethod
    def compute(self, evidence: Any) -> Answer:
        """Return the statistic from evidence that has passed the output rules."""
