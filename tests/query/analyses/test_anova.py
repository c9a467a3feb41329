"""Sequential sums of squares agree with statsmodels."""

import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf


def test_sequential_squares(open_server, model_data):
    answer = open_server.ask({"method": "anova", "formula": "wage ~ region*sex"})
    fitted = smf.ols("wage ~ C(region)*C(sex)", model_data.to_pandas()).fit()
    expected = sm.stats.anova_lm(fitted, typ=1)
    assert answer.columns["source"] == ["region", "sex", "region:sex", "residual", "total"]
    assert answer.columns["squares"][:-1] == pytest.approx(expected["sum_sq"].tolist())
    assert answer.columns["df"][:-1] == expected["df"].tolist()
    assert answer.columns["f"][:3] == pytest.approx(expected["F"].tolist()[:3])
    assert answer.columns["p"][:3] == pytest.approx(expected["PR(>F)"].tolist()[:3], abs=1e-4)


def test_parts_add_up(open_server):
    table = open_server.ask({"method": "anova", "formula": "wage ~ age + region"}).columns
    assert sum(table["squares"][:-1]) == pytest.approx(table["squares"][-1])
