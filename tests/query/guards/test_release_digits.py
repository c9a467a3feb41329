"""What is released has no more digits than the standard error allows."""

from math import floor, log10

import pytest

from tacit import query

REQUEST = {"method": "ols", "formula": "wage ~ age + region + log(size)"}


@pytest.fixture(scope="module")
def answer(guarded, model_data):
    return guarded(model_data, query.ReleaseDigits(share=0.1, n_base=50)).ask(REQUEST)


def test_coefficients_end_at_a_tenth_of_their_error(answer, open_server):
    exact = open_server.ask(REQUEST).columns
    for shown, value, error in zip(
        answer.columns["coefficient"], exact["coefficient"], exact["standard_error"], strict=True
    ):
        place = -floor(log10(error / 10))
        assert shown == round(value, place)
        assert abs(shown - value) <= error / 2


def test_the_number_of_units_is_rounded_everywhere(answer, complete_data):
    assert answer.values["n"] == round(len(complete_data) / 50) * 50
    assert answer.values["anova"]["df"][-1] == answer.values["n"] - 1


def test_statistics_follow_from_what_is_shown(answer):
    table = answer.columns
    for b, s, t in zip(
        table["coefficient"], table["standard_error"], table["statistic"], strict=True
    ):
        assert t == pytest.approx(b / s)


def test_correlations_are_rounded(guarded, model_data):
    server = guarded(model_data, query.ReleaseDigits())
    shown = server.ask({"method": "correlation", "columns": ["age", "wage"]}).columns["correlation"]
    assert all(value == round(value, 3) for value in shown)
