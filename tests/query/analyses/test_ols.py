"""Linear models agree with statsmodels to the digits that floats allow."""

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm
import statsmodels.formula.api as smf

from tacit import query
from tacit.query.policy import Policy

NAMES = {"(intercept)": "Intercept", "log(size)": "np.log(size)", "square(age)": "I(age ** 2)"}


def ours(answer):
    assert not answer.is_refusal, answer
    table = answer.columns
    return {t: (b, s) for t, b, s in zip(
        table["term"], table["coefficient"], table["standard_error"], strict=True
    )}  # fmt: skip


def theirs(fitted, region="North", sex="f"):
    found = {}
    for name, value in fitted.params.items():
        clean = name.replace(f"C(region, Treatment('{region}'))[T.", "region[")
        clean = clean.replace(f"C(sex, Treatment('{sex}'))[T.", "sex[")
        back = {v: k for k, v in NAMES.items()}
        found[back.get(clean, clean)] = (value, fitted.bse[name])
    return found


def agree(answer, fitted, rel=1e-8):
    mine, other = ours(answer), theirs(fitted)
    assert set(mine) == set(other)
    for term, pair in other.items():
        assert mine[term] == pytest.approx(pair, rel=rel), term


RIGHT = "C(region, Treatment('North')) * C(sex, Treatment('f')) + age + I(age ** 2) + np.log(size)"


def test_least_squares(open_server, complete_data):
    answer = open_server.ask(
        {"method": "ols", "formula": "wage ~ region*sex + age + square(age) + log(size)"}
    )
    fitted = smf.ols(f"wage ~ {RIGHT}", complete_data).fit()
    agree(answer, fitted)
    assert answer.values["n"] == len(complete_data)
    assert answer.values["r_squared"] == pytest.approx(fitted.rsquared)
    anova = answer.values["anova"]
    assert anova["squares"] == pytest.approx([fitted.ess, fitted.ssr, fitted.centered_tss])
    assert anova["f"][0] == pytest.approx(fitted.fvalue)
    assert anova["df"] == [fitted.df_model, fitted.df_resid, fitted.nobs - 1]


def test_robust_errors(open_server, complete_data):
    answer = open_server.ask(
        {"method": "ols", "formula": "wage ~ region*sex + age + square(age) + log(size)",
         "robust_errors": True}
    )  # fmt: skip
    agree(answer, smf.ols(f"wage ~ {RIGHT}", complete_data).fit(cov_type="HC1"))


def test_survey_weights(open_server, complete_data):
    answer = open_server.ask({"method": "ols", "formula": "wage ~ region + age", "weighted": True})
    fitted = smf.wls(
        "wage ~ C(region, Treatment('North')) + age", complete_data, weights=complete_data.weight
    ).fit(cov_type="HC1")
    agree(answer, fitted)


def test_huber(open_server, complete_data):
    answer = open_server.ask({"method": "ols", "formula": "wage ~ region + age", "huber": True})
    fitted = smf.rlm("wage ~ C(region, Treatment('North')) + age", complete_data).fit(
        scale_est=sm.robust.scale.HuberScale(d=1.345), maxiter=200
    )
    # Their scale is found by other steps, and their errors have a further factor near one.
    agree(answer, fitted, rel=2e-3)


def test_huber_resists_wrong_responses(guarded, model_data):
    wrong = model_data.with_columns(
        pl.when(pl.int_range(pl.len()) % 40 == 3).then(1e4).otherwise(pl.col("wage")).alias("wage")
    )
    server = guarded(wrong)
    plain = ours(server.ask({"method": "ols", "formula": "wage ~ age"}))
    huber = ours(server.ask({"method": "ols", "formula": "wage ~ age", "huber": True}))
    assert abs(huber["age"][0] - 0.2) < 0.1 < abs(plain["age"][0] - 0.2)


def test_bins_are_categories(open_server):
    answer = open_server.ask({"method": "ols", "formula": "wage ~ bin(age)"})
    assert len(answer.columns["term"]) == len(open_server.schema.variable("age").labels) - 1


def test_aliased_columns_are_left_out(guarded, model_data):
    server = guarded(model_data.with_columns(visits=pl.col("age") * 2 + 1))
    answer = server.ask({"method": "ols", "formula": "wage ~ age + visits"})
    assert answer.columns["term"] == ["(intercept)", "age"]
    assert any("combinations" in note for note in answer.notes)


def test_units_with_several_records_count_once(guarded, model_data):
    frame = model_data.with_columns(unit=pl.int_range(pl.len()) // 3)
    server = guarded(frame, unit="unit")
    answer = server.ask({"method": "ols", "formula": "wage ~ age"})
    complete = frame.drop_nulls()
    assert answer.values["n"] == complete["unit"].n_unique()
    fitted = smf.ols("wage ~ age", complete.to_pandas()).fit()
    assert ours(answer)["age"][0] == pytest.approx(fitted.params["age"])


@pytest.mark.parametrize("rows", [0, 1, 2])
def test_almost_no_complete_records(guarded, model_data, rows):
    kept = pl.int_range(pl.len()) < rows
    frame = model_data.with_columns(wage=pl.when(kept).then(pl.col("wage")))
    answer = guarded(frame).ask({"method": "ols", "formula": "wage ~ age"})
    assert answer.is_refusal
    assert answer.rule == "degrees-of-freedom"


def test_undefined_logarithms_make_a_record_incomplete(guarded, model_data):
    frame = model_data.with_columns(size=pl.col("size") - 5)
    answer = guarded(frame).ask({"method": "ols", "formula": "wage ~ log(size) + sqrt(size)"})
    assert answer.values["n"] == int((frame["size"] > 0).sum())


def test_every_engine_releases_the_same(model_data, monkeypatch):
    import duckdb

    monkeypatch.setattr("tacit.query._moments_first._WIDE", 12)

    frame = model_data.with_columns(unit=pl.int_range(pl.len()))
    connection = duckdb.connect()
    connection.register("records", frame.to_arrow())
    engines = [frame, connection.sql("select * from records order by wage")]
    released = []
    for engine in engines:
        source = query.Source(engine, unit="unit", weight="weight",
                              categories=["region", "sex", "works"],
                              numbers=["wage", "age", "size", "visits"])  # fmt: skip
        policy = Policy(name="some", guards=(query.Leverage(), query.ScoreNoise(),
                                             query.ReleaseDigits()))  # fmt: skip
        server = query.Server(source, policy=policy, secret=b"a long and secret phrase")
        released.append([server.ask(request).as_dict() for request in _REQUESTS])
    for first, second in zip(*released, strict=True):
        assert {**first, "data": ""} == {**second, "data": ""}
        assert first["columns"]


_REQUESTS = [
    {"method": "ols", "formula": "wage ~ region*age + log(size)", "weighted": True},
    {"method": "ols", "formula": "wage ~ bin(age)*sex + bin(size) + region + visits"},
    {"method": "logistic", "formula": "works ~ age + sex", "event": "yes"},
    {"method": "poisson", "formula": "visits ~ age + region"},
    {"method": "correlation", "columns": ["age", "wage"]},
]


def test_wide_designs_are_joined_and_agree(guarded, model_data):
    """With many dummies, what depends on categories is joined; numbers must not change."""
    from tacit.query import _moments_first

    request = {"method": "ols", "formula": "wage ~ bin(age)*region + age:sex + age + sex"}
    answers = []
    for wide in (3, 1000):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(_moments_first, "_WIDE", wide)
            server = guarded(model_data, query.Leverage(n0=2), query.ScoreNoise())
            answers.append(server.ask(request))
    wide, narrow = (np.array(a.columns["coefficient"]) for a in answers)
    # Noise may be larger where it is bounded from above, never the design.
    assert answers[0].columns["term"] == answers[1].columns["term"]
    assert np.abs(wide - narrow).max() < 2


@pytest.mark.parametrize("sample", [0, 100])
def test_rough_centres_of_a_sample_change_nothing(guarded, model_data, monkeypatch, sample):
    """Of many records a sample tells where to add up from; also where it is empty."""
    request = {"method": "ols", "formula": "wage ~ region*age + log(size)", "weighted": True}
    link = {"method": "logistic", "formula": "works ~ age + sex", "event": "yes"}
    whole = [guarded(model_data).ask(one) for one in (request, link)]
    monkeypatch.setattr("tacit.query._moments_first._SAMPLE", sample)
    monkeypatch.setattr("tacit.query._moments_first._ENOUGH", 20)
    assert [guarded(model_data).ask(one) for one in (request, link)] == whole


def test_numbers_far_from_zero_lose_no_digits(guarded):
    """Years in seconds, or measurements in tiny steps: the sums are taken about their middle."""
    rng = np.random.default_rng(9)
    x, z = rng.normal(size=400), rng.normal(size=400)
    y = 2 * x - z + rng.normal(size=400)
    plain = pl.DataFrame({"x": x, "z": z, "y": y, "weight": 1.0})
    far = plain.with_columns(pl.col("x") * 1e-3 + 1e6, pl.col("z") * 1e4 - 1e9, pl.col("y") + 1e5)
    request = {"method": "ols", "formula": "y ~ x + z"}
    near, there = (guarded(data).ask(request).columns for data in (plain, far))
    for column in ("coefficient", "standard_error"):
        expected = np.array(near[column][1:]) / [1e-3, 1e4]
        # 1e6 with steps of 1e-3 holds ten digits of x, and a few are lost in its variance.
        np.testing.assert_allclose(there[column][1:], expected, rtol=1e-6)
