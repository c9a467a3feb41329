"""Noise on totals, scaled to the largest contributions."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import tables
from tacit.core.errors import DataError, ParameterError, SchemaError

KEYS = ["rk1", "rk2"]


@pytest.fixture(scope="module")
def incomes(keyed):
    return tacit.tabulate(keyed, ["region", "education"], "income", weights=None, keys=KEYS)


def change(table, method, rule=None):
    return table.protect(method, rule).published - table.value


def test_noise_is_a_share_of_the_largest_contribution(incomes):
    method = tables.CellKeyMagnitude(small_share=0.2)
    noise = change(incomes, method)
    largest = incomes.respondents.top[:, 0]
    assert np.all(np.abs(noise) <= 5 * 0.2 * largest + 1e-6)
    units = noise[largest > 0] / (0.2 * largest[largest > 0])
    full = incomes.value[largest > 0] >= 5 * 0.2 * largest[largest > 0]
    # Half steps of the noise table, where nothing had to be mixed.
    cent = 0.01 / (0.2 * largest[largest > 0][full])
    assert np.all(np.abs(units[full] * 2 - np.round(units[full] * 2)) <= cent + 1e-6)
    assert units[full].std() == pytest.approx(1.0, abs=0.25)
    assert abs(units[full].mean()) < 0.25


def test_several_contributions_with_weights(incomes):
    one = change(incomes, tables.CellKeyMagnitude(small_share=0.2))
    three = change(
        incomes, tables.CellKeyMagnitude(small_share=0.2, largest=3, shares=(1, 0.5, 0.2))
    )
    assert not np.array_equal(one, three)
    top = incomes.respondents.top[:, :3]
    assert np.all(np.abs(three) <= 5 * 0.2 * (top * [1, 0.5, 0.2]).sum(axis=1) + 1e-6)


def test_the_share_falls_beyond_the_flexpoint():
    method = tables.CellKeyMagnitude(small_share=0.3, large_share=0.03, flexpoint=1000, steepness=3)
    sizes = np.array([10.0, 999.0, 1000.0, 5000.0, 1e9])
    share = method._share_of(sizes)
    assert share[:2].tolist() == [0.3, 0.3]
    assert share[2] == pytest.approx(0.3)
    # By hand: 0.03 (1 + (0.3 * 5000 - 30) / 30 * (2000 / 6000)^3).
    assert share[3] == pytest.approx(0.03 * (1 + 49 / 27))
    assert share[4] == pytest.approx(0.03, rel=1e-3)


def test_small_contributions_get_the_noise_of_counts(keyed):
    frame = keyed.local.with_columns(x=pl.Series(np.arange(3000) % 3).cast(float))
    table = tacit.tabulate(frame, ["region", "sex"], "x", keys=KEYS)
    small = tables.magnitude_noise(8, 2.0)
    method = tables.CellKeyMagnitude(small_share=0.3, small_noise=small)
    assert method.separation == pytest.approx(np.sqrt(2) / 0.3)
    noise = change(table, method)
    large = table.value > 10
    np.testing.assert_allclose(noise[large] * 2, np.round(noise[large] * 2), atol=1e-9)
    assert noise[large].std() == pytest.approx(np.sqrt(2), abs=0.5)


def test_parity_chooses_the_table(incomes):
    still = tables.NoiseTable(start=(0, 5), change=(0, 0), upper=(1, 1))
    method = tables.CellKeyMagnitude(odd_noise=still)
    noise = change(incomes, method)
    odd = incomes.respondents.n_units % 2 == 1
    assert np.all(noise[odd] == 0)
    assert np.any(noise[~odd] != 0)


def test_sensitive_cells_get_extra_noise(incomes):
    rule = tables.Dominance(n=1, k=30)
    plain, extra = (change(incomes, tables.CellKeyMagnitude(extra=e), rule) for e in (0.0, 2.0))
    cells = rule.sensitive(incomes).cells
    assert cells.any()
    assert not cells.all()
    np.testing.assert_array_equal(plain[~cells], extra[~cells])
    moved = cells & (plain > 0)
    assert np.all(extra[moved] > plain[moved])


def test_no_sensitive_total_is_published_near_the_truth_by_default(incomes):
    """Half a unit of a quarter: at least 12.5 % of the largest contribution, on either side."""
    rule = tables.Dominance(n=1, k=30)
    cells = rule.sensitive(incomes).cells & (incomes.respondents.top[:, 0] > 0)
    shift = change(incomes, tables.CellKeyMagnitude(), rule)[cells]
    plain = change(incomes, tables.CellKeyMagnitude(extra=0), rule)[cells]
    largest = incomes.respondents.top[cells, 0]
    assert np.all(np.abs(shift) >= 0.125 * largest * (1 - 1e-9))
    assert np.any(plain == 0)
    assert {-1.0, 1.0} == set(np.sign(shift[plain == 0]).tolist())


@settings(max_examples=30)
@given(st.integers(0, 10**6), st.integers(1, 60), st.booleans())
def test_totals_never_change_sign_and_zeros_stay(seed, n, negative):
    rng = np.random.default_rng(seed)
    frame = pl.DataFrame(
        {
            "r": rng.choice(list("abcd"), n),
            "x": rng.choice([0.0, 1.0, 7.5, 1000.0, -20.0 if negative else 3.0], n),
            "k": rng.integers(0, 2**31 - 1, n),
            "j": rng.integers(0, 2**31 - 1, n),
        }
    )
    table = tacit.tabulate(frame, "r", "x", keys=["k", "j"])
    method = tables.CellKeyMagnitude(largest=2, shares=(1, 0.5), flexpoint=100)
    published = table.protect(method).published
    assert np.all(published * table.value >= -1e-9)
    assert np.all(published[table.value == 0] == 0)


def test_the_same_total_is_the_same_in_every_table(keyed, incomes):
    method = tables.CellKeyMagnitude()
    narrow = tacit.tabulate(keyed, ["education"], "income", weights=None, keys=KEYS)
    wide = incomes.protect(method).published
    for code in narrow.dimensions[0].codes:
        assert narrow.protect(method).published[narrow.cell(education=code)] == pytest.approx(
            wide[incomes.cell(education=code)], rel=1e-12
        )


def test_records_that_contribute_nothing_do_not_bring_fresh_noise():
    """An intruder who can add empty records would otherwise average the noise away."""
    rng = np.random.default_rng(2)
    keys = rng.integers(0, 2**31 - 1, (60, 2))
    base = pl.DataFrame({"r": ["a"] * 20, "x": rng.lognormal(5, 1, 20)})
    values = set()
    for extra in range(40):
        padding = pl.DataFrame({"r": ["a"] * extra, "x": [0.0] * extra}, schema=base.schema)
        frame = pl.concat([base, padding])
        frame = frame.with_columns(k=keys[: frame.height, 0], j=keys[: frame.height, 1])
        table = tacit.tabulate(frame, "r", "x", keys=["k", "j"])
        values.add(round(table.protect(tables.CellKeyMagnitude()).published[0], 6))
    assert len(values) == 1
    with_zeros = table.protect(tables.CellKeyMagnitude(include_zeros=True)).published[0]
    assert round(with_zeros, 6) not in values


def test_a_known_total_does_not_give_away_the_noise_of_the_count(keyed):
    """The noise of a total and that of the count of the same cell are unrelated."""
    totals = tacit.tabulate(keyed, ["region", "occupation"], "hours", weights=None, keys=KEYS)
    counts = tacit.tabulate(keyed, ["region", "occupation"], weights=None, keys=KEYS)
    one = change(totals, tables.CellKeyMagnitude())
    other = change(counts, tables.CellKey())
    busy = (counts.count > 20) & (totals.value > 0)
    assert abs(np.corrcoef(one[busy] / totals.respondents.top[busy, 0], other[busy])[0, 1]) < 0.3


def test_other_bases_and_weights(keyed):
    weighted = tacit.tabulate(keyed, ["sex"], "income", keys=KEYS)
    mean = change(weighted, tables.CellKeyMagnitude(basis="mean"))
    value = change(weighted, tables.CellKeyMagnitude(basis="value"))
    n = weighted.respondents.n_units
    np.testing.assert_allclose(mean * n, value, rtol=1e-9)
    largest = change(weighted, tables.CellKeyMagnitude())
    top = weighted.respondents.top[:, 0] * weighted.respondents.weight[:, 0]
    assert np.all(np.abs(largest) <= 5 * 0.25 * top + 1e-6)


def test_one_column_of_keys_is_warned_about(keyed):
    table = tacit.tabulate(keyed, ["sex"], "income", weights=None, keys="rk1")
    assert "use two" in table.protect(tables.CellKeyMagnitude()).notes["warning"]


@pytest.mark.parametrize(
    ("fields", "says"),
    [
        ({"shares": (0.5,)}, "begin with 1"),
        ({"largest": 2}, "one relative size"),
        ({"largest": 2, "shares": (1, 1.5)}, "never rise"),
        ({"small_share": 0.1, "large_share": 0.2}, "must not exceed"),
        ({"small_share": 0.0}, "small_share"),
    ],
)
def test_bad_parameters_are_named(fields, says):
    with pytest.raises(ParameterError, match=says):
        tables.CellKeyMagnitude(**fields)


def test_tables_it_cannot_protect_are_refused(keyed):
    counts = tacit.tabulate(keyed, ["sex"], weights=None, keys=KEYS)
    with pytest.raises(SchemaError, match="use CellKey"):
        counts.protect(tables.CellKeyMagnitude())
    shallow = tacit.tabulate(keyed, ["sex"], "income", weights=None, keys=KEYS, top=1)
    with pytest.raises(SchemaError, match="top=2"):
        shallow.protect(tables.CellKeyMagnitude(largest=2, shares=(1, 1)))
    bare = tacit.tabulate(keyed, ["sex"], "income", weights=None)
    with pytest.raises(DataError, match="no record keys"):
        bare.protect(tables.CellKeyMagnitude())
