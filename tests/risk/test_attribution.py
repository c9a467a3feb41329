"""Correct attribution: the CAP family by definition."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given
from hypothesis import strategies as st

import tacit
from tacit import Microdata, risk
from tacit.core.errors import DataError

targets = st.one_of(st.none(), st.sampled_from("abc"))
rows = st.lists(st.tuples(st.integers(0, 3), targets), min_size=1, max_size=20)


def microdata(records):
    frame = pl.DataFrame(records, schema={"q": pl.Int64, "t": pl.String}, orient="row")
    return Microdata.of(frame).with_roles(keys=["q"], confidential=["t"])


@given(rows, rows)
def test_equal_to_the_definition(before, after):
    if not {t for _, t in before} & {t for _, t in after} - {None}:
        return
    original, released = microdata(before), microdata(after)
    # Records that correspond could be recoded; these do not.
    if len(before) == len(after):
        released = microdata([*after, after[0]])
        after = [*after, after[0]]
    found = risk.CorrectAttribution().measure(original, released)
    cap = [
        np.nan
        if t is None
        else sum(r == (q, t) for r in after) / max(sum(r[0] == q for r in after), 1)
        for q, t in before
    ]
    np.testing.assert_allclose(found.per_unit, cap)
    numbers = found.details["by_target"]["t"]
    counted = [c for c in cap if not np.isnan(c)]
    assert numbers["dcap"] == pytest.approx(np.mean(counted))
    assert numbers["disco"] == pytest.approx(np.mean([c == 1 for c in counted]))
    share = [sum(r[1] == t for r in after) / len(after) for _, t in before if t is not None]
    assert numbers["baseline"] == pytest.approx(np.mean(share))
    targeted = []
    for q, t in after:
        alone = t is not None and {r[1] for r in after if r[0] == q} == {t}
        people = [r for r in before if r[0] == q]
        if alone and people:
            targeted.append(np.mean([r[1] == t for r in people]))
    expected = np.mean(targeted) if targeted else np.nan
    assert numbers["tcap"] == pytest.approx(expected, nan_ok=True)


def test_identity_of_unique_keys_attributes_everything_and_a_constant_nothing_but_itself():
    original = microdata([(i, "abc"[i % 3]) for i in range(30)])
    assert risk.CorrectAttribution().measure(original).value == 1
    constant = microdata([(i, "a") for i in range(31)])
    found = risk.CorrectAttribution().measure(original, constant)
    assert found.value == pytest.approx(1 / 3)
    assert found.details["by_target"]["t"]["baseline"] == pytest.approx(1 / 3)


def test_independent_targets_are_attributed_at_the_baseline():
    rng = np.random.default_rng(1)
    frames = [
        pl.DataFrame({"q": rng.integers(0, 5, n), "t": rng.choice(list("abcd"), n)})
        for n in (4000, 4001)
    ]
    original = Microdata.of(frames[0]).with_roles(keys=["q"], confidential=["t"])
    numbers = risk.CorrectAttribution().measure(original, frames[1]).details["by_target"]["t"]
    assert numbers["dcap"] == pytest.approx(numbers["baseline"], abs=0.02)
    assert numbers["baseline"] == pytest.approx(0.25, abs=0.02)


def test_numeric_targets_are_cut_into_groups_of_the_original():
    rng = np.random.default_rng(2)
    before = pl.DataFrame({"q": rng.integers(0, 3, 1000), "t": rng.normal(size=1000)})
    original = Microdata.of(before).with_roles(keys=["q"], confidential=["t"])
    shifted = before.with_columns(pl.col("t") + 100)
    found = risk.CorrectAttribution(bins=5)
    assert found.measure(original).value == pytest.approx(0.2, abs=0.02)
    top = found.measure(original, shifted).per_unit
    assert top.mean() == pytest.approx(0.2, abs=0.02)
    assert set(np.unique(top)) == {0.0, 1.0}


def test_several_targets_are_averaged_and_lost_ones_named():
    data = tacit.datasets.census(300)
    measure = risk.CorrectAttribution(keys=["sex"], targets=["occupation", "income"])
    found = measure.measure(data)
    values = [n["dcap"] for n in found.details["by_target"].values()]
    assert found.value == pytest.approx(np.mean(values))
    fewer = measure.measure(data, data.drop(["income"]).take(np.arange(299)))
    assert fewer.details["targets_removed"] == ["income"]


def test_bad_input():
    data = tacit.datasets.census(30)
    with pytest.raises(DataError, match="key and a target"):
        risk.CorrectAttribution(keys=["sex"], targets=["sex"]).measure(data)
    with pytest.raises(DataError, match="nothing to attribute"):
        risk.CorrectAttribution(keys=["sex"], targets=["income"]).measure(
            data, data.drop(["income"])
        )
    assert risk.CorrectAttribution().objection(Microdata.of(data.frame))
    assert risk.CorrectAttribution(targets=["income"]).objection(Microdata.of(data.frame))
    assert risk.CorrectAttribution().objection(data) is None
