"""What the linkage attacks have in common: chances per person, guessing, the worst case."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tacit.attack.finding import Outcome
from tacit.attack.microdata._affected import affected_groups
from tacit.attack.target import MicrodataTarget
from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.families import Risk
from tacit.core.measurement import counted
from tacit.core.pairing import pair


def unlinked(target: MicrodataTarget, names: Sequence[str]) -> str | None:
    """Say why nobody can be linked."""
    if not names:
        return "the release has no column that the intruder knows"
    if not target.has_own_records:
        return "no released record is that of a person"
    return None


def can_be_compared(target: MicrodataTarget, names: Sequence[str]) -> bool:
    """Whether every column known has values that can be set beside the original ones."""
    from tacit.risk._linkage_fields import linkage_fields

    try:
        linkage_fields(target.pair, names)
    except DataError:
        return False
    return True


def not_compared(names: Sequence[str]) -> tuple[str, ...]:
    """Say that columns were not used because their labels in the release are other ones."""
    if not names:
        return ()
    return (
        f"The labels of {', '.join(names)} cannot be set beside the original ones, so the attack "
        "does without them; an intruder who can place people in them learns more.",
    )


def own_class_chances(target: MicrodataTarget, names: Sequence[str]) -> np.ndarray:
    """Return each original's chance to be picked among the records that are equal to its own."""
    found = [_class_chances(target.original, one, list(names)) for one in target.data_sets]
    return np.asarray(np.mean(found, axis=0))


def _class_chances(original: Microdata, released: Microdata, names: list[str]) -> np.ndarray:
    from tacit.core.keys import encode, group_ids

    ids, n_classes = group_ids(encode(released, names))
    sizes = np.bincount(ids, minlength=n_classes)
    at, to = pair(original, released).matched
    chance = np.zeros(original.n_records)
    chance[at] = 1.0 / sizes[ids[to]]
    return chance


def linked_with_views(
    measure: Risk, target: MicrodataTarget, file: Microdata
) -> tuple[np.ndarray, tuple[str, ...]]:
    """Return each original's chance of being linked, the mean of what the data sets allow."""
    found = [measure.measure(file, view) for view in target.views]
    chances = np.mean([np.asarray(one.per_unit) for one in found], axis=0)
    return chances, found[0].warnings


def link_question(scenario: str, names: Sequence[str]) -> str:
    """Say what the intruder tries."""
    known = ", ".join(names)
    return {
        "prosecutor": f"Find the record of somebody known to be in the release, from {known}",
        "journalist": f"Find the record of somebody who may be in the release, from {known}",
        "marketer": f"Name the people behind as many records as possible, from {known}",
    }[scenario]


def linked_outcome(
    target: MicrodataTarget,
    chance: np.ndarray,
    chosen: np.ndarray,
    names: Sequence[str],
    *,
    question: str,
    details: Mapping[str, Any],
    warnings: tuple[str, ...] = (),
) -> Outcome:
    """Return chances of a right link beside that of picking a released record blindly."""
    hits = chance[chosen]
    certain = int(np.sum(hits >= 1.0))
    return Outcome(
        hits=hits,
        guesses=1.0 / max(target.released.n_records, 1),
        question=question,
        positions=chosen,
        worst=f"{counted(certain, 'person', 'people')} linked with certainty"
        if certain
        else f"the most exposed person is found with chance {hits.max(initial=0.0):.2g}",
        details={
            **details,
            "attributes": list(names),
            "certain": certain,
            "expected_links": float(hits.sum()),
            "affected": affected_groups(target.original, chosen, hits > 0.5),
        },
        warnings=warnings,
    )
