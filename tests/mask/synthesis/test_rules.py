"""Declared rules as values."""

import pytest

from tacit import mask
from tacit.core.errors import ParameterError
from tacit.core.plan import Plan
from tacit.mask.synthesis.rules import Condition, IfThen, named_columns, said

YOUNG = {"column": "age", "comparison": "<", "value": 16}


def test_equalities_may_be_written_as_a_dict():
    method = mask.Synthesise(impossible=[{"sex": "male", "pregnant": True}, [YOUNG]])
    first, second = method.impossible
    assert said(first) == "sex == 'male' and pregnant == True"
    assert second == (Condition(**YOUNG),)
    assert named_columns((), method.impossible) == ["sex", "pregnant", "age"]


def test_combinations_survive_a_plan_file():
    plan = Plan([mask.CopulaSynthesis(impossible=[{"sex": "male", "pregnant": True}, [YOUNG]])])
    assert Plan.from_toml(plan.to_toml()).methods == plan.methods


def test_an_empty_combination_is_refused():
    with pytest.raises(ParameterError):
        mask.Synthesise(impossible=[[]])


def test_a_rule_makes_a_combination_impossible():
    rule = IfThen(**YOUNG, then="marital", becomes="single")
    assert said(rule.forbids) == "age < 16 and marital != 'single'"
