"""One task of the harness: how we do it, and what it is compared with."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

Work = Callable[[], Any]


@dataclass(frozen=True)
class Capability:
    """One task: how we do it, and what it is compared with."""

    key: str
    title: str
    sizes: tuple[int, ...]
    ours: Callable[[int], Work]
    """Set the task up for n records; the call is what is timed."""
    limit: tuple[str, Callable[[int], Work]]
    """The bare work; a call that returns a number has measured its seconds itself."""
    peers: tuple[str, ...] = ()
    """Cases of peer_cases.py, which run live where the peer is installed."""
    peer_sizes: tuple[int, ...] = ()
    """Sizes the peers can manage, if not all."""
    data: Callable[[int], Any] | None = None
    """The file that the peers read."""
    quoted: Mapping[str, Mapping[int, float]] = field(default_factory=dict)
    quality: Callable[[Any], str] = lambda _: ""
    """What is to be said of our answer, so that speed is not bought with quality."""
    judge: Callable[[int, Any], str] | None = None
    """Say in the same words what a peer's answer is worth."""
    tiny: int = 300
    """Records of a quick run."""
