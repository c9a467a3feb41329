"""How attackers ask a server: answers are kept, requests are counted, refusals are silence."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from tacit.attack.knowledge import Knowledge
from tacit.attack.target import QueryTarget

Conditions = Mapping[str, Any]


class Asker:
    """An attacker's end of a server: a limit of requests, and a memory of the answers."""

    def __init__(self, server: Any, limit: int | None = None) -> None:
        self._server, self._limit = server, limit
        self._known: dict[str, Any] = {}
        self.n_asked = self.n_refused = 0

    def ask(self, request: Mapping[str, Any]) -> Any | None:
        """Return the answer, or nothing where it is refused or the limit is reached."""
        text = json.dumps(request, sort_keys=True, default=str)
        if text not in self._known:
            self._known[text] = self._asked(request)
        return self._known[text]

    def _asked(self, request: Mapping[str, Any]) -> Any | None:
        if self._limit is not None and self.n_asked >= self._limit:
            return None
        self.n_asked += 1
        answer = self._server.ask(dict(request))
        self.n_refused += answer.is_refusal
        return None if answer.is_refusal else answer

    def counts(self, by: str, universe: Any) -> dict[str, float] | None:
        """Return the counts of a variable's categories in a universe, if all are told."""
        answer = self.ask({"method": "crosstab", "by": [by], "universe": universe})
        if answer is None or "count" not in answer.columns:
            return None
        found = dict(zip(answer.columns[by], answer.columns["count"], strict=True))
        return None if None in found.values() else found

    def warnings(self) -> tuple[str, ...]:
        """Say that nothing was learnt because nothing was answered."""
        if self.n_asked and self.n_refused == self.n_asked:
            return (
                "The server refused every request of this attack: that shows what it refuses, not "
                "what its noise withstands.",
            )
        return ()

    def told(self) -> dict[str, int]:
        """Return how many requests were made and how many were refused."""
        return {"requests": self.n_asked, "refused": self.n_refused}


@dataclass(frozen=True)
class Victim:
    """Somebody of whom an intruder knows categories that nobody else has together."""

    row: int
    known: dict[str, str]
    """What is known, without the one category that sets them apart."""
    apart: str
    """The variable that sets them apart."""
    others: list[str]
    """Its other categories, that the rest of the group has."""
    truth: str
    """Category of the secret variable."""
    own: str = field(default="")
    """Their own category of the variable that sets them apart."""

    @property
    def rest(self) -> dict[str, Any]:
        """The group without the victim."""
        return {**self.known, self.apart: self.others}


def secret_of(target: QueryTarget, named: str | None = None) -> str | None:
    """Return the variable to be learnt: a confidential one, preferably of few categories."""
    if named is not None:
        return named if named in target.variables else None
    wanted = [c for c in target.data.schema.confidential if c in target.variables]
    return min(wanted, key=lambda c: len(_values(target, c)), default=None)


def _values(target: QueryTarget, name: str) -> list[str]:
    known = target.variables[name]
    return list(known.get("categories") or known["bins"])


def known_variables(target: QueryTarget, knowledge: Knowledge, secret: str) -> list[str]:
    """Return the variables that the intruder knows about everybody."""
    names = knowledge.columns or target.data.schema.keys
    return [name for name in names if name in target.variables and name != secret]


def victims(target: QueryTarget, knowledge: Knowledge, secret: str, most: int) -> list[Victim]:
    """Find people who differ from a whole group in one category only, the largest groups first.

    Large groups are what a server answers about, so these people are attacked first.
    """
    names = known_variables(target, knowledge, secret)
    if not names:
        return []
    labels = {name: target.labels(name).astype(str) for name in names}
    truth = target.labels(secret)
    codes = np.column_stack([np.unique(labels[n], return_inverse=True)[1] for n in names])
    groups = [_group_ids(np.delete(codes, k, axis=1)) for k in range(len(names))]
    sizes = np.stack([np.bincount(g)[g] for g in groups])
    alone = _sizes(codes) == 1
    rows = np.flatnonzero(alone & (sizes.max(axis=0) >= 2))
    rows = knowledge.rng.permutation(rows)
    rows = rows[np.argsort(-sizes.max(axis=0)[rows], kind="stable")][:most]
    found = []
    for row in rows:
        best = int(np.argmax(sizes[:, row]))
        inside = np.flatnonzero(groups[best] == groups[best][row])
        found.append(_victim(int(row), names, best, inside, labels, str(truth[row])))
    return found


def _group_ids(codes: np.ndarray) -> np.ndarray:
    from tacit.core.keys import group_ids

    return group_ids(codes)[0] if codes.shape[1] else np.zeros(len(codes), dtype=np.int64)


def _sizes(codes: np.ndarray) -> np.ndarray:
    ids = _group_ids(codes)
    return np.asarray(np.bincount(ids)[ids])


def _victim(
    row: int,
    names: list[str],
    best: int,
    inside: np.ndarray,
    labels: Mapping[str, np.ndarray],
    truth: str,
) -> Victim:
    """Describe a person by the group they are in and the category that sets them apart."""
    apart = names[best]
    own = str(labels[apart][row])
    others = sorted({str(v) for v in labels[apart][inside]} - {own})
    known = {n: str(labels[n][row]) for n in names if n != apart}
    return Victim(row, known, apart, others, truth, own)


def most_common(target: QueryTarget, name: str) -> str:
    """Return the category that somebody most likely has, the rest being unknown."""
    levels = target.levels(name)
    return max(levels, key=lambda category: levels[category])
