"""Many coefficients for few units are refused."""

from tacit import query

REQUEST = {"method": "ols", "formula": "wage ~ age + region + sex"}


def test_enough(guarded, model_data):
    assert not guarded(model_data, query.DegreesOfFreedom()).ask(REQUEST).is_refusal


def test_too_few_left(guarded, model_data):
    answer = guarded(model_data.head(14), query.DegreesOfFreedom(minimum=10, share=1.0)).ask(
        REQUEST
    )
    assert (answer.is_refusal, answer.rule) == (True, "degrees-of-freedom")


def test_too_many_per_unit(guarded, model_data):
    answer = guarded(model_data.head(24), query.DegreesOfFreedom(minimum=1, share=0.2)).ask(REQUEST)
    assert answer.rule == "degrees-of-freedom"
