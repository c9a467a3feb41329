"""Correct attribution: what the release says about the confidential values of people one knows."""

from __future__ import annotations

from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge

from tacit.core.common_scale import as_numbers
from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.families import Risk
from tacit.core.frame import collect
from tacit.core.keys import encode, group_ids
from tacit.core.measurement import Measurement
from tacit.core.method import Columns
from tacit.core.pairing import Pair, pair
from tacit.core.schema import Role
from tacit.risk._external import text_warnings
from tacit.risk._linkage_patterns import quantile_groups
from tacit.risk._released_keys import objection_without_keys
from tacit.risk._synthetic_keys import SharedKeys, joint_codes, shared_keys

_NO_TARGET = "no column has the role confidential, so there is nothing to attribute"


class CorrectAttribution(
    Risk,
    key="correct-attribution",
    title="Correct attribution probability (CAP)",
    cites=("elliot2014", "taub2018", "raab2024"),
    example={"keys": ["sex", "age", "marital"], "targets": ["occupation", "income"]},
):
    r"""Report how likely the release attributes the right confidential value to a person.

    Made for synthetic data: records need not correspond. An intruder who knows a person's keys
    looks up the released records with these keys and takes the target value of one of them.

    Missing values: a missing key is a value of its own; people whose target is missing are not
    counted, and a released record whose target is missing attributes nothing. Weights: not used;
    each record is one person. Households: not considered.

    Notes
    -----
    With :math:`s_{qt}` released records of keys :math:`q` and target value :math:`t`, and
    :math:`s_q = \sum_t s_{qt}`, a person with keys :math:`q_i` and target :math:`t_i` has
    [elliot2014]_, [taub2018]_

    .. math:: CAP_i = \frac{s_{q_i t_i}}{s_{q_i}}, \qquad CAP_i = 0 \text{ if } s_{q_i} = 0.

    The value is the mean over people and then over targets (DCAP). Read it against the baseline in
    the details, where targets are drawn from all released records, keys unseen. There are also:

    * ``matched``: share of people whose keys occur in the release, and the mean CAP among them;
    * ``tcap``: for released records whose keys allow one target value only and occur in the
      original, the share of people with these keys who have this value, on average;
    * ``disco``: share of people whose keys allow one target value only in the release, the right
      one [raab2024]_.

    Numeric targets are cut into quantile groups of the original first. Of a target that was
    recoded, only the broader value is attributed; the person's own is then guessed with the share
    that it has among the original values recoded alike, by which :math:`CAP_i` is multiplied.

    Examples
    --------
    >>> import tacit
    >>> from tacit import risk
    >>> data = tacit.datasets.census(500)
    >>> found = risk.CorrectAttribution(keys=["sex", "region"], targets=["occupation"]).measure(
    ...     data
    ... )
    >>> found.value > found.details["by_target"]["occupation"]["baseline"]
    True
    """

    default: ClassVar[bool] = False

    keys: Columns | None = None
    """Columns an intruder knows; by default the columns with the role of a key."""
    targets: Columns | None = None
    """Columns an intruder wants to learn; by default those with the role confidential."""
    bins: Annotated[int, Ge(2)] = 10
    """Quantile groups into which numeric targets are cut."""

    def objection(self, original: Microdata) -> str | None:
        """Say that there are no keys or no confidential columns."""
        if self.targets is None and not original.schema.confidential:
            return _NO_TARGET
        return objection_without_keys(original, self.keys)

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the mean probability of a correct attribution."""
        both = pair(original, release)
        keys = shared_keys(original, release, self.keys, by=self.key)
        targets, gone = self._targets(both, keys)
        found = {name: attribution(keys, *self._codes(both, name)) for name in targets}
        per_person = np.column_stack([cap for cap, _ in found.values()])
        counted = ~np.isnan(per_person)
        n_counted = counted.sum(axis=1)
        total = np.where(counted, per_person, 0.0).sum(axis=1)
        by_target = {name: numbers for name, (_, numbers) in found.items()}
        values = [n["dcap"] for n in by_target.values() if not np.isnan(n["dcap"])]
        value = float(np.mean(values)) if values else float("nan")
        return Measurement(
            key=self.key,
            title=self.title,
            value=value,
            better="lower",
            bounds=(0.0, 1.0),
            unit="percent",
            units="original",
            per_unit=np.divide(
                total, n_counted, out=np.full(len(total), np.nan), where=n_counted > 0
            ),
            details={"keys": keys.names, "by_target": by_target, "targets_removed": gone},
            explanation=_explanation(value, keys.names, by_target),
            warnings=(*keys.warnings, *text_warnings(both, targets)),
        )

    def _targets(self, both: Pair, keys: SharedKeys) -> tuple[list[str], list[str]]:
        """Return the targets that the release has, and those it lacks."""
        schema = both.original.schema
        wanted = list(self.targets) if self.targets is not None else schema.names(Role.CONFIDENTIAL)
        schema.require(wanted)
        known = [name for name in wanted if name in keys.names + keys.removed]
        if known and self.targets is not None:
            raise DataError(f"{self.key}: {known[0]!r} cannot be a key and a target at once")
        wanted = [name for name in wanted if name not in known]
        present = [name for name in wanted if name in both.released.schema]
        if not present:
            raise DataError(
                f"{self.key}: the release has nothing to attribute" if wanted else _NO_TARGET,
                do="name targets that both files have",
            )
        return present, [name for name in wanted if name not in present]

    def _codes(self, both: Pair, name: str) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Codes of a target on both sides, and how surely its code gives a person's value.

        Numbers are taken by quantile group of the original.
        """
        is_numeric = all(
            side.lazy.collect_schema()[name].is_numeric() for side in (both.original, both.released)
        )
        if not is_numeric:
            before, after = joint_codes(both, name)
            return before, after, _fineness(encode(both.original, [name])[:, 0], before)
        sides = [_column(side, name) for side in (both.original, both.released)]
        groups = quantile_groups(sides[0], sides[1], self.bins)
        before, after = (np.where(np.isnan(g), -1, g).astype(np.int64) for g in groups)
        return before, after, np.ones(len(before))


def _column(data: Microdata, name: str) -> np.ndarray:
    return as_numbers(collect(data.lazy.select(name))[name])


def _fineness(values: np.ndarray, recoded: np.ndarray) -> np.ndarray:
    """Return the share that each value has among those that were recoded like it."""
    sizes = [np.bincount(codes + 1)[codes + 1] for codes in (values, recoded)]
    return np.asarray(sizes[0] / sizes[1])


def attribution(
    keys: SharedKeys, target: np.ndarray, released_target: np.ndarray, fineness: np.ndarray
) -> tuple[np.ndarray, dict[str, float]]:
    """Return each person's CAP (NaN if their target is missing), and the numbers for the file."""
    n = len(keys.original)
    cells, n_cells = group_ids(
        np.column_stack(
            [
                np.concatenate([keys.original, keys.released]),
                np.concatenate([target, released_target]),
            ]
        )
    )
    own, other = cells[:n], cells[n:]
    right = np.bincount(other, minlength=n_cells)[own]
    matching = keys.in_release
    cap = fineness * np.divide(right, matching, out=np.zeros(n), where=matching > 0)
    counted = target >= 0
    share = np.bincount(released_target[released_target >= 0], minlength=int(target.max()) + 1)
    baseline = fineness[counted] * share[target[counted]] / len(released_target)
    numbers = {
        "dcap": _mean(cap[counted]),
        "baseline": _mean(baseline),
        "matched": _mean(matching[counted] > 0),
        "cap_among_matched": _mean(cap[counted & (matching > 0)]),
        "tcap": _targeted(keys, own, other, released_target, fineness),
        "disco": _mean(cap[counted] == 1.0),
    }
    return np.where(counted, cap, np.nan), numbers


def _targeted(
    keys: SharedKeys,
    own: np.ndarray,
    other: np.ndarray,
    released_target: np.ndarray,
    fineness: np.ndarray,
) -> float:
    """Mean share of right attributions over released records whose keys allow one target only."""
    n_cells = max(int(own.max()), int(other.max())) + 1
    n_keys = max(int(keys.original.max()), int(keys.released.max())) + 1
    in_cell = np.bincount(other, minlength=n_cells)[other]
    in_class = np.bincount(keys.released, minlength=n_keys)[keys.released]
    people = np.bincount(keys.original, minlength=n_keys)[keys.released]
    tells = (in_cell == in_class) & (people > 0) & (released_target >= 0)
    right = np.bincount(own, weights=fineness, minlength=n_cells)[other]
    return _mean(right[tells] / people[tells])


def _mean(values: np.ndarray) -> float:
    return float(np.mean(values)) if len(values) else float("nan")


def _explanation(value: float, keys: list[str], by_target: dict[str, dict[str, float]]) -> str:
    if np.isnan(value):
        return "No person has a value to attribute."
    baseline = np.mean([n["baseline"] for n in by_target.values() if not np.isnan(n["baseline"])])
    return (
        f"An intruder who knows {', '.join(keys)} of a person and takes the value of "
        f"{', '.join(by_target)} from a released record with these keys is right with probability "
        f"{100 * value:.3g} %; without looking at the keys it is {100 * baseline:.3g} %."
    )
