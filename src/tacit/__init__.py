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

if TYPE_CHECKING:
    from tacit import (
        attack,
        client,
        coprivacy,
        datasets,
        federated,
        inference,
        logs,
        mask,
        query,
        report,
        risk,
        tables,
        tradeoff,
        utility,
    )
    from tacit.core.constraints import AtLeast, NonNegative, ZeroWhen
    from tacit.core.data import Microdata
    from tacit.core.errors import TacitError
    from tacit.core.hierarchy import Intervals, Prefixes, Tree
    from tacit.core.method import find, methods
    from tacit.core.plan import Plan
    from tacit.core.release import Release
    from tacit.core.schema import Kind, Role, Schema
    from tacit.io.hierarchies import read_hierarchy
    from tacit.io.read import read
    from tacit.io.replay import replay
    from tacit.io.write import write
    from tacit.suggest import suggest_roles
    from tacit.tables.tabulate import tabulate

__version__ = "0.1.0"

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
    "TacitError",
    "Tree",
    "ZeroWhen",
    "attack",
    "client",
    "coprivacy",
    "datasets",
    "federated",
    "find",
    "inference",
    "logs",
    "mask",
    "methods",
    "query",
    "read",
    "read_hierarchy",
    "replay",
    "report",
    "risk",
    "suggest_roles",
    "tables",
    "tabulate",
    "tradeoff",
    "utility",
    "write",
]

_HOMES = {
    "tacit.core.constraints": ("AtLeast", "NonNegative", "ZeroWhen"),
    "tacit.core.data": ("Microdata",),
    "tacit.core.errors": ("TacitError",),
    "tacit.core.hierarchy": ("Intervals", "Prefixes", "Tree"),
    "tacit.core.method": ("find", "methods"),
    "tacit.core.plan": ("Plan",),
    "tacit.core.release": ("Release",),
    "tacit.core.schema": ("Kind", "Role", "Schema"),
    "tacit.io.hierarchies": ("read_hierarchy",),
    "tacit.io.read": ("read",),
    "tacit.io.replay": ("replay",),
    "tacit.io.write": ("write",),
    "tacit.suggest": ("suggest_roles",),
    "tacit.tables.tabulate": ("tabulate",),
}
_PACKAGES = frozenset(
    {
        "attack",
        "client",
        "coprivacy",
        "core",
        "datasets",
        "federated",
        "inference",
        "io",
        "logs",
        "mask",
        "query",
        "report",
        "risk",
        "tables",
        "tradeoff",
        "utility",
    }
)
_home_of = {name: module for module, names in _HOMES.items() for name in names}


def __getattr__(name: str) -> Any:
    """Import a part when it is first used, so that ``import tacit`` stays quick."""
    if name in _PACKAGES:
        return importlib.import_module(f"tacit.{name}")
    if name not in _home_of:
        raise AttributeError(f"module 'tacit' has no attribute {name!r}")
    found = getattr(importlib.import_module(_home_of[name]), name)
    globals()[name] = found
    return found


def __dir__() -> list[str]:
    return sorted({*__all__, *globals()})
