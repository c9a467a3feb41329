"""What a plan for a table lacks or asks in vain is said before a job is under way."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tacit.core.errors import ParameterError

if TYPE_CHECKING:
    from tacit.tables import TablePlan
    from tacit.tables.rule import Rule


def check_plan(plan: TablePlan) -> None:
    """Refuse a plan whose rule or method needs a column that it does not name, or the reverse.

    A column that nothing would look at is refused so that nobody relies on it.

    Raises
    ------
    ParameterError
        With the column or the rule that would mend it.
    """
    rules = [] if plan.rule is None else list(plan.rule.each())
    _check_holding(plan, rules)
    _check_request(plan, rules)
    _check_shadow(plan, rules)
    _check_keys(plan)
    _check_cost(plan)


def _check_holding(plan: TablePlan, rules: Iterable[Rule]) -> None:
    about = [rule.short() for rule in rules if getattr(rule, "level", "") == "holding"]
    if about and plan.holding is None:
        raise ParameterError(
            "the rule is about holdings, and no column names them", got=about[0],
            do="choose the column of the holding, or take level=holding out of the rule",
        )  # fmt: skip


def _check_request(plan: TablePlan, rules: Iterable[Rule]) -> None:
    about = [rule.short() for rule in rules if rule.key == "request"]
    if about and plan.request is None:
        raise ParameterError(
            "the rule is about requests for protection, and no column says who asks", got=about[0],
            do="choose the column of the request, or take the rule out",
        )  # fmt: skip
    if plan.request is not None and not about:
        raise ParameterError(
            "no rule looks at who asks for protection", got=repr(plan.request),
            do="add one, for example |request(70), or choose no column of the request",
        )  # fmt: skip


def _check_shadow(plan: TablePlan, rules: list[Rule]) -> None:
    if plan.shadow is not None and (plan.value is None or not rules):
        lacking = "a column to add up" if plan.value is None else "a rule"
        raise ParameterError(
            f"what the rules look at instead of the value needs {lacking}", got=repr(plan.shadow),
            do="choose no such column, or give both",
        )  # fmt: skip


def _check_keys(plan: TablePlan) -> None:
    title = plan.method.title
    if plan.method.keyed and not plan.keys:
        raise ParameterError(
            f"{title} needs columns of secret record keys", do="choose them, or another protection"
        )
    if plan.keys and not plan.method.keyed:
        raise ParameterError(
            f"{title} looks at no record keys", got=", ".join(plan.keys),
            do="choose a cell key method, or no keys",
        )  # fmt: skip


def _check_cost(plan: TablePlan) -> None:
    if plan.cost is not None and not plan.method.heeds_costs:
        raise ParameterError(
            f"{plan.method.title} does not look at the column of costs", got=repr(plan.cost),
            do="choose user for the cost among its parameters, or no such column",
        )  # fmt: skip
