"""Designs: every category has a column, the most common one is the reference."""

import pytest

from tacit.query.answer import Refused
from tacit.query.formula import Formula
from tacit.query.model import INTERCEPT, design, is_category


def test_columns_of_a_formula(open_server):
    terms, origin = design(Formula.parse("wage ~ region*age"), open_server.schema)
    names = [t.name for t in terms]
    assert names[0] == INTERCEPT
    assert {"region[North]", "region[Süd]", "region[East]", "age", "region[East]:age"} <= set(names)
    assert 0 not in origin
    assert len(origin) == len(terms) - 1


def test_the_reference_is_the_most_common_category(open_server, model_data):
    answer = open_server.ask({"method": "ols", "formula": "wage ~ region + sex"})
    for variable in ("region", "sex"):
        common = model_data[variable].mode()[0]
        assert f"{variable}: the reference is {common!r}" in answer.notes
        assert f"{variable}[{common}]" not in answer.columns["term"]


def test_variables_known_only_from_interactions_have_a_reference(open_server):
    terms, origin = design(Formula.parse("wage ~ region:age"), open_server.schema)
    silent = [t.name for j, t in enumerate(terms) if j and j not in origin]
    assert sorted(silent) == ["region[East]", "region[North]", "region[Süd]"]


def test_bins_make_a_number_a_category(open_server):
    factor = Formula.parse("wage ~ bin(age)").terms[0][0]
    assert is_category(factor, open_server.schema)


@pytest.mark.parametrize("formula", ["wage ~ nobody", "wage ~ log(region)", "wage ~ cube(age)"])
def test_what_the_data_do_not_have_is_refused(open_server, formula):
    with pytest.raises(Refused):
        design(Formula.parse(formula), open_server.schema)
