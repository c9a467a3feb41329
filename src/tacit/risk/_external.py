"""What an intruder knows beside what was released: fields brought to a common scale.

Matching compares external (original) values with released ones. For each field this module finds
out from the records that correspond how masking changed it, and so how the two sides compare:

exact
    values were not changed, or were coarsened: the released value is a function of the original
    one (recoding, top coding, rounding, groups), which the intruder is taken to know;
near
    numbers were perturbed, or are known with an error: some stayed equal, the others agree up to a
    normal error whose standard deviation is the root mean square of the changes;
misread
    categories were perturbed, or are known with an error: they agree but for the share changed;
within
    values were coarsened differently from record to record (boxes, local recoding): a label that
    is no original value stands for the values released under it, which the intruder is taken to
    know, as the label itself tells them: ``[20, 34]``.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np

from tacit.core.common_scale import as_numbers, common_codes, compare_as_numbers
from tacit.core.data import Microdata
from tacit.core.errors import ParameterError, nearest
from tacit.core.frame import collect
from tacit.core.keys import MISSING_CODE
from tacit.core.pairing import Pair
from tacit.core.schema import Kind
from tacit.risk._membership import Labels

Agreement = Literal["exact", "near", "misread", "within"]
STEPS_PER_ERROR = 4
"""Numbers known with an error are compared on a grid of a quarter of that error."""
_MOST_STEPS = 2.0**40


@dataclass(frozen=True)
class KnownField:
    """One field on both sides, as codes that compare."""

    name: str
    external: np.ndarray
    """Code of each original record; -1 where the intruder does not know it."""
    released: np.ndarray
    """Code of each released record; -1 where it is missing."""
    agreement: Agreement = "exact"
    """How codes agree."""
    error: float = 0.0
    """Standard deviation of a near field, probability of error of a misread one."""
    changed: bool = False
    """Whether masking changed the field."""
    places: tuple[np.ndarray, np.ndarray] | None = None
    """Places of a near field on a grid of a quarter of its error, on both sides."""
    unchanged: float = 0.0
    """Share of the records on which a near field stayed equal."""
    gap: float = 1.0
    """Typical gap between neighbouring values of a near field."""
    labels: Labels | None = None
    """Which values the labels of a field stand for that was coarsened record by record."""
    own_label: np.ndarray | None = None
    """The label under which each original record was released; -1 where it was not."""
    whole: KnownField | None = None
    """The same field of everybody, where the intruder knows it of some people only."""

    def known_of(self, people: np.ndarray) -> KnownField:
        """Return the field as an intruder has it who knows it of some people only."""
        if people.all():
            return self
        external = np.where(people, self.external, MISSING_CODE)
        places = self.places
        if places is not None:
            places = (np.where(people, places[0], MISSING_CODE), places[1])
        return replace(self, external=external, places=places, whole=self)

    @property
    def of_population(self) -> np.ndarray:
        """Code of each original record as one of the population, which agrees or does not."""
        return self.external if self.own_label is None else self.own_label

    @property
    def n_values(self) -> int:
        """Number of values a misread field may take."""
        return int(max(self.external.max(initial=0), self.released.max(initial=0))) + 1

    @property
    def note(self) -> str:
        """How the two sides compare, in words."""
        match self.agreement:
            case "near":
                equal = f"{100 * self.unchanged:.3g} % equal, the others " if self.unchanged else ""
                return f"numbers, {equal}within an error of about {self.error:.4g}"
            case "misread":
                return f"categories that differ with probability {self.error:.4g}"
            case "within":
                return "coarsened record by record; labels tell which values they stand for"
            case _:
                return "coarsened, and the intruder knows how" if self.changed else "equal values"


def external_fields(
    both: Pair, names: Sequence[str], errors: Mapping[str, float], *, coarse: bool
) -> list[KnownField]:
    """Bring the fields that the release still has to a common scale.

    With `coarse` unset, changes by masking are not looked at and values must be equal.
    """
    _check_errors(errors, names)
    present = [name for name in names if name in both.released.schema]
    before, after = _columns(both.original, present), _columns(both.released, present)
    fields = []
    for name in present:
        known = is_known(both.original, name)
        error = errors.get(name, 0.0)
        numeric = compare_as_numbers(before[name], after[name], both.kinds(name))
        make = _numeric_field if numeric else _categorical_field
        fields.append(make(both, before[name], after[name], error, coarse).known_of(known))
    return fields


def text_warnings(both: Pair, names: Sequence[str]) -> tuple[str, ...]:
    """Name numbers that became text without a rule, so that they could only be compared as text."""
    lost = [name for name in names if name in both.released.schema and _became_text(both, name)]
    if not lost:
        return ()
    return (f"No longer numbers in the release, and compared as categories: {', '.join(lost)}.",)


def _became_text(both: Pair, name: str) -> bool:
    before, after = (_columns(side, [name])[name] for side in both.sides)
    if not before.dtype.is_numeric() or compare_as_numbers(before, after, both.kinds(name)):
        return False
    if both.original.schema[name].kind != Kind.NUMERIC or both.rows is None:
        return both.original.schema[name].kind == Kind.NUMERIC
    return external_fields(both, [name], {}, coarse=True)[0].agreement == "misread"


def _check_errors(errors: Mapping[str, float], names: Sequence[str]) -> None:
    unknown = [name for name in errors if name not in names]
    if unknown:
        raise ParameterError(
            f"errors name {unknown[0]!r}, which is not a field the intruder knows",
            do=nearest(unknown[0], names),
        )


def _columns(data: Microdata, names: list[str]) -> Any:
    return collect(data.lazy.select(names))


def is_known(original: Microdata, name: str) -> np.ndarray:
    """Say of which records the intruder knows a field: of all, unless knowledge says otherwise."""
    knowledge = original.knowledge
    if name in knowledge.everyone or name not in knowledge.some:
        return np.ones(original.n_records, dtype=bool)
    return knowledge.known(name, original.n_records)


# -- numbers and dates ----------------------------------------------------------------------------


def _numeric_field(both: Pair, before: Any, after: Any, error: float, coarse: bool) -> KnownField:
    external, released = as_numbers(before), as_numbers(after)
    at, to = _present_pairs(both, ~np.isnan(external), ~np.isnan(released))
    released[to] = _without_rounding_errors(external[at], released[to])
    old, new = external[at], released[to]
    changed = bool(np.any(old != new)) if coarse else False
    if changed and _is_grouping(old, new):
        external = _regrouped(external, old, new)
        change = np.zeros(1)
    else:
        change = (new - old)[new != old] if changed else np.zeros(1)
    spread = float(np.sqrt(np.mean(change**2)))
    if spread == 0 and error == 0:
        return KnownField(before.name, *_ranks(external, released), changed=changed)
    stayed = float(np.mean(old == new)) if error == 0 else 0.0
    return _near_field(before.name, external, released, float(np.hypot(error, spread)), stayed)


def _near_field(
    name: str, external: np.ndarray, released: np.ndarray, error: float, stayed: float
) -> KnownField:
    places = _on_grid(external, released, error)
    codes = _ranks(external, released) if stayed else places
    gaps = np.diff(np.unique(external[~np.isnan(external)]))
    gap = float(np.median(gaps)) if len(gaps) else error
    return KnownField(name, *codes, "near", error, True, places, stayed, gap)


def _without_rounding_errors(old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Take a mean of equal numbers, which may differ in the last digit, for the number itself."""
    return np.where(np.isclose(old, new, rtol=1e-12, atol=0.0), old, new)


def _is_grouping(old: np.ndarray, new: np.ndarray) -> bool:
    """Whether released numbers stand for groups of original ones, and are no mere noise.

    Each original value has one released value, and most of the values that were changed share
    theirs with another original value.
    """
    values, position = np.unique(old, return_inverse=True)
    image = np.empty_like(values)
    image[position] = new
    if not np.array_equal(image[position], new):
        return False
    _, group, size = np.unique(image, return_inverse=True, return_counts=True)
    is_changed = image != values
    return bool(np.mean(size[group][is_changed] > 1) >= 0.5)


def _regrouped(external: np.ndarray, old: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Translate external values as the nearest value in the release was translated."""
    values, first = np.unique(old, return_index=True)
    image = new[first]
    right = np.searchsorted(values, external).clip(0, len(values) - 1)
    left = (right - 1).clip(0)
    is_left = np.abs(external - values[left]) < np.abs(external - values[right])
    return np.where(np.isnan(external), np.nan, image[np.where(is_left, left, right)])


def _ranks(external: np.ndarray, released: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Replace the numbers of both sides by their rank; equal numbers have equal ranks."""
    values = np.concatenate([external, released])
    codes = np.full(len(values), MISSING_CODE, dtype=np.int64)
    known = ~np.isnan(values)
    codes[known] = np.unique(values[known], return_inverse=True)[1]
    return codes[: len(external)], codes[len(external) :]


def _on_grid(
    external: np.ndarray, released: np.ndarray, error: float
) -> tuple[np.ndarray, np.ndarray]:
    """Put the numbers of both sides on a grid whose steps are a quarter of the error."""
    values = np.concatenate([external, released])
    known = ~np.isnan(values)
    low, high = (values[known].min(), values[known].max()) if known.any() else (0.0, 0.0)
    step = max(error / STEPS_PER_ERROR, (high - low) / _MOST_STEPS)
    places = np.where(known, np.rint((values - low) / step), MISSING_CODE).astype(np.int64)
    return places[: len(external)], places[len(external) :]


# -- categories -----------------------------------------------------------------------------------


def _categorical_field(
    both: Pair, before: Any, after: Any, error: float, coarse: bool
) -> KnownField:
    if not 0 <= error < 1:
        raise ParameterError(
            f"the error of {before.name!r}, a category, is a probability below 1", got=error
        )
    external, released = common_codes(before, after)
    at, to = _present_pairs(both, external >= 0, released >= 0)
    old, new = external[at], released[to]
    changed = bool(np.any(old != new)) if coarse else False
    if changed and _is_recoding(old, new):
        external = _recoded(before, external, at, new)
    elif changed and _has_only_new_labels(external, old, new):
        own_label = np.full(len(external), MISSING_CODE, dtype=np.int64)
        own_label[at] = new
        labels = Labels.of(old, new)
        return KnownField(
            before.name, external, released, "within", error, True, labels=labels,
            own_label=own_label,
        )  # fmt: skip
    elif changed:
        error = 1 - (1 - error) * float(np.mean(old == new))
    agreement: Agreement = "misread" if error > 0 else "exact"
    return KnownField(before.name, external, released, agreement, error, changed)


def _is_recoding(old: np.ndarray, new: np.ndarray) -> bool:
    """Whether each category became one other, which itself stayed as it was.

    The second half tells recoding from swapping, which also maps a file of distinct values to
    itself one by one.
    """
    values, first = np.unique(old, return_index=True)
    image = new[first]
    if not np.array_equal(image[np.searchsorted(values, old)], new):
        return False
    again = np.searchsorted(values, image).clip(0, len(values) - 1)
    is_original = values[again] == image
    return bool(np.all(image[again][is_original] == image[is_original]))


def _has_only_new_labels(external: np.ndarray, old: np.ndarray, new: np.ndarray) -> bool:
    """Whether every value that was changed became a label that no original record has.

    An exchange of values, or noise, gives values that others have.
    """
    return not np.isin(new[old != new], external).any()


def _recoded(before: Any, external: np.ndarray, at: np.ndarray, new: np.ndarray) -> np.ndarray:
    """Translate categories as in the release; numbers that it lacks go with the nearest ones."""
    if before.dtype.is_numeric():
        numbers = as_numbers(before)
        image = _regrouped(numbers, numbers[at], new.astype(np.float64))
        return np.where(np.isnan(image), MISSING_CODE, image).astype(np.int64)
    translation = np.arange(max(external.max(), new.max()) + 1)
    translation[external[at]] = new
    return np.where(external >= 0, translation[external], MISSING_CODE)


def _present_pairs(
    both: Pair, before: np.ndarray, after: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Positions of the corresponding records whose value is there on both sides."""
    at, to = both.matched
    present = before[at] & after[to]
    return at[present], to[present]
