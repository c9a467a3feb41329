"""Probabilistic record linkage: who is linked with their own record by weights of agreement."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge
from pydantic import Field, NonNegativeFloat

from tacit.core.data import Microdata
from tacit.core.errors import DataError, ParameterError, nearest
from tacit.core.families import Risk
from tacit.core.measurement import Measurement
from tacit.core.method import Columns
from tacit.core.pairing import Pair
from tacit.risk._external import text_warnings
from tacit.risk._linkage_fields import LinkageField, chosen_attributes, linkage_fields
from tacit.risk._linkage_index import own_shares
from tacit.risk._linkage_pair import linked_pair
from tacit.risk._linkage_patterns import (
    Comparison,
    fitted_agreement,
    known_agreement,
    level_weights,
    shares,
)
from tacit.risk._linkage_result import linkage_measurement, objection_to_size
from tacit.risk._released_keys import NO_KEYS

_USUAL_TOLERANCE = 0.1
"""Standard deviations within which numbers agree, unless masking changed them by far less."""
_TYPICAL_CHANGES = 2.0
"""Root mean square changes within which they agree otherwise: where masking is slight, a wide
tolerance would make neighbours look alike whom an intruder can tell apart."""


class ProbabilisticLinkage(
    Risk,
    key="probabilistic-linkage",
    title="Probabilistic record linkage (PLD)",
    cites=("fellegi1969", "winkler1995", "domingoferrer2007"),
    example={"attributes": ["sex", "age", "education", "marital"]},
):
    r"""Report the share of people linked with their own record by weights of agreement.

    An intruder weighs on which attributes a person and a released record agree, and takes the
    record with the largest weight. Records of equal weight are picked from at random.

    Missing values: an attribute missing on either side has weight 0. Weights: sampling weights are
    not used; each record is one person. Households: not considered; records are linked one by one.

    Notes
    -----
    With :math:`m_c` the chance that attribute :math:`c` agrees in a true pair and :math:`u_c` the
    chance in any pair, a pair with agreement :math:`\gamma` has the weight [fellegi1969]_

    .. math:: w(\gamma) = \sum_c \gamma_c \log\frac{m_c}{u_c}
       + (1 - \gamma_c) \log\frac{1 - m_c}{1 - u_c}.

    The value is the PLD of the score of [domingoferrer2007]_: the share of original records whose
    own released record has the largest weight, one over the number of ties where there are ties;
    people who were not released count as not linked. Links need not be one to one.

    :math:`u_c` is counted over all pairs, without blocking, which would lose most true pairs of
    masked data. :math:`m_c` is counted over the true pairs, which are known here, or found by
    expectation-maximisation over the counts of agreement patterns of all pairs, with :math:`u_c`
    and the share of true pairs held fixed: at a share of :math:`1/n` a free fit ends in another
    class of pairs than the true ones. Counts are kept half a pair away from 0 and 1.

    Categories agree if equal (after the recoding that the release shows, which the intruder is
    taken to know), numbers within a tolerance or in the same quantile group of the original. The
    tolerance is at most twice the root mean square change, so that numbers that were not changed
    must be equal: in a file released as it is, only people with equal attributes are confused.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask, risk
    >>> data = tacit.datasets.census(500)
    >>> release = tacit.Plan([mask.Pram(columns=["marital", "sex"], stay=0.7)]).apply(data, seed=1)
    >>> linkage = risk.ProbabilisticLinkage(attributes=["region", "age", "marital", "sex"])
    >>> linkage.measure(data, release).value < linkage.measure(data).value
    True
    """

    attributes: Columns | None = None
    """Columns the intruder knows; by default the columns with the role of a key."""
    estimation: Literal["known", "em"] = "known"
    """Take the chances of agreement from the true pairs, or fit them as an intruder would."""
    tolerance: NonNegativeFloat | None = None
    """Numbers agree if they differ by at most this many standard deviations of the original; by
    default 0.1, or twice the typical change where masking changed them less."""
    tolerances: dict[str, NonNegativeFloat] = Field(default_factory=dict)
    """Tolerances of single numeric columns, in their own unit (of dates, in days)."""
    bins: Annotated[int, Ge(2)] | None = None
    """Compare numbers by the quantile group they fall in, of so many, in place of a tolerance."""
    record_id: str | None = None
    """Column that numbers the records of two plain files; by default they are paired by order."""
    largest_file: Annotated[int, Ge(1)] = 20_000
    """Files with more records are left out of a scorecard, where every measure is taken twice."""

    def objection(self, original: Microdata) -> str | None:
        """Say that there are no keys, or that the file is large."""
        if self.attributes is None and not original.schema.keys:
            return NO_KEYS
        return objection_to_size(original, self.largest_file)

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the share of right links among the original records."""
        both, warnings = linked_pair(original, release, self.record_id, by=self.key)
        names, gone = self._attributes(both)
        fields = linkage_fields(both, names)
        comparison = Comparison.of(fields, self._limits(fields, both), self.bins)
        m, u, fit = self._agreement(comparison, both)
        share = linked_by_weight(comparison, level_weights(m, u), *both.matched)
        warnings += text_warnings(both, names)
        if gone:
            warnings += (f"Not in the release, and not compared: {', '.join(gone)}.",)
        details = {
            "attributes": names,
            "estimation": self.estimation,
            "agreement": _table(names, m, u),
            **fit,
        }
        return linkage_measurement(self, both, share, names, details=details, warnings=warnings)

    def _attributes(self, both: Pair) -> tuple[list[str], list[str]]:
        """Return the attributes compared, and the keys that the release lacks."""
        if self.attributes is not None:
            return chosen_attributes(both, self.attributes, by=self.key), []
        keys = both.original.schema.keys
        names = [name for name in keys if name in both.released.schema]
        if not keys:
            raise DataError(f"{self.key}: {NO_KEYS}", do="name attributes")
        if not names:
            raise DataError(f"{self.key}: the release has none of the keys", do="name attributes")
        return names, [name for name in keys if name not in names]

    def _limits(self, fields: list[LinkageField], both: Pair) -> dict[str, float]:
        """Tolerance of each field in its own unit; categories must be equal."""
        numeric = [f for f in fields if f.scale == "numeric"]
        unknown = [name for name in self.tolerances if name not in [f.name for f in numeric]]
        if unknown:
            raise ParameterError(
                f"{self.key}: tolerances name {unknown[0]!r}, which is not a number compared",
                do=nearest(unknown[0], [f.name for f in numeric]),
            )
        limits = {f.name: _limit(f, both, self.tolerance) for f in numeric}
        return {f.name: 0.0 for f in fields} | limits | dict(self.tolerances)

    def _agreement(
        self, comparison: Comparison, both: Pair
    ) -> tuple[np.ndarray, np.ndarray, dict[str, Any]]:
        """Return m and u of each field, and how they were found."""
        at, to = both.matched
        u = shares(*comparison.agreement_of_all_pairs())
        if self.estimation == "known":
            return known_agreement(comparison.levels(at, to)), u, {}
        prevalence = len(at) / comparison.n_pairs
        if prevalence >= 1:
            raise DataError(f"{self.key} needs two records to fit agreement", do="use known pairs")
        levels, counts = comparison.patterns()
        m, rounds = fitted_agreement(levels, counts, u, prevalence)
        return m, u, {"patterns": len(counts), "rounds": rounds, "prevalence": prevalence}


def linked_by_weight(
    comparison: Comparison, weights: np.ndarray, at: np.ndarray, to: np.ndarray
) -> np.ndarray:
    """Return each original's chance that the released record of largest weight is its own."""
    n_originals = comparison.external.shape[1]
    levels = comparison.levels(at, to)
    own = np.zeros(len(at))
    for c, level in enumerate(levels):
        own += weights[c, level]
    best = np.full(n_originals, -np.inf)
    np.maximum.at(best, at, own)
    released = np.flatnonzero(np.isfinite(best))
    tied = np.zeros(n_originals)
    tied[released] = comparison.tied(released, best[released], weights)
    return own_shares(at, own >= best[at] - 1e-9, tied, n_originals)


def _limit(field: LinkageField, both: Pair, tolerance: float | None) -> float:
    """Tolerance of a numeric field in its own unit."""
    if tolerance is not None:
        return tolerance * _deviation(field.external)
    at, to = both.matched
    change = field.released[to] - field.external[at]
    change = change[~np.isnan(change)]
    typical = float(np.sqrt(np.mean(change**2))) if len(change) else np.inf
    return float(min(_USUAL_TOLERANCE * _deviation(field.external), _TYPICAL_CHANGES * typical))


def _deviation(values: np.ndarray) -> float:
    known = values[~np.isnan(values)]
    return float(np.std(known, ddof=1)) if len(known) > 1 else 0.0


def _table(names: list[str], m: np.ndarray, u: np.ndarray) -> dict[str, dict[str, float]]:
    weights = level_weights(m, u)
    return {
        name: {
            "m": float(m[c]),
            "u": float(u[c]),
            "weight_agree": float(weights[c, 1]),
            "weight_differ": float(weights[c, 0]),
        }
        for c, name in enumerate(names)
    }
