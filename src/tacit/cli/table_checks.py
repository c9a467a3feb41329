"""Options of ``tacit table`` that would be ignored are refused, so that nobody relies on them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import fields
from typing import TYPE_CHECKING, get_args

from tacit.cli.table_options import NONE, Cells, Protecting
from tacit.core.errors import ParameterError, nearest

if TYPE_CHECKING:
    from tacit.cli.options import Reading
    from tacit.tables import TablePlan, Verification

_BESIDE_A_PLAN = ("plan", "secret", "apriori", "singletons")
"""Options that a plan does not say everything about."""
_OF_RECORDS = (
    *("weight", "unit", "holding", "request", "shadow", "missing", "missing_value"),
    *("record_keys", "secret"),
)
_OF_CELLS = ("count", "largest", "status")
_OF_METADATA = (*_OF_CELLS, "cost", "total")
"""What the metadata of a ready table of tau-ARGUS say."""
READ_OPTIONS = ("metadata", "totals")
"""Options of reading a ready table of tau-ARGUS."""


def _given(*groups: Cells | Protecting) -> list[str]:
    """Return the names of the options that differ from what they are by default."""
    return [
        field.name
        for group in groups
        for field in fields(group)
        if getattr(group, field.name) != field.default
    ]


def _option(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def check_alone(cells: Cells, protecting: Protecting) -> None:
    """Refuse options that the plan file would silently win over."""
    for name in _given(cells, protecting):
        if name not in _BESIDE_A_PLAN:
            raise ParameterError(
                f"the plan says all of the table, so {_option(name)} is too much",
                do="leave it out, or leave --plan out",
            )


def check_used(plan: TablePlan, cells: Cells, protecting: Protecting) -> None:
    """Refuse options that nothing would look at."""
    given = _given(cells, protecting)
    for name in given:
        if cells.ready and name in _OF_RECORDS:
            raise ParameterError(
                f"{_option(name)} is about records, and ready cells are none",
                do="leave it out, or leave --ready out",
            )
        if not cells.ready and name in _OF_CELLS:
            raise ParameterError(
                f"{_option(name)} is about ready cells, and the data are records",
                do="leave it out, or add --ready",
            )
    _check_keys(plan, given)
    _check_cost(plan, given)
    _check_rule(plan, cells)


def _check_keys(plan: TablePlan, given: list[str]) -> None:
    for name in ("secret", "record_keys"):
        if name in given and not plan.method.keyed:
            raise ParameterError(
                f"{_option(name)} is for the cell key method, and {plan.method.key} looks at no "
                "record keys",
                do="leave it out, or give --method cell-key",
            )


def _check_cost(plan: TablePlan, given: list[str]) -> None:
    if "cost" not in given or plan.method.heeds_costs:
        return
    fields = type(plan.method).model_fields.items()
    choice = next((name for name, field in fields if "user" in get_args(field.annotation)), None)
    raise ParameterError(
        "nothing looks at the costs of --cost",
        got=f"{plan.method.key}{'' if choice else ', which knows no costs'}",
        do=f"add --option {choice}=user" if choice else "leave it out",
    )


def _check_rule(plan: TablePlan, cells: Cells) -> None:
    asked = plan.rule is not None and any(one.key == "request" for one in plan.rule.each())
    if cells.request not in (None, NONE) and not asked:
        raise ParameterError(
            "no rule looks at who asks for protection (--request)",
            do="add one, for example --rule 'request(70)', or leave --request out",
        )
    if cells.shadow is not None and plan.rule is None:
        raise ParameterError("no rule looks at --shadow", do="give --rule, or leave it out")


def check_secret(plan: TablePlan, protecting: Protecting) -> None:
    """Refuse a secret beside a plan that has no use for it."""
    if protecting.secret is not None and not plan.keys:
        raise ParameterError("the plan makes no record keys, so --secret is too much")


def check_metadata_alone(plan: TablePlan, cells: Cells, reading: Reading) -> None:
    """Refuse options that the metadata of a ready table would silently win over."""
    for name in _given(cells):
        by_hierarchy = name == "total" and plan.hierarchies
        if name in _OF_METADATA and not by_hierarchy:
            raise ParameterError(
                f"the metadata of a ready table of tau-ARGUS say what {_option(name)} says",
                do="leave it out, or correct the .rda file",
            )
    for name in ("table", "separator", "decimal"):
        if getattr(reading, name) is not None:
            raise ParameterError(
                f"a ready table of tau-ARGUS is read as its metadata say, without {_option(name)}"
            )


def check_hierarchies(plan: TablePlan, spanning: Iterable[str]) -> None:
    """Refuse a hierarchy of a column that does not span the table."""
    known = set(spanning)
    for name in plan.hierarchies:
        if name not in known:
            raise ParameterError(
                f"there is a hierarchy for {name!r}, which does not span the table",
                do=nearest(name, known),
            )


def check_attacked(checked: Verification, protecting: Protecting) -> None:
    """Refuse ``--singletons`` where no attack was made that they could have taken part in."""
    if protecting.singletons and checked.audit is None:
        raise ParameterError(
            "--singletons is about attacks on suppressed or rounded cells, and there was none",
            got=f"the check was {checked.how}",
            do="leave it out",
        )
