"""People who find their keys and their confidential values in one released record."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge

from tacit.core.common_scale import as_numbers
from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.families import Risk
from tacit.core.keys import group_ids
from tacit.core.measurement import Measurement, counted
from tacit.core.method import Columns
from tacit.core.pairing import Pair, pair
from tacit.risk._comparable import present_columns
from tacit.risk._released_keys import objection_without_keys
from tacit.risk._synthetic_keys import SharedKeys, joint_codes, shared_keys

_NO_TARGET = "no column has the role confidential, so there is nothing to find"


class MatchingPeople(
    Risk,
    key="matching-people",
    title="People who find themselves",
    cites=("domingoferrer2007",),
    example={"keys": ["sex", "age", "marital"], "targets": ["occupation", "income"]},
):
    r"""Report the share of people whose keys and confidential values stand in a released record.

    Made for synthetic data: such a person may feel that the release reveals them, and will not be
    content to hear that the record was drawn by chance. Records need not correspond.

    Missing values: a missing key or category is a value of its own; a person is not found by a
    missing number. Weights: not used. Households: not considered.

    Notes
    -----
    Person :math:`i` is found if a released record has the same keys, the same confidential
    categories, and all confidential numbers :math:`y` within :math:`|y - x_i| \le t\,|x_i|`, with
    the `tolerance` :math:`t` [domingoferrer2007]_. The details hold the share that is found by
    chance: the same, with the confidential values of the release shuffled over its records.

    Examples
    --------
    >>> import tacit
    >>> from tacit import risk
    >>> data = tacit.datasets.patients()
    >>> risk.MatchingPeople().measure(data, data.take([0, 1, 2])).text
    '30 %'
    """

    default: ClassVar[bool] = False

    keys: Columns | None = None
    """Columns by which people look for themselves; by default those with the role of a key."""
    targets: Columns | None = None
    """Confidential columns; by default those with the role confidential."""
    tolerance: Annotated[float, Ge(0)] = 0.01
    """Relative difference of numbers that still counts as the same."""

    def objection(self, original: Microdata) -> str | None:
        """Say that there are no keys or no confidential columns."""
        if self.targets is None and not original.schema.confidential:
            return _NO_TARGET
        return objection_without_keys(original, self.keys)

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the share of people who are found."""
        both = pair(original, release)
        keys = shared_keys(original, release, self.keys, by=self.key)
        targets = self._targets(both, keys)
        people, records = _same_categories(both, keys, targets)
        numbers = _numbers(both, targets)
        found = _found(people, records, *numbers, self.tolerance)
        shuffled = np.random.default_rng(0).permutation(both.released.n_records)
        by_chance = self._by_chance(both, keys, targets, shuffled)
        value = float(found.mean())
        return Measurement(
            key=self.key, title=self.title, value=value, better="lower", bounds=(0.0, 1.0),
            unit="percent", per_unit=found, units="original",
            details={"keys": keys.names, "targets": targets, "people": int(found.sum()),
                     "by_chance": by_chance},
            explanation=f"{int(found.sum()):,} of {counted(len(found), 'person', 'people')} find "
            f"their {', '.join(keys.names)} together with their {', '.join(targets)} in a released "
            f"record; {100 * by_chance:.3g} % would by chance.",
            warnings=(*keys.warnings, *present_columns(both, targets, by=self.key)[1]),
        )  # fmt: skip

    def _targets(self, both: Pair, keys: SharedKeys) -> list[str]:
        schema = both.original.schema
        wanted = list(self.targets) if self.targets is not None else schema.confidential
        schema.require(wanted)
        wanted = [c for c in wanted if c not in keys.names and c in both.released.schema]
        if not wanted:
            raise DataError(f"{self.key}: the release has none of the confidential columns")
        return wanted

    def _by_chance(
        self, both: Pair, keys: SharedKeys, targets: list[str], shuffled: np.ndarray
    ) -> float:
        people, records = _same_categories(both, keys, targets, shuffled)
        mine, theirs = _numbers(both, targets)
        return float(_found(people, records, mine, theirs[shuffled], self.tolerance).mean())


def _is_number(both: Pair, name: str) -> bool:
    return all(side.local[name].dtype.is_numeric() for side in both.sides)


def _same_categories(
    both: Pair, keys: SharedKeys, targets: list[str], shuffled: np.ndarray | None = None
) -> tuple[np.ndarray, np.ndarray]:
    """Give equal keys and confidential categories the same number in both files."""
    parts = [np.concatenate([keys.original, keys.released])]
    for name in targets:
        if not _is_number(both, name):
            before, after = joint_codes(both, name)
            after = after if shuffled is None else after[shuffled]
            parts.append(np.concatenate([before, after]) + 1)
    ids = group_ids(np.column_stack(parts))[0]
    return ids[: len(keys.original)], ids[len(keys.original) :]


def _numbers(both: Pair, targets: list[str]) -> tuple[np.ndarray, np.ndarray]:
    names = [name for name in targets if _is_number(both, name)]
    sides = []
    for side in both.sides:
        columns = [as_numbers(side.local[name]) for name in names]
        empty = np.empty((side.n_records, 0))
        sides.append(np.column_stack(columns) if columns else empty)
    return sides[0], sides[1]


def _found(
    people: np.ndarray, records: np.ndarray, mine: np.ndarray, theirs: np.ndarray, tolerance: float
) -> np.ndarray:
    """Say who has a released record of the same group with all numbers near."""
    from tacit.risk import _matching_kernel as kernel

    first = theirs[:, 0] if theirs.shape[1] else np.zeros(len(records))
    order = np.lexsort((first, records))
    return np.asarray(
        kernel.has_match(
            people, records[order], mine, np.ascontiguousarray(theirs[order]), tolerance
        )
    )
