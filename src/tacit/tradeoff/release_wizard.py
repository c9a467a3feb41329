"""The wizard: from data with roles and a target to releases that meet it, with reasons."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

from tacit.core.atomic import new_folder
from tacit.core.data import Microdata
from tacit.core.errors import DataError, ProtectionError, SchemaError, WriteError
from tacit.core.measurement import counted
from tacit.core.plan import Plan
from tacit.core.progress import track
from tacit.core.release import Release
from tacit.core.scorecard import Scorecard
from tacit.tradeoff._proposals import Proposal as Proposal
from tacit.tradeoff._proposals import proposals as proposals
from tacit.tradeoff.attack_gain import attack_conditions
from tacit.tradeoff.effort import Effort
from tacit.tradeoff.exposed_numbers import blurred
from tacit.tradeoff.frontier import Frontier, Point, maximal
from tacit.tradeoff.information_kept import InformationKept
from tacit.tradeoff.objective import Condition
from tacit.tradeoff.plan_search import search
from tacit.tradeoff.space import Candidate, Varied
from tacit.tradeoff.target import KeptAnalysis, Linkable, Target

EFFORT = Effort(evaluations=60, seconds=45, sample=5000, replicates=2)
"""Enough for a first answer within two minutes on two cores."""
_STRENGTHS = (0.5, 0.0, 0.999, 0.25, 0.75)
"""Where in their range, from weak to strong, parameters are tried first."""
_MOST_FAILURES = 8
"""Releases that may break their word before the wizard gives up."""
_PARTS = ("map.html", "plans", "wizard.md")


@dataclass(frozen=True, eq=False)
class Choice:
    """One of the releases that the wizard offers."""

    name: str
    """``safest``, ``balanced`` or ``most-useful``."""
    point: Point
    """Where it stands on the map."""
    release: Release
    """The release itself, made from all records."""
    words: str
    """Why one would take it."""

    @cached_property
    def scorecard(self) -> Scorecard:
        """All default measures of the release."""
        return self.release.measure()


@dataclass(frozen=True, eq=False)
class Outcome:
    """What the wizard found."""

    target: Target
    """What was asked."""
    proposals: tuple[Proposal, ...]
    """Kinds of plans that were tried, with reasons."""
    frontier: Frontier
    """All releases that were compared."""
    choices: tuple[Choice, ...]
    """Up to three releases that meet the target, safest first; none if no plan meets it."""
    closest: Point | None = None
    """The release that comes nearest, where none meets the target."""

    @property
    def is_met(self) -> bool:
        """Whether a release meets the target."""
        return bool(self.choices)

    def __getitem__(self, name: str) -> Choice:
        for choice in self.choices:
            if choice.name == name:
                return choice
        raise KeyError(name)

    @property
    def words(self) -> str:
        """Say what was asked, tried and found, in plain words."""
        from tacit.tradeoff._wizard_words import outcome_words

        return outcome_words(self)

    def __str__(self) -> str:
        return self.words

    def save(self, folder: str | Path, *, format: str = "csv", force: bool = False) -> Path:
        """Write the releases, their plans, the map and the explanation, whole or not at all."""
        if not self.is_met:
            raise ProtectionError(
                "no plan meets the target, so nothing is released", do="loosen the target"
            )
        folder = Path(folder)
        if force:
            _check_replaceable(folder)
        with new_folder(folder, force=force) as scratch, track("writing", 3) as advance:
            (scratch / "plans").mkdir()
            for choice in self.choices:
                choice.release.save(scratch / choice.name, format=format)
                choice.release.plan.save(scratch / "plans" / f"{choice.name}.toml")
                advance(1)
            self.frontier.save(scratch / "map.html")
            (scratch / "wizard.md").write_text(self.words + "\n", encoding="utf-8")
        return folder


def wizard(
    data: Any,
    target: Target | str | None = None,
    *,
    attacks: Iterable[Any] = (),
    max_success_over_baseline: float = 0.05,
    blur: bool = False,
    effort: Effort = EFFORT,
    seed: int | None = None,
    storage: str | Path | None = None,
) -> Outcome:
    """Propose plans for a target, search among them, and offer three releases that meet it.

    Parameters
    ----------
    data
        Microdata with roles: at least the keys must be declared.
    target
        What a release must meet, as a `Target` or in words such as ``"k >= 5; at most 5 %
        linkable; keep the regression of income on age"``.
    attacks
        Attacks on records, or their keys, that a release must withstand.
    max_success_over_baseline
        By how much each of them may succeed more often than guessing.
    blur
        Whether confidential numbers become means of three neighbours, where the target is still
        met; otherwise the plans leave alone what the target does not speak of.
    effort
        How much work may be done.
    seed
        Same seed, same releases.
    storage
        A file that keeps finished evaluations, so that a stopped search with the same seed goes on.

    Examples
    --------
    >>> import tacit
    >>> from tacit import tradeoff
    >>> data = tacit.datasets.patients(300)
    >>> few = tradeoff.Effort(evaluations=4, replicates=1)
    >>> outcome = tradeoff.wizard(data, "k >= 3", effort=few, seed=1)
    >>> outcome.is_met, outcome.choices[0].name
    (True, 'safest')
    """
    original = Microdata.of(data)
    if not original.schema.has_roles:
        raise SchemaError(
            "no column has a role, so nothing says what to protect",
            do="declare them with with_roles, or take those of tacit.suggest_roles",
        )
    wanted = (
        Target() if target is None else Target.of(target) if isinstance(target, str) else target
    )
    conditions = (
        *wanted.conditions(original), *attack_conditions(attacks, max_success_over_baseline),
    )  # fmt: skip
    _check_size(original, wanted)
    with track("looking for methods that fit the columns", None):
        offered = proposals(original, wanted)
    if not offered:
        raise DataError("no method fits these columns", do="declare roles and kinds")
    front = search(
        original,
        [p.candidate for p in offered],
        budget=effort,
        conditions=conditions,
        start=_first_plans(offered),
        risk=Linkable() if original.schema.keys else None,
        utility=_useful(wanted) if original.schema.keys else None,
        seed=seed,
        storage=storage,
    )
    return _outcome(wanted, tuple(offered), front, conditions, blur=blur)


def _check_size(original: Microdata, target: Target) -> None:
    """Refuse what no plan can meet, whatever it does."""
    n = original.n_records
    if n == 0:
        raise DataError("there is no record to protect")
    if target.k is not None and n < target.k:
        raise ProtectionError(
            f"no plan can meet the target: groups of {target.k} need as many records",
            got=counted(n, "record"),
            do="ask for a smaller k, or release nothing",
        )


def _first_plans(offered: Sequence[Proposal]) -> list[Plan]:
    """Return the plainest plans, so that every proposal has its turn and all strengths are seen."""
    plans = [_plainest(proposal.candidate, u) for u in _STRENGTHS for proposal in offered]
    return list({plan.to_toml(): plan for plan in plans}.values())


def _plainest(candidate: Candidate, u: float) -> Plan:
    """Return the plan of the first method at each place, its parameters at one strength."""
    options = [
        (0, (u,) * len(place[0].spaces) if isinstance(place[0], Varied) else ())
        for place in candidate.places
    ]
    return candidate.plan(options)


def _useful(target: Target) -> list[Any]:
    """Return what makes a release useful: information, and the analyses that are to be kept."""
    return [InformationKept(), *(KeptAnalysis(analysis=a) for a in target.keep)]


def _outcome(
    target: Target, offered: tuple[Proposal, ...], front: Frontier, conditions: Any, *, blur: bool
) -> Outcome:
    with track("making the releases", 3) as advance:
        choices, missed = _choices(front, conditions)
        if blur:
            choices = tuple(replace(c, release=blurred(c.release, conditions)) for c in choices)
        advance(3)
    closest = None if choices else missed or _closest(front)
    return Outcome(target, offered, front, choices, closest)


def _choices(
    front: Frontier, conditions: tuple[Condition, ...]
) -> tuple[tuple[Choice, ...], Point | None]:
    """Return the releases to offer, each measured once more, and one that did not keep its word.

    A search that was stopped early may have seen only a sample.
    """
    met = [p for p in front.tried if p.is_met]
    releases: dict[int, Release] = {}
    missed = None
    for _ in range(_MOST_FAILURES):
        picked = _three(met) if met else {}
        failed = None
        for point in picked.values():
            if id(point) not in releases:
                releases[id(point)] = front.release(point)
                failed = _not_kept(point, releases[id(point)], conditions)
            if failed is not None:
                missed, met = failed, [p for p in met if p is not point]
                break
        if failed is None:
            found = [Choice(n, p, releases[id(p)], _why(n)) for n, p in picked.items()]
            return tuple(found), missed
    return (), missed


def _not_kept(point: Point, release: Release, conditions: tuple[Condition, ...]) -> Point | None:
    """Measure the conditions on the very records that would go out; return the point if missed."""
    values = {c.words: c.value(release.original, release) for c in conditions}
    gaps = {c.words: c.shortfall(values[c.words]) for c in conditions}
    if not any(gaps.values()):
        return None
    return replace(point, conditions=values, shortfalls=gaps, records=release.data.n_records)


def _closest(front: Frontier) -> Point | None:
    return min(front.tried, key=lambda p: (p.shortfall, p.risk), default=None)


def _three(points: list[Point]) -> dict[str, Point]:
    """Pick the safest, the most useful, and the one that gives up least of either."""
    front = maximal(points)
    safest, useful = front[0], front[-1]
    between = [p for p in front if p is not safest and p is not useful]
    found = {"safest": safest}
    if between:
        found["balanced"] = max(between, key=lambda p: _balance(p, safest, useful))
    if useful is not safest:
        found["most-useful"] = useful
    return found


def _balance(point: Point, safest: Point, useful: Point) -> float:
    """Return gain in utility less gain in risk, each as a share of the way between the ends."""
    utility = (point.utility - safest.utility) / max(useful.utility - safest.utility, 1e-12)
    risk = (point.risk - safest.risk) / max(useful.risk - safest.risk, 1e-12)
    return utility - risk


def _why(name: str) -> str:
    return {
        "safest": "the lowest risk of all plans that meet the target",
        "balanced": "most of the utility for little of the risk",
        "most-useful": "the highest utility of all plans that meet the target",
    }[name]


def _check_replaceable(folder: Path) -> None:
    """Refuse to replace a folder that the wizard did not write."""
    if not folder.is_dir():
        return
    names = {p.name for p in folder.iterdir()}
    known = {*_PARTS, "safest", "balanced", "most-useful"}
    if names and (names - known or "wizard.md" not in names):
        raise WriteError(
            "the output folder holds other files and will not be replaced",
            got=str(folder),
            do="choose another folder",
        )
