"""Identification risk: the chance that an intruder links a person with the right record."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Gt, Le
from pydantic import Field, NonNegativeFloat

from tacit.core.common_scale import as_numbers, compare_as_numbers
from tacit.core.data import Microdata
from tacit.core.errors import DataError, ParameterError
from tacit.core.families import Risk
from tacit.core.frame import collect
from tacit.core.keys import encode
from tacit.core.measurement import Measurement, counted
from tacit.core.method import Columns
from tacit.core.pairing import Pair, pair
from tacit.core.record_order import order_warnings
from tacit.risk._external import KnownField, external_fields, text_warnings
from tacit.risk._probability_ratios import Base, RatioModel
from tacit.risk._released_keys import NO_KEYS
from tacit.risk._target_units import Wanted, target_units

_LEVELS = (0.05, 0.1, 0.2, 0.5)
"""Probabilities above which target units are counted."""


def identification_probability(
    inclusion: float, n_released: int, ratio: float | Sequence[float] | np.ndarray
) -> Any:
    r"""Return the probability that a released record belongs to a target unit.

    Parameters
    ----------
    inclusion
        Probability :math:`\pi_i` that the target unit is in the release.
    n_released
        Number :math:`t` of released records.
    ratio
        Probability ratio :math:`r_{ij}` of the one record that matches, or the ratios of all
        records; records left out have ratio 0.

    Returns
    -------
    One probability, or one for each ratio.

    Notes
    -----
    .. math:: P = \frac{\pi_i t^{-1} r_{ij}}{\pi_i t^{-1} \sum_k r_{ik} + (1 - \pi_i)},
       \qquad \text{Eq. (4.10) of [truta2003]_}.

    The paper prints 4.98 % for its case A (ratio 10 000 000); its formula gives 4.7624 %.

    Examples
    --------
    >>> p = identification_probability(inclusion=1e-4, n_released=20_000, ratio=5e4)
    >>> print(f"{100 * p:.4f} %")
    0.0250 %
    >>> identification_probability(1.0, 3, [5.0, 5.0, 0.0]).tolist()
    [0.5, 0.5, 0.0]
    """
    ratios = np.atleast_1d(np.asarray(ratio, dtype=np.float64))
    if not 0 <= inclusion <= 1:
        raise ParameterError("the inclusion probability lies between 0 and 1", got=inclusion)
    if n_released < 1 or ratios.ndim != 1 or len(ratios) > n_released:
        raise ParameterError(
            "there is at most one ratio for each released record",
            got=f"{ratios.size} ratios for {counted(n_released, 'record')}",
        )
    if np.any(np.isnan(ratios) | (ratios < 0) | np.isinf(ratios)):
        raise ParameterError("probability ratios are numbers, 0 or above", got=ratio)
    found = _posterior(inclusion, n_released, ratios, ratios.sum())
    return float(found[0]) if np.ndim(ratio) == 0 else found


def _posterior(
    inclusion: float, n_released: int, ratio: np.ndarray, total: np.ndarray | float
) -> np.ndarray:
    """Apply Eq. (4.10) of truta2003; where nothing matches at all, nobody is identified."""
    found = inclusion / n_released * ratio
    among = inclusion / n_released * np.asarray(total) + (1 - inclusion)
    return np.asarray(np.divide(found, among, out=np.zeros_like(found), where=found > 0))


class IdentificationRisk(
    Risk,
    key="identification-risk",
    title="Identification risk",
    cites=("truta2003", "willenborg2001", "winkler1995"),
    example={"keys": ["region", "sex", "age"]},
):
    r"""Estimate how likely an intruder links the people they know with the right records.

    Each original record is a target unit, unless ``targets``, ``where`` and ``target_share`` say
    whom the intruder is after. The intruder knows a target's keys, and what
    ``data.with_knowledge`` says they know of single records (the two-level classification of TFB).

    Missing values: a field missing on either side is not compared; in the population, a missing
    value agrees with the chance that others do. Weights: give the distribution
    of the keys in the population, and its size. Households: not considered; records are matched one
    by one.

    Notes
    -----
    For target :math:`i` and released record :math:`j`, Eq. (4.10) and (4.11) of [truta2003]_:

    .. math::

       P_{ij} = \frac{\pi t^{-1} r_{ij}}{\pi t^{-1} \sum_{k=1}^{t} r_{ik} + (1 - \pi)}, \qquad
       r_{ik} = \frac{P(Ext_i \mid M, Id(Y_k) = I(Ext_i))}{P(Ext_i \mid M, I(Ext_i) \notin Id(S))}.

    Of :math:`t` released records, :math:`r` are real; :math:`\pi = r / N` for a population of
    :math:`N`. The value for a target is its :math:`P_{ij}` on its own record, 0 if it was not
    released; the value for the file is the mean over all targets, the share an intruder is expected
    to identify. Other records have no value. Where released fields are complete and unchanged,
    knowing more never lowers a target's probability; a record with gaps may come to fit better.

    The numerator of a ratio is 1 for a match and 0 else. Fields that were coarsened are matched
    after the same coarsening, which the intruder is taken to know. Labels that differ from record
    to record, such as the ranges of boxes, match the values released under them. Perturbed numbers,
    or numbers known with an error, agree by :math:`\exp(-(x - y)^2 / 2\sigma^2)`, where
    :math:`\sigma` is the root mean square of the change joined with the error, up to four
    :math:`\sigma`; perturbed categories agree but for the share that was changed. The denominator
    is the share of the population that agrees with the target in the same sense.

    Deviation: TFB assume independent keys; ``base="joint"`` counts combinations in the original.

    Examples
    --------
    >>> import tacit
    >>> from tacit import risk
    >>> found = risk.IdentificationRisk().measure(tacit.datasets.patients())
    >>> found.text, found.per_unit[:4].round(3).tolist()
    ('50 %', [0.333, 0.333, 0.333, 0.333])
    """

    keys: Columns | None = None
    """Columns the intruder knows of everybody; by default those with the role of a key."""
    errors: dict[str, NonNegativeFloat] = Field(default_factory=dict)
    """How wrong the intruder's information is: standard deviation of a number (of a date, in
    days), probability of a wrong category."""
    matching: Literal["auto", "exact"] = "auto"
    """Whether the intruder allows for what masking did to the values, or looks for equal values."""
    base: Base = "joint"
    """How common values are in the population: counted together, or as if independent."""
    population: Annotated[float, Gt(0)] | None = None
    """Size of the population; by default the sum of the weights, or the number of originals."""
    targets: str | None = None
    """Column of the original that is true for the units the intruder is after; by default all."""
    where: dict[str, Wanted] = Field(default_factory=dict)
    """Values that these units have: ``{"region": ["north"], "age": {"at_least": 65}}``."""
    target_share: Annotated[float, Gt(0), Le(1)] | None = None
    """Share of these units that the intruder looks for."""
    largest: str | None = None
    """Number by whose largest values that share is taken; by default it is drawn at random."""
    seed: Annotated[int, Ge(0)] = 0
    """Seed of that draw."""
    record_id: str | None = None
    """Column that numbers the records of two plain files; by default they are paired by order."""

    def objection(self, original: Microdata) -> str | None:
        """Say that the intruder knows nothing, if that is so."""
        return None if _known_fields(original, self.keys) else NO_KEYS

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the share of the original units that an intruder is expected to identify."""
        both = pair(original, release, self.record_id)
        names = _known_fields(both.original, self.keys)
        _check_usable(both, names)
        inclusion, population, warnings = self._inclusion(both)
        warnings += (*order_warnings(both, by=self.key), *text_warnings(both, names))
        gone = [name for name in names if name not in both.released.schema]
        if gone:
            warnings += (
                f"Not in the release, so that nobody can match on them: {', '.join(gone)}.",
            )
        targets = self._targets(both.original)
        fields = external_fields(both, names, self.errors, coarse=self.matching == "auto")
        per_record = np.where(targets, self._probabilities(both, fields, inclusion), np.nan)
        probability = per_record[targets]
        unpaired = _unpaired(both, fields)
        details = {
            "fields": {f.name: f.note for f in fields},
            "fields_not_released": gone,
            **_factors(both),
            "population": population,
            "inclusion": inclusion,
            "targets": int(targets.sum()),
            **_file_level(probability),
            "unpaired": {name: n for name, (n, _) in unpaired.items()},
        }
        return Measurement(
            key=self.key,
            title=self.title,
            value=float(probability.mean()),
            better="lower",
            bounds=(0.0, 1.0),
            unit="percent",
            per_unit=per_record,
            units="original",
            details=details,
            explanation=_explanation(probability, names),
            warnings=(*warnings, *(text for _, text in unpaired.values() if text)),
        )

    def _targets(self, original: Microdata) -> np.ndarray:
        """Mark the records that the intruder is after."""
        if self.largest is not None and self.target_share is None:
            raise ParameterError(
                f"{self.key}: largest says by what a share of the units is taken",
                do="give target_share too",
            )
        return target_units(
            original,
            marked=self.targets,
            where=self.where,
            share=self.target_share,
            largest=self.largest,
            seed=self.seed,
        )

    def _probabilities(self, both: Pair, fields: list[KnownField], inclusion: float) -> np.ndarray:
        """Probability of each original record on its own release."""
        at, to = both.matched
        t, n = both.released.n_records, both.original.n_records
        if fields:
            weights, certain = both.original.weights, inclusion == 1
            model = RatioModel(fields, weights, self.base, relative=certain)
            ratios = model.ratios(at, to)
            found = _posterior(inclusion, t, ratios.own, ratios.total[at])
        else:
            found = np.full(len(at), inclusion / t)
        # A unit may be released several times, by sampling with replacement.
        return np.bincount(at, weights=found, minlength=n).clip(0.0, 1.0)

    def _inclusion(self, both: Pair) -> tuple[float, float, tuple[str, ...]]:
        """Return the inclusion probability r / N, the population size N, and warnings."""
        n_real = _n_real(both)
        if self.population is not None:
            if self.population < n_real:
                raise DataError(
                    "the population cannot be smaller than the release",
                    got=f"population {self.population:g}, {n_real} released units",
                )
            return n_real / self.population, float(self.population), ()
        weights = both.original.weights
        n = both.original.n_records
        total = float(n if weights is None else weights.sum())
        if total >= n:
            return n_real / total, total, ()
        note = "The weights sum to less than the number of records: the file is taken to be the "
        return n_real / n, float(n), (note + "whole population.",)


def _known_fields(original: Microdata, keys: Sequence[str] | None) -> list[str]:
    """Fields the intruder knows of everybody or of somebody, in file order."""
    known = set(original.schema.keys if keys is None else keys) | set(original.knowledge.columns)
    original.schema.require(sorted(known))
    return [name for name in original.columns if name in known]


def _check_usable(both: Pair, names: list[str]) -> None:
    if not names:
        raise DataError(NO_KEYS, do="name the keys with with_roles(keys=[...])")
    if both.original.n_records == 0 or both.released.n_records == 0:
        raise DataError("identification-risk needs at least one record", got="an empty file")


def _n_real(both: Pair) -> int:
    """Count the original units that are in the release, each once."""
    return int(np.count_nonzero(np.bincount(both.matched[0])))


def _factors(both: Pair) -> dict[str, Any]:
    """Return the sampling and simulated factors, Eq. (3.9) and (3.8) of truta2003."""
    n, t, r = both.original.n_records, both.released.n_records, _n_real(both)
    return {
        "originals": n,
        "released": t,
        "real": r,
        "sampling_factor": r / n,
        "simulated_factor": (t - len(both.matched[0])) / t,
    }


def _file_level(probability: np.ndarray) -> dict[str, Any]:
    return {
        "largest": float(probability.max()),
        "expected_identifications": float(probability.sum()),
        "share_above": {
            f"{100 * level:g} %": float(np.mean(probability > level)) for level in _LEVELS
        },
    }


def _unpaired(both: Pair, fields: list[KnownField]) -> dict[str, tuple[int, str]]:
    """Count, for each field, released records alone with their value, and say if that is odd.

    It is odd where masking put most records into groups, yet some are alone: a later step, such as
    sampling (Appendix A of truta2003), has taken the others away.
    """
    found = {}
    for field in fields:
        codes = encode(both.released, [field.name])[:, 0]
        sizes = np.bincount(codes[codes >= 0])
        n_alone = int(np.sum(sizes == 1))
        is_odd = _is_grouped(both, field) and 0 < 2 * n_alone < sizes.sum()
        alone = "1 released record is" if n_alone == 1 else f"{n_alone:,} released records are"
        text = (
            f"{alone} alone with a value of {field.name}, although masking put values into groups: "
            "sampling or another later step has taken the others away."
        )
        found[field.name] = (n_alone, text if is_odd else "")
    return found


def _is_grouped(both: Pair, field: KnownField) -> bool:
    """Whether masking put several values of a field into one, and did not just swap or rename."""
    if not field.changed:
        return False
    at, to = both.matched
    before, after = (collect(side.lazy.select(field.name))[field.name] for side in both.sides)
    if compare_as_numbers(before, after, both.kinds(field.name)):
        values = as_numbers(after)[to]
        return not np.isin(values[~np.isnan(values)], as_numbers(before)).all()
    merged = bool(after[to].n_unique() < before[at].n_unique())
    return merged and field.agreement in ("exact", "within")


def _explanation(probability: np.ndarray, names: list[str]) -> str:
    n_high = int(np.sum(probability > 0.2))
    people = counted(len(probability), "person", "people")
    return (
        f"An intruder who knows {', '.join(names)} of the {people} they look for is expected to "
        f"identify {probability.sum():,.1f} of them. The largest probability for one person is "
        f"{100 * probability.max():.3g} %; {n_high:,} are above 20 %."
    )
