"""Tables: build them, find their sensitive cells, protect them, attack the result.

The folders ``rules``, ``suppress``, ``rounding``, ``adjust``, ``perturb`` and ``collapse`` are the
catalogue: a file with a rule or a protection put there appears here, in the command line and in the
docs.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tacit.core.method import discover
from tacit.tables import adjust, collapse, perturb, rounding, rules, suppress

if TYPE_CHECKING:
    from tacit.tables.aggregates import from_aggregates as from_aggregates
    from tacit.tables.audit import Audit as Audit
    from tacit.tables.audit import Verdict as Verdict
    from tacit.tables.audit import audit as audit
    from tacit.tables.comparison import Comparison as Comparison
    from tacit.tables.comparison import compare as compare
    from tacit.tables.contributions import Contributions as Contributions
    from tacit.tables.dimension import Dimension as Dimension
    from tacit.tables.link import link as link
    from tacit.tables.link import split as split
    from tacit.tables.perturb.additivity import inconsistency as inconsistency
    from tacit.tables.perturb.additivity import restore_additivity as restore_additivity
    from tacit.tables.perturb.deviations import blurred_deviations as blurred_deviations
    from tacit.tables.perturb.deviations import control_report as control_report
    from tacit.tables.perturb.deviations import deviation_shares as deviation_shares
    from tacit.tables.perturb.deviations import largest_deviations as largest_deviations
    from tacit.tables.perturb.deviations import observed_transitions as observed_transitions
    from tacit.tables.perturb.noise_attack import NoiseAttack as NoiseAttack
    from tacit.tables.perturb.noise_attack import noise_attack as noise_attack
    from tacit.tables.perturb.noise_file import read_noise_table as read_noise_table
    from tacit.tables.perturb.noise_table import NoiseTable as NoiseTable
    from tacit.tables.perturb.noise_table import magnitude_noise as magnitude_noise
    from tacit.tables.perturb.record_keys import unit_keys as unit_keys
    from tacit.tables.perturb.record_keys import whole_keys as whole_keys
    from tacit.tables.perturb.record_keys import with_record_keys as with_record_keys
    from tacit.tables.protected import ProtectedTable as ProtectedTable
    from tacit.tables.protected import Status as Status
    from tacit.tables.redesign import Redesign as Redesign
    from tacit.tables.redesign import redesign as redesign
    from tacit.tables.rule_text import rule as rule
    from tacit.tables.sensitive import Sensitive as Sensitive
    from tacit.tables.summary import Summary as Summary
    from tacit.tables.table import Table as Table
    from tacit.tables.table_plan import TablePlan as TablePlan
    from tacit.tables.tabulate import tabulate as tabulate
    from tacit.tables.transitions import eliminate_small as eliminate_small
    from tacit.tables.transitions import invariant_matrix as invariant_matrix
    from tacit.tables.transitions import transition_matrix as transition_matrix
    from tacit.tables.verification import Verification as Verification
    from tacit.tables.verification import verify as verify

_found = {
    name: method
    for folder in (rules, suppress, rounding, adjust, perturb, collapse)
    for name, method in discover(folder.__name__, folder.__path__).items()
}
globals().update(_found)

_HOMES = {
    "dimension": ("Dimension",),
    "table": ("Table",),
    "contributions": ("Contributions",),
    "sensitive": ("Sensitive",),
    "protected": ("ProtectedTable", "Status"),
    "summary": ("Summary",),
    "verification": ("verify", "Verification"),
    "audit": ("audit", "Audit", "Verdict"),
    "rule_text": ("rule",),
    "link": ("link", "split"),
    "aggregates": ("from_aggregates",),
    "tabulate": ("tabulate",),
    "table_plan": ("TablePlan",),
    "redesign": ("redesign", "Redesign"),
    "transitions": ("transition_matrix", "invariant_matrix", "eliminate_small"),
    "perturb.record_keys": ("with_record_keys", "unit_keys", "whole_keys"),
    "perturb.noise_table": ("NoiseTable", "magnitude_noise"),
    "perturb.noise_file": ("read_noise_table",),
    "perturb.deviations": (
        "observed_transitions",
        "deviation_shares",
        "largest_deviations",
        "blurred_deviations",
        "control_report",
    ),
    "perturb.noise_attack": ("noise_attack", "NoiseAttack"),
    "comparison": ("compare", "Comparison"),
    "perturb.additivity": ("restore_additivity", "inconsistency"),
}
"""Where the other public names live, by module of this package."""
_home_of = {name: module for module, names in _HOMES.items() for name in names}
# A function called like a module must be bound now, or the module would stand in its place.
globals().update(
    {
        name: getattr(importlib.import_module(f"tacit.tables.{home}"), name)
        for name, home in _home_of.items()
        if name == home or name == "rule"
    }
)
__all__ = sorted({*_found, *_home_of})


def __getattr__(name: str) -> Any:
    if name in _home_of:
        return getattr(importlib.import_module(f"tacit.tables.{_home_of[name]}"), name)
    raise AttributeError(f"tacit.tables has no {name!r}; known: {', '.join(__all__)}")
