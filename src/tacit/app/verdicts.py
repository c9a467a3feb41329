"""One verdict on a masked version: safe enough or not, and by which thresholds."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from tacit.core.errors import TacitError

if TYPE_CHECKING:
    from tacit.core.release import Release
    from tacit.tradeoff.objective import Condition


def verdict(release: Release, target: str) -> dict[str, Any]:
    """Measure a release against a target in words, as the wizard would.

    Examples
    --------
    >>> import tacit
    >>> found = verdict(tacit.Plan([]).apply(tacit.datasets.patients(), seed=1), "k >= 5")
    >>> found["met"], found["conditions"][0]["found"]
    (False, '1')
    """
    from tacit.tradeoff import Target

    try:
        conditions = Target.of(target).conditions(release.original)
    except TacitError as error:
        return {"target": target, "met": None, "conditions": [], "reason": str(error)}
    found = [_measured(condition, release) for condition in conditions]
    met = all(condition["met"] for condition in found)
    return {"target": target, "met": met, "conditions": found, "reason": ""}


def _measured(condition: Condition, release: Release) -> dict[str, Any]:
    try:
        value = condition.value(release.original, release)
    except TacitError as error:
        return {"words": condition.words, "met": False, "found": f"not measured: {error}"}
    share = (condition.at_most or condition.at_least or 2) <= 1
    words = f"{100 * value:.3g} %" if share else f"{value:g}"
    return {"words": condition.words, "met": condition.is_met(value), "found": words}


def standing(release: Release) -> dict[str, list[str]]:
    """Name what a person should know of a release: columns as they were, whole numbers no more."""
    from tacit.tradeoff.exposed_numbers import exposed

    before, after = release.original.local, release.data.local
    both = [name for name in release.data.columns if name in release.original.columns]
    same = [name for name in both if before[name].equals(after[name], null_equal=True)]
    return {
        "unchanged": same,
        "exposed": exposed(release),
        "broken_up": [n for n in both if _was_whole(before[n]) and not _is_whole(after[n])],
    }


def _was_whole(column: Any) -> bool:
    return bool(column.dtype.is_integer())


def _is_whole(column: Any) -> bool:
    """Whether a column holds no number with decimals."""
    if not column.dtype.is_float():
        return True
    return bool((column == column.round(0)).all())


def sentence(measured: dict[str, Any]) -> str:
    """Say in one sentence whether a version is safe enough, and by which thresholds.

    Examples
    --------
    >>> one = {"words": "four others share its keys", "met": False, "found": "1"}
    >>> sentence({"verdict": {"met": False, "conditions": [one], "reason": ""}})
    'Not safe enough; missed: four others share its keys, found 1.'
    """
    found, attacks = measured.get("verdict"), _attacks(measured)
    if found is None:
        return "No verdict: it was made before there were any."
    if found["met"] is None:
        return f"No verdict: {found['reason']}."
    failed = [f"{c['words']}, found {c['found']}" for c in found["conditions"] if not c["met"]]
    if attacks is not None and not attacks["passed"]:
        failed.append("no attack learns more than guessing would, found some that do")
    if failed:
        return f"Not safe enough; missed: {'; '.join(failed)}."
    kept = "; ".join(f"{c['words']}, found {c['found']}" for c in found["conditions"])
    if attacks is None:
        return f"Safe enough by the thresholds, if attacks find nothing: {kept}."
    return f"Safe enough by the thresholds and the attacks: {kept}."


def _attacks(measured: dict[str, Any]) -> dict[str, Any] | None:
    """Return what attacks came to; where none applied, nothing is known."""
    found: dict[str, Any] | None = measured.get("attack")
    return found if found and found.get("findings") else None


def is_safe(measured: dict[str, Any]) -> bool:
    """Whether the thresholds are met and no attack that was run got through."""
    attacks = _attacks(measured)
    return bool((measured.get("verdict") or {}).get("met")) and (
        attacks is None or bool(attacks["passed"])
    )
