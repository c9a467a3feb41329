"""Simulated records: like the real ones, equal to none, hidden among them."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import mask
from tacit.core.errors import DataError, ParameterError


def released(data, seed=1, **parameters):
    return tacit.Plan([mask.SimulatedRecords(**parameters)]).apply(data, seed=seed)


def split(release):
    return release.frame.filter(release.rows < 0), release.frame.filter(release.rows >= 0)


@pytest.mark.parametrize("share", [0.02, 0.1, 0.5])
def test_the_share_is_the_simulated_factor(share):
    data = tacit.datasets.census(900)
    release = released(data, share=share)
    t, r = release.data.n_records, int((release.rows >= 0).sum())
    assert r == 900
    assert (t - r) / t == pytest.approx(share, abs=1 / 900)
    assert int((released(data, number=7).rows == -1).sum()) == 7


@settings(max_examples=15, deadline=None)
@given(st.integers(30, 150), st.integers(0, 99), st.sampled_from([0.0, 0.1]))
def test_no_simulated_record_equals_a_real_one_and_all_real_ones_are_there(n, seed, missing):
    data = tacit.datasets.census(n, seed=seed, missing=missing).drop(["weight"])
    release = released(data, seed, share=0.2)
    simulated, real = split(release)
    columns = [c for c in real.columns if c != "household"]
    both = simulated.join(real, on=columns, how="semi", nulls_equal=True)
    assert both.is_empty()
    rows = release.rows[release.rows >= 0]
    assert sorted(rows.tolist()) == list(range(n))
    assert real[columns].equals(data.frame[columns][rows])


def test_with_weights_only_common_combinations_are_repeated():
    frame = pl.DataFrame({"a": ["x"] * 50 + ["y", "z"], "b": ["u", "v"] * 26, "c": range(52)})
    frame = frame.with_columns(c=pl.col("c") // 8, weight=pl.Series(np.linspace(1, 9, 52)))
    data = tacit.Microdata.of(frame).with_roles(weight="weight")
    counts = frame.group_by("a", "b", "c").len()
    for common in (2, 3):
        for seed in range(5):
            simulated, real = split(released(data, seed, number=20, common=common))
            assert simulated.join(real, on=frame.columns, how="semi").is_empty()
            repeated = simulated.join(counts, on=["a", "b", "c"], how="inner")
            assert repeated["len"].min() is None or repeated["len"].min() >= common


def test_margins_and_relations_are_about_kept():
    data = tacit.datasets.census(4000)
    simulated, real = split(released(data, share=0.4))
    for column in ("age", "hours"):
        spread = real[column].std()
        assert simulated[column].mean() == pytest.approx(real[column].mean(), abs=0.15 * spread)
        assert simulated[column].std() == pytest.approx(spread, rel=0.1)
    logs = [f.filter(pl.col("income") > 0)["income"].log() for f in (simulated, real)]
    assert logs[0].mean() == pytest.approx(logs[1].mean(), abs=0.1)
    assert logs[0].std() == pytest.approx(logs[1].std(), rel=0.1)
    for column in ("sex", "marital", "education", "occupation"):
        shares = [
            dict(f[column].value_counts(normalize=True).iter_rows()) for f in (simulated, real)
        ]
        assert sum(abs(shares[0].get(c, 0) - p) for c, p in shares[1].items()) / 2 < 0.12
    numeric = ["age", "hours", "income", "taxes"]
    ranks = [f.select(pl.col(numeric).rank()).to_numpy() for f in (simulated, real)]
    assert np.abs(np.corrcoef(ranks[0].T) - np.corrcoef(ranks[1].T)).max() < 0.12
    assert set(simulated.select("employed", "occupation").rows()) <= set(
        real.select("employed", "occupation").rows()
    )


def test_edit_rules_hold_on_simulated_records():
    data = tacit.datasets.census(1000, missing=0.05)
    release = released(data, share=0.3)
    assert sum(release.data.broken_constraints().values()) == 0


def test_places_numbers_and_digits_do_not_give_simulated_records_away():
    data = tacit.datasets.census(2000)
    release = released(data, share=0.2, reweight=False)
    simulated, real = split(release)
    at = np.flatnonzero(release.rows < 0) / release.data.n_records
    assert at.mean() == pytest.approx(0.5, abs=0.05)
    assert simulated["household"].median() == pytest.approx(real["household"].median(), rel=0.15)
    for column in ("income", "taxes", "weight"):
        assert (simulated[column] == simulated[column].round(2)).all()
        assert simulated[column].max() <= real[column].max()
    # An exact income that occurs twice would mark one of two records as a copy.
    incomes = real.filter(pl.col("income") > 0)["income"]
    assert len(set(simulated["income"]) & set(incomes)) < 0.05 * len(simulated)
    assert release.frame.schema == data.drop(["person_id"]).frame.schema


def test_households_are_simulated_whole_with_one_place_and_weight():
    data = tacit.datasets.census(3000, missing=0.02)
    release = released(data, share=0.3)
    simulated, real = split(release)
    assert not set(simulated["household"]) & set(real["household"])
    shared = simulated.group_by("household").agg(
        pl.col("weight").n_unique(), pl.col("region").drop_nulls().n_unique()
    )
    assert shared["weight"].max() == 1
    assert shared["region"].max() <= 1
    sizes = [f.group_by("household").len()["len"].mean() for f in (simulated, real)]
    assert sizes[0] == pytest.approx(sizes[1], rel=0.1)
    changes = (release.frame["household"].diff().drop_nulls() != 0).sum()
    assert changes == release.frame["household"].n_unique() - 1


def test_household_numbers_stay_on_request_and_text_numbers_are_replaced():
    data = tacit.datasets.census(300)
    release = released(data, share=0.1, renumber=False)
    _, real = split(release)
    assert real["household"].equals(data.frame["household"][release.rows[release.rows >= 0]])
    frame = data.frame.with_columns(pl.format("H{}", "household").alias("household"))
    text = tacit.Microdata.of(frame.drop("person_id")).with_roles(household="household")
    simulated, real = split(released(text, share=0.1))
    assert not set(simulated["household"]) & set(real["household"])
    assert real["household"].n_unique() == data.frame["household"].n_unique()


def test_the_sum_of_the_weights_stays():
    data = tacit.datasets.census(500)
    assert released(data, share=0.2).data.weights.sum() == pytest.approx(data.weights.sum())
    assert released(data, share=0.2, reweight=False).data.weights.sum() > 1.1 * data.weights.sum()


def test_knowledge_does_not_reach_simulated_records():
    data = tacit.datasets.census(100)
    data = data.with_knowledge(["age"], some={"income": np.arange(100) < 5})
    release = released(data, share=0.2)
    known = release.data.knowledge.known("income", release.data.n_records)
    assert set(release.rows[known]) == {0, 1, 2, 3, 4}


def test_the_simulated_factor_of_the_risk_measure_agrees():
    data = tacit.datasets.census(400)
    release = released(data, share=0.25)
    measured = tacit.risk.IdentificationRisk().measure(data, release)
    assert measured.details["simulated_factor"] == pytest.approx(0.25, abs=0.01)


def test_what_cannot_be_simulated_is_refused():
    with pytest.raises(ParameterError, match="share"):
        mask.SimulatedRecords()
    with pytest.raises(DataError, match="adds no record"):
        released(tacit.datasets.census(20), share=0.001)
    with pytest.raises(DataError, match="no like"):
        released(tacit.datasets.census(1), number=3)
    with pytest.raises(DataError, match="equal no real one"):
        released(pl.DataFrame({"a": ["x", "y"] * 20}), share=0.1)
    with pytest.raises(DataError, match="infinite"):
        released(pl.DataFrame({"a": [1.0, float("inf"), 2.0]}), share=0.3)


def test_a_large_file_is_modelled_by_a_sample_and_copies_are_sought_in_all_of_it(monkeypatch):
    monkeypatch.setattr("tacit.mask.simulated_records._LARGEST_POOL", 200)
    data = tacit.datasets.census(1500).drop(["weight"])
    simulated, real = split(released(data, number=50))
    columns = [c for c in real.columns if c != "household"]
    assert simulated.join(real, on=columns, how="semi", nulls_equal=True).is_empty()
    assert len(simulated) == 50
