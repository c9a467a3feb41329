"""tacit: statistical disclosure control for microdata, tables and queryable databases.

Examples
--------
>>> import tacit
>>> from tacit import mask
>>> data = tacit.datasets.patients()
>>> release = tacit.Plan([mask.Mdav(columns=["Age"], k=2)]).apply(data, seed=7)
>>> release.frame.columns
['Age', 'State', 'Diagnosis', 'Income', 'Billing']
"""

import importlib
from typing import TYPE_CHECKING, Any

from tacit.core.constraints import AtLeast, NonNegative, ZeroWhen
from tacit.core.data import Microdata
from tacit.core.hierarchy import Intervals, Prefixes, Tree
from tacit.core.method import find, methods
from tacit.core.plan import Plan
from tacit.core.release import Release
from tacit.core.schema import Kind, Role, Schema

if TYPE_CHECKING:
    from tacit import datasets, mask, risk, utility
    from tacit.io.hierarchies import read_hierarchy
    from tacit.io.read import read
    from tacit.io.replay import replay
    from tacit.io.write import write
    from tacit.suggest import suggest_roles

__version__ = "0.1.0"

_LAZY = {
    "read": "tacit.io.read",
    "write": "tacit.io.write",
    "replay": "tacit.io.replay",
    "read_hierarchy": "tacit.io.hierarchies",
    "suggest_roles": "tacit.suggest",
}
_PACKAGES = ("datasets", "mask", "risk", "utility", "report", "io")

__all__ = [
    "AtLeast",
    "Intervals",
    "Kind",
    "Microdata",
    "NonNegative",
    "Plan",
    "Prefixes",
    "Release",
    "Role",
    "Schema",
    "Tree",
    "ZeroWhen",
    "datasets",
    "find",
    "mask",
    "methods",
    "read",
    "read_hierarchy",
    "replay",
    "risk",
    "suggest_roles",
    "utility",
    "write",
]


def __getattr__(name: str) -> Any:
    """Import heavier parts when they are first used, so that ``import tacit`` stays light."""
    if name in _LAZY:
        return getattr(importlib.import_module(_LAZY[name]), name)
    if name in _PACKAGES:
        return importlib.import_module(f"tacit.{name}")
    raise AttributeError(f"module 'tacit' has no attribute {name!r}")


def __dir__() -> list[str]:
    return sorted(set(__all__) | set(globals()))
