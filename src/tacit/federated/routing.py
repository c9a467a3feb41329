"""The coordinator's part in exchanges between pairs: it deals random factors and passes on."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from itertools import combinations
from typing import Any, Protocol, TypeVar

import numpy as np

from tacit.federated import messages as m
from tacit.federated.alignment import TAG_BYTES, intersect
from tacit.federated.joint_leverage import deal_rows
from tacit.federated.matrix_product import PRODUCT, Dealt, deal
from tacit.federated.stopped import StoppedError

Reply = TypeVar("Reply", bound=m.Message)
Deal = Callable[[str, str], tuple[Dealt, Dealt]]


class Asking(Protocol):
    """Asks all agencies of a computation, and stops if one of them does not answer."""

    at: dict[str, Any]
    """Number of the computation and of the step."""

    def __call__(
        self, wanted: type[Reply], request: Callable[[str], m.Message]
    ) -> dict[str, Reply]:
        """Return the answer of every agency."""


def align(ask: Asking) -> int:
    """Let the agencies agree on a key, compare their tags, and hand out the common ones.

    Returns the number of common units; which they are the coordinator cannot tell.
    """
    keys = ask(m.Public, lambda _: m.AskPublic(**ask.at))
    parts = ask(m.Parts, lambda _: m.AskParts(**ask.at, keys=keys))
    for name, given in parts.items():
        if set(given.sealed) != set(parts) - {name}:
            raise StoppedError("an agency sent no proper key", {name: "no part for each other"})
    replies = ask(
        m.Tags,
        lambda name: m.AskTags(
            **ask.at, sealed={o: p.sealed[name] for o, p in parts.items() if o != name}
        ),
    )
    common = intersect([_tags(name, replies[name].payload) for name in sorted(replies)], at_least=0)
    ask(m.Aligned, lambda _: m.AskAligned(**ask.at, payload=common.tobytes()))
    return len(common)


def multiply(ask: Asking, n: int, widths: Mapping[str, int]) -> None:
    """Let every pair get shares of the products of their variables."""
    _exchange(ask, "products", sorted(widths), lambda k, j: deal(n, widths[k], widths[j]))


def square_leverages(ask: Asking, n: int, names: Sequence[str], n_scores: int) -> None:
    """Let every pair get shares of leverages, and of the sum of their squares."""
    _exchange(ask, "leverages", sorted(names), lambda k, j: deal_rows(n, n_scores))
    _exchange(ask, "squares", sorted(names), lambda k, j: deal(n, 1, 1))


def _exchange(ask: Asking, round_: m.Round, names: list[str], deal_pair: Deal) -> None:
    """Deal factors to each pair and pass on what they hide under them, which only they can open."""
    dealt: dict[str, dict[str, Dealt]] = {name: {} for name in names}
    for one, other in combinations(names, 2):
        dealt[one][other], dealt[other][one] = deal_pair(one, other)
    hidden = ask(m.Hidden, lambda name: _dealing(ask, round_, dealt[name]))
    sent = {name: _cut(name, names, hidden[name].payload) for name in names}
    ask(
        m.Joined,
        lambda name: m.AskJoined(
            **ask.at, round=round_, payload=b"".join(sent[o][name] for o in names if o != name)
        ),
    )


def _dealing(ask: Asking, round_: m.Round, dealt: Mapping[str, Dealt]) -> m.AskHidden:
    products = (PRODUCT.pack(dealt[name].product) for name in sorted(dealt))
    seeds = {name: one.seed.hex() for name, one in dealt.items()}
    return m.AskHidden(**ask.at, round=round_, seeds=seeds, payload=b"".join(products))


def _cut(name: str, names: list[str], payload: bytes) -> dict[str, bytes]:
    """Return what an agency sent to each other one: texts of one size, in order of names."""
    others = [other for other in names if other != name]
    size, rest = divmod(len(payload), len(others))
    if rest:
        raise StoppedError("an agency sent something else", {name: "texts of the wrong shape"})
    return {other: payload[i * size : (i + 1) * size] for i, other in enumerate(others)}


def _tags(name: str, payload: bytes) -> np.ndarray:
    tags = np.frombuffer(payload[: len(payload) // TAG_BYTES * TAG_BYTES], dtype=f"S{TAG_BYTES}")
    if len(payload) % TAG_BYTES or np.any(tags[1:] <= tags[:-1]):
        raise StoppedError("an agency sent no proper tags", {name: "tags of the wrong shape"})
    return tags
