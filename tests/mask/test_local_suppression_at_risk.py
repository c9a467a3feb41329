"""Local suppression on records at risk only: who is touched, and what is still promised."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import mask
from tacit.core.errors import ParameterError, ProtectionError
from tacit.core.keys import encode, frequencies

KEYS = ["a", "b", "c"]


def people(n=300, seed=0, missing=0.0):
    rng = np.random.default_rng(seed)
    share = 1 / np.arange(1, 8) ** 1.5
    columns = {c: rng.choice(list("pqrstuv"), n, p=share / share.sum()) for c in KEYS}
    table = pl.DataFrame({**columns, "w": rng.choice([1.0, 4.0, 60.0], n)})
    gaps = {c: rng.random(n) < missing for c in KEYS}
    return tacit.Microdata.of(table).with_missing(gaps).with_roles(keys=KEYS, weight="w")


def shared(data, columns=KEYS):
    """Records and people that may share each record's key, counted pair by pair."""
    codes = encode(data, columns)
    same = (codes[:, None] == codes[None]) | (codes[:, None] < 0) | (codes[None] < 0)
    same = same.all(axis=2)
    weights = np.ones(len(codes)) if data.weights is None else data.weights
    return same.sum(axis=1), (same * weights).sum(axis=1)


def apply(data, **parameters):
    return tacit.Plan([mask.LocalSuppression(**parameters)]).apply(data, seed=1).data


@pytest.mark.parametrize("missing", [0.0, 0.05])
@pytest.mark.parametrize("k", [2, 4])
@pytest.mark.parametrize("limit", [0.01, 0.1, 0.6])
def test_a_breaker_finds_nobody_who_is_rare_and_at_risk(k, limit, missing):
    data = people(missing=missing)
    after = apply(data, k=k, risk_above=limit)
    f, F = shared(after)
    assert not ((f < k) & (limit + 1e-9 < 1 / F)).any()


def test_only_records_at_risk_are_touched_and_fewer_than_without_a_limit():
    data, k, limit = people(), 3, 0.1
    f, F = shared(data)
    at_risk = (f < k) & (limit < 1 / F)
    rare_only = (f < k) & ~at_risk
    assert at_risk.any()
    assert rare_only.any()
    before, after = data.frame, apply(data, k=k, risk_above=limit).frame
    touched = np.any([before[c].ne_missing(after[c]).to_numpy() for c in KEYS], axis=0)
    assert touched.any()
    assert not (touched & ~at_risk).any()
    everyone = apply(data, k=k).frame
    assert (
        after.null_count().sum_horizontal().item() < everyone.null_count().sum_horizontal().item()
    )


def test_nobody_has_a_greater_risk_than_before():
    data = people()
    before, after = shared(data)[1], shared(apply(data, k=3, risk_above=0.1))[1]
    assert (after >= before - 1e-9).all()


def test_without_weights_the_risk_is_one_over_the_records_with_the_key():
    table = people().frame.select(KEYS)
    data = tacit.Microdata.of(table).with_roles(keys=KEYS)
    # fewer than 4 share a key exactly where 1/f is above 1/4
    assert apply(data, k=4, risk_above=0.25).frame.equals(apply(data, k=4).frame)
    pairs_are_safe = apply(data, k=4, risk_above=0.5)
    f, _ = shared(pairs_are_safe)
    assert f.min() == 2


def test_the_limit_holds_for_each_combination():
    data, k, limit = people(), 3, 0.2
    after = apply(data, k=k, risk_above=limit, subset_size=2, keys=KEYS)
    for columns in (["a", "b"], ["a", "c"], ["b", "c"]):
        f, F = shared(after, columns)
        assert not ((f < k) & (limit + 1e-9 < 1 / F)).any()


@settings(max_examples=25, deadline=None)
@given(
    cells=st.lists(
        st.tuples(*[st.sampled_from(["x", "y", "z", None])] * 2), min_size=4, max_size=12
    ),
    weights=st.lists(st.sampled_from([1.0, 2.0, 50.0]), min_size=12, max_size=12),
    limit=st.sampled_from([0.02, 0.3, 0.9]),
)
def test_the_cheapest_suppression_keeps_the_promise_too(cells, weights, limit):
    table = pl.DataFrame(cells, schema={"a": pl.String, "b": pl.String}, orient="row")
    table = table.with_columns(w=pl.Series(weights[: len(cells)]))
    data = tacit.Microdata.of(table).with_roles(keys=["a", "b"], weight="w")
    results = {s: apply(data, k=2, risk_above=limit, search=s) for s in ("greedy", "optimal")}
    for after in results.values():
        f, F = shared(after, ["a", "b"])
        assert not ((f < 2) & (limit + 1e-9 < 1 / F)).any()
    n_blank = {s: int((encode(d, ["a", "b"]) < 0).sum()) for s, d in results.items()}
    assert n_blank["optimal"] <= n_blank["greedy"]


def test_values_that_must_be_kept_count_only_against_records_at_risk():
    table = pl.DataFrame({"a": ["x"] * 6 + ["rare"], "b": list("ppqqrrp"), "w": [1.0] * 6 + [99.0]})
    data = tacit.Microdata.of(table).with_roles(keys=["a", "b"], weight="w")
    importance = {"a": float("inf")}
    with pytest.raises(ProtectionError, match="a must be kept"):
        apply(data, k=2, importance=importance)
    after = apply(data, k=2, importance=importance, risk_above=0.05)
    assert after.frame["a"].null_count() == 0


def test_what_the_limit_means_is_said_and_the_strict_reading_refused():
    method = mask.LocalSuppression(keys=KEYS, risk_above=0.05)
    assert "risk above 0.05" in method.describe()
    with pytest.raises(ParameterError, match="risk_above"):
        mask.LocalSuppression(keys=KEYS, risk_above=0.05, missing="strict")
    for bad in (0.0, 1.0, -1.0):
        with pytest.raises(ParameterError, match="risk_above"):
            mask.LocalSuppression(keys=KEYS, risk_above=bad)


def test_a_risk_at_the_limit_is_not_above_it():
    table = pl.DataFrame({"a": ["x"] * 10 + ["y"], "w": [0.1] * 10 + [10.0]})
    data = tacit.Microdata.of(table).with_roles(keys=["a"], weight="w")
    # ten times a tenth is 0.9999999999999999 in binary; y stands for ten people
    assert frequencies(encode(data, ["a"]), data.weights)[0] < 1.0
    assert apply(data, k=2, risk_above=0.1).frame["a"].null_count() == 0
