"""What the linkage measures report: each person's chance of being linked, and the counts."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.families import Risk
from tacit.core.measurement import Measurement, counted
from tacit.core.pairing import Pair


def linkage_measurement(
    measure: Risk,
    both: Pair,
    share: np.ndarray,
    names: Sequence[str],
    *,
    details: Mapping[str, Any],
    warnings: tuple[str, ...],
) -> Measurement:
    """Report the chance of a right link, for each original record and on average."""
    return Measurement(
        key=measure.key,
        title=measure.title,
        value=float(share.mean()),
        better="lower",
        bounds=(0.0, 1.0),
        unit="percent",
        per_unit=share,
        units="original",
        details={**details, **_link_counts(both, share)},
        explanation=_explanation(share, names),
        warnings=warnings,
    )


def _link_counts(both: Pair, share: np.ndarray) -> dict[str, Any]:
    at, _ = both.matched
    released = np.zeros(len(share), dtype=bool)
    released[at] = True
    return {
        "records": len(share),
        "records_released": int(released.sum()),
        "expected_links": float(share.sum()),
        "certain_links": int(np.sum(share >= 1.0)),
        "linked_among_released": float(share[released].mean()),
        "by_chance": 1.0 / both.released.n_records,
    }


def _explanation(share: np.ndarray, names: Sequence[str]) -> str:
    """Say in words how many people an intruder finds."""
    return (
        f"An intruder who knows {', '.join(names)} of {counted(len(share), 'person', 'people')} is "
        f"expected to link {share.sum():,.1f} of them with their own record "
        f"({100 * share.mean():.3g} %)."
    )


def objection_to_size(original: Microdata, largest: int) -> str | None:
    """Say that a file is too large to be linked as a matter of course."""
    if original.n_records <= largest:
        return None
    return (
        f"{counted(original.n_records, 'record')} are linked only on request: "
        f"raise largest_file above {largest:,}"
    )
