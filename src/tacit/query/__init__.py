"""Queryable databases: the parts of a remote analysis server that answers safely."""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit.query.cutpoints import Cutpoints as Cutpoints
    from tacit.query.drop_q import drop_q_bounds as drop_q_bounds
    from tacit.query.drop_q import drop_q_disclosure as drop_q_disclosure
    from tacit.query.drop_q import simulate_differencing as simulate_differencing

from tacit.query.cutpoints import cutpoints as cutpoints

_HOMES = {
    "cutpoints": ("Cutpoints",),
    "drop_q": ("drop_q_bounds", "drop_q_disclosure", "simulate_differencing"),
}
_home_of = {name: module for module, names in _HOMES.items() for name in names}
__all__ = sorted({"cutpoints", *_home_of})


def __getattr__(name: str) -> Any:
    if name in _home_of:
        return getattr(importlib.import_module(f"tacit.query.{_home_of[name]}"), name)
    raise AttributeError(f"tacit.query has no {name!r}; known: {', '.join(__all__)}")
