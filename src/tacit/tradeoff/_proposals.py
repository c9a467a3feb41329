"""A short list of plans for a target, each with its reason in plain words."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from tacit.core.data import Microdata
from tacit.core.errors import TacitError
from tacit.core.families import Mask
from tacit.core.method import Try, methods
from tacit.core.release import Release
from tacit.tradeoff.candidates import (
    fitting_steps,
    mending_steps,
    plainly,
    probe,
    reason,
    renumbering_steps,
    tried,
)
from tacit.tradeoff.objective import registered
from tacit.tradeoff.space import Between, Candidate, Varied
from tacit.tradeoff.target import Target

_ENOUGH = 400
"""Records on which it is seen whether a method keeps its word."""
_COARSER = 0.8
"""A step coarsens a column if at most this share of its values is left."""
_STRONGER = 8
"""Groups are tried from the size that is asked up to this many times it."""
_SAFER = 4
"""They are also tried up to a size at which so many times fewer people are linkable than may be."""


@dataclass(frozen=True)
class Proposal:
    """Plans of one kind, and why they may reach the target."""

    title: str
    """What is done, in a few words."""
    reason: str
    """Why it may reach the target."""
    candidate: Candidate
    """The plans, with their parameters left open."""


def proposals(data: Microdata, target: Target) -> list[Proposal]:
    """Return kinds of plans that may reach the target; guarantees are found by trying."""
    keys = data.schema.keys
    steps = fitting_steps(data, keys) if keys else []
    last = [*renumbering_steps(data)]
    found = []
    if target.k is not None and keys:
        coarse = _coarsening(data, steps)
        for method in _guarding(data, target):
            found += _with_guard(data, target, method, coarse, last)
    if not found:
        found = _without_guard(data, steps, last)
    return found


# -- methods that keep a promise on the keys --------------------------------------------------


def _guarding(data: Microdata, target: Target) -> list[Varied]:
    """Return the methods that, told to make groups of k on the keys, do so."""
    few = probe(data, _ENOUGH)
    found = []
    for method in methods("mask"):
        if issubclass(method, Mask) and "k" in method.model_fields:
            step = _on_keys(method, data, target)
            release = None if step is None else _tried_weakest(step, few)
            if step is not None and release is not None and _holds(release, target):
                found.append(step)
    return found


def _on_keys(method: type[Mask], data: Microdata, target: Target) -> Varied | None:
    """Fill in the parameters that a target speaks of: keys, k, and how blanks are read."""
    needed = {n for n, f in method.model_fields.items() if f.is_required()}
    if needed - {"columns"}:
        return None
    given: dict[str, Any] = {"k": _group_sizes(target, data.n_records)}
    if needed:
        given["columns"] = tuple(data.schema.keys)
    if "missing" in method.model_fields:
        given["missing"] = target.missing
    try:
        return Varied(method, **given)
    except TacitError:
        return None


def _group_sizes(target: Target, n_records: int) -> Try | Between:
    """Return sizes of groups from the one that is asked to one that is safe beyond the target.

    A person in a group of k is linked with probability 1/k at most.
    """
    k = target.k or 2
    safe = 0 if target.linkable is None else math.ceil(_SAFER / target.linkable)
    most = min(max(_STRONGER * k, safe), n_records // 2)
    return Between(k, most, log=True) if most > k else Try(k)


def _weakest(step: Varied) -> Mask:
    """Return a method with the smallest groups, which a few records can be tried with."""
    return step.filled([0.0] * len(step.spaces))


def _tried_weakest(step: Varied, few: Microdata) -> Release | None:
    """Try the smallest groups; a method may not make groups as small as the target allows."""
    try:
        return tried(_weakest(step), few)
    except TacitError:
        return None


def _holds(release: Release, target: Target) -> bool:
    measure = registered("k-anonymity", "risk", k=target.k or 2, missing=target.missing)
    try:
        found = measure.measure(release.original, release).value
    except TacitError:
        return False
    # A method tried on fewer records than it needs may suppress everything, which also holds.
    return bool(found >= (target.k or 2)) and release.data.n_records == release.original.n_records


def _with_guard(
    data: Microdata,
    target: Target,
    guard: Varied,
    coarse: dict[str, list[Varied]],
    last: Sequence[Mask],
) -> list[Proposal]:
    few = probe(data, _ENOUGH)
    mend = mending_steps(data, [_weakest(guard)])
    ending = [[step] for step in (*mend, *last)]
    keys = ", ".join(data.schema.keys)
    promise = f"It makes sure that at least {target.k} records share their values of {keys}."
    alone = Proposal(
        guard.method.title, f"{promise} {plainly(guard.method)}", Candidate([guard, *ending])
    )
    release = tried(_weakest(guard), few)
    if not coarse or release is None or not _blanks(release):
        return [alone]
    places: list[Any] = [[None, *options] for options in coarse.values()]
    first = ", ".join(coarse)
    both = Proposal(
        f"Coarser keys, then {guard.method.title.lower()}",
        f"{promise} It blanks values of rare records; making {first} coarser first leaves fewer "
        "records rare, so that less is blanked.",
        Candidate([*places, guard, *ending]),
    )
    return [both, alone]


def _blanks(release: Release) -> bool:
    """Whether a release has more gaps in its keys than the original."""
    keys = [c for c in release.original.schema.keys if c in release.data.schema]
    before, after = release.original.local.select(keys), release.data.local.select(keys)
    return bool(sum(after.null_count().row(0)) > sum(before.null_count().row(0)))


def _coarsening(data: Microdata, steps: Sequence[Varied]) -> dict[str, list[Varied]]:
    """Return, for each key, the methods of one column that leave it with fewer values."""
    few = probe(data, _ENOUGH)
    found: dict[str, list[Varied]] = {}
    for step in steps:
        name = step.fixed.get("column")
        release = tried(step, few) if name in data.schema.keys else None
        if release is None or name not in release.data.schema:
            continue
        left = release.data.local[name].n_unique()
        if left <= _COARSER * few.local[name].n_unique():
            found.setdefault(str(name), []).append(step)
    return found


# -- methods that perturb ---------------------------------------------------------------------


def _without_guard(
    data: Microdata, steps: Sequence[Varied], last: Sequence[Mask]
) -> list[Proposal]:
    """Propose every fitting method, where no promise about groups is asked or can be kept."""
    if not steps:
        from tacit.tradeoff.candidates import protected_columns

        steps = fitting_steps(data, protected_columns(data))
    mend = mending_steps(data, steps)
    ending = [[step] for step in (*mend, *last)]
    return [
        Proposal(step.method.title, reason(step.method), Candidate([step, *ending]))
        for step in steps
    ]
