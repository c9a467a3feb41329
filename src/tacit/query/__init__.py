"""Queryable databases: a server that answers about confidential records without showing them.

The folders ``analyses`` and ``guards`` are the catalogue: a file with a statistic or a rule put
there appears here, in policies, in the command line and in the docs.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

from tacit.core.method import discover
from tacit.query import analyses, guards
from tacit.query.binning import Cutpoints as Cutpoints
from tacit.query.binning import cutpoints as cutpoints
from tacit.query.drop_q import drop_q_bounds as drop_q_bounds
from tacit.query.drop_q import drop_q_disclosure as drop_q_disclosure
from tacit.query.drop_q import likely_cells as likely_cells
from tacit.query.drop_q import simulate_differencing as simulate_differencing

if TYPE_CHECKING:
    from tacit.query.analysis import Analysis as Analysis
    from tacit.query.answer import Answer as Answer
    from tacit.query.answer import Refusal as Refusal
    from tacit.query.answer import Refused as Refused
    from tacit.query.audit_log import AuditLog as AuditLog
    from tacit.query.audit_log import verify_log as verify_log
    from tacit.query.auditor import SumAuditor as SumAuditor
    from tacit.query.camouflage import Camouflage as Camouflage
    from tacit.query.diagnostics import synthetic_logistic_plot as synthetic_logistic_plot
    from tacit.query.diagnostics import synthetic_residual_plot as synthetic_residual_plot
    from tacit.query.guard import Guard as Guard
    from tacit.query.interval_auditor import IntervalAuditor as IntervalAuditor
    from tacit.query.policy import Policy as Policy
    from tacit.query.server import Server as Server
    from tacit.query.source import Source as Source
    from tacit.query.universe import Universe as Universe

_found = {
    name: method
    for folder in (analyses, guards)
    for name, method in discover(folder.__name__, folder.__path__).items()
}
globals().update(_found)

_HOMES = {
    "analysis": ("Analysis",),
    "answer": ("Answer", "Refusal", "Refused"),
    "audit_log": ("AuditLog", "verify_log"),
    "auditor": ("SumAuditor",),
    "camouflage": ("Camouflage",),
    "diagnostics": ("synthetic_logistic_plot", "synthetic_residual_plot"),
    "guard": ("Guard",),
    "interval_auditor": ("IntervalAuditor",),
    "policy": ("Policy",),
    "server": ("Server",),
    "source": ("Source",),
    "universe": ("Universe",),
}
"""Where the other public names live, by module of this package."""
_HERE = (
    "Cutpoints",
    "cutpoints",
    "drop_q_bounds",
    "drop_q_disclosure",
    "likely_cells",
    "simulate_differencing",
)
_home_of = {name: module for module, names in _HOMES.items() for name in names}
__all__ = sorted({*_found, *_home_of, *_HERE})


def __getattr__(name: str) -> Any:
    if name in _home_of:
        return getattr(importlib.import_module(f"tacit.query.{_home_of[name]}"), name)
    raise AttributeError(f"tacit.query has no {name!r}; known: {', '.join(__all__)}")
