"""An analysis is a value that names what it needs; its sentences on records are true."""

import numpy as np
import polars as pl
import pytest

from tacit import methods, query
from tacit.query import Crosstab, Summary
from tacit.query.analysis import Analysis
from tacit.query.universe import Universe


def test_requests_are_values():
    request = Crosstab(by=["sex"], universe={"region": "N"})
    assert request.universe == Universe.where(region="N")
    assert Crosstab(**request.as_dict()) == request
    assert Summary(numbers="income", by="sex").by == ("sex",)


def test_every_analysis_names_its_variables_and_cannot_touch_records():
    found = methods("analysis")
    assert {m.key for m in found} >= {
        "crosstab",
        "summary",
        "histogram",
        "quantiles",
        "chi2",
        "ols",
    }
    for method in found:
        assert issubclass(method, Analysis)
        assert method.title
        if method.example:
            needs = method(**method.example).variables()
            assert needs.categories or needs.numbers


# -- what the descriptions say of missing values, weights and households ---------------------------

TABLES = [
    {"method": "crosstab", "by": ["sex", "ill"], "totals": ["income"]},
    {"method": "summary", "numbers": ["income", "age"], "by": ["sex"]},
    {"method": "histogram", "number": "age", "by": "sex"},
    {"method": "quantiles", "number": "income"},
    {"method": "chi2", "by": ["sex", "region"]},
    {"method": "survival", "time": "age", "status": "ill", "event": "yes"},
]
MODELS = [
    {"method": "ols", "formula": "income ~ age + sex"},
    {"method": "logistic", "formula": "ill ~ age + sex", "event": "yes"},
    {"method": "poisson", "formula": "age ~ sex + region"},
    {"method": "anova", "formula": "income ~ sex + age"},
    {"method": "correlation", "columns": ["age", "log(income)"]},
    {"method": "covariance", "columns": ["age", "income"]},
]
SECRET = "a long and secret phrase"  # noqa: S105 - of test data
BINS = {"age": [20.0, 40.0, 60.0], "income": [4000.0, 8000.0, 12000.0, 20000.0]}
UNWEIGHTED = ("chi2", "survival", "anova")


def named(request):
    return request["method"]


def open_server(frame, unit=None, weight=None):
    names = {"categories": ["sex", "region", "ill"], "numbers": ["age", "income"]}
    source = query.Source(frame, unit=unit, weight=weight, bins=BINS, **names)
    return query.Server(source, query.Policy(name="open"), secret=SECRET)


def test_every_description_speaks_of_missing_values_weights_and_units():
    for method in methods("analysis"):
        text = method.__doc__.lower()
        for word in ("missing", "weight", "household"):
            assert word in text, (method.key, word)


@pytest.mark.parametrize("request_", [TABLES[1], TABLES[3], TABLES[5], *MODELS], ids=named)
def test_records_without_a_value_are_left_out(people, request_):
    gaps = people.with_columns(
        income=pl.when(pl.col("id") % 7 != 0).then("income"),
        age=pl.when(pl.col("id") % 7 != 0).then("age"),
    )
    given, complete = (
        open_server(f).ask(request_) for f in (gaps, people.filter(pl.col("id") % 7 != 0))
    )
    assert not given.is_refusal
    hidden = {"count", "until"}  # records are counted; units without a value are among them
    for name, values in given.columns.items():
        assert name in hidden or _near(values, complete.columns[name]), name


@pytest.mark.parametrize("request_", [TABLES[0], TABLES[2], TABLES[4]], ids=named)
def test_missing_codes_are_a_category(people, request_):
    gaps = people.with_columns(sex=pl.when(pl.col("id") % 7 != 0).then("sex"))
    renamed = gaps.with_columns(pl.col("sex").fill_null("~"))
    given, expected = (open_server(f).ask(request_) for f in (gaps, renamed))
    if given.columns:
        assert given.columns["sex"].count("missing") == expected.columns["sex"].count("~") > 0
        assert given.columns["count"] == expected.columns["count"]
    assert given.values == expected.values


@pytest.mark.parametrize("request_", [*TABLES, *MODELS], ids=named)
def test_a_weight_of_three_counts_for_three(people, request_):
    """Estimates with whole weights are those of the records repeated, or weights are not used."""
    weight = 1 + np.arange(people.height) % 3
    weighted = people.with_columns(w=weight)
    if named(request_) in UNWEIGHTED:
        assert open_server(weighted, weight="w").ask({**request_, "weighted": True}).is_refusal
        return
    repeated = people.select(pl.all().repeat_by(pl.Series(weight))).explode(pl.all())
    given = open_server(weighted, weight="w").ask({**request_, "weighted": True})
    expected = open_server(repeated).ask(request_)
    assert not given.is_refusal
    errors = {
        "standard_error",
        "statistic",
        "p",
        "variance",
        "deviation",
    }  # n is not that of copies
    for name, values in given.columns.items():
        assert name in errors or _near(values, expected.columns[name], 1e-3), name


@pytest.mark.parametrize("request_", TABLES[:3], ids=named)
def test_households_count_once(people, request_):
    """A cell of many records of two households is withheld, one of as many units is not."""
    frame = people.filter(pl.col("sex") == "f").head(200)
    few = people.filter(pl.col("sex") == "m").head(60)
    frame = pl.concat([frame, few]).with_columns(
        household=pl.Series([*range(200), *[900, 901] * 30])
    )
    shown = []
    for unit in ("household", "id"):
        source = query.Source(frame, unit=unit, bins=BINS, categories=["sex", "ill"],
                              numbers=["age", "income"])  # fmt: skip
        policy = query.Policy(name="some", guards=(query.Threshold(minimum=3),))
        answer = query.Server(source, policy, secret=SECRET).ask(request_)
        men = answer.frame.filter(pl.col("sex") == "m")
        shown.append(men["count"].drop_nulls().len())
    assert shown[0] == 0 < shown[1]


@pytest.mark.parametrize("request_", MODELS, ids=named)
def test_models_count_households(people, request_):
    frame = people.with_columns(household=pl.col("id") // 2)
    assert open_server(frame, unit="household").ask(request_).values["n"] == 1000


def _near(values, expected, rel=1e-6):
    if not all(isinstance(v, int | float) for v in [*values, *expected]):
        return values == expected
    return values == pytest.approx(expected, rel=rel, abs=1e-9)
