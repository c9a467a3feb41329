"""Changed values look like those beside them: the same steps, sums that hold, levels that hold."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import tables
from tacit.tables._precision import Steps, decimals

RULE = tables.rule("p(15)|dominance(2,75)|freq(3)")


def _business(places, seed=1, n=220, columns=("region", "size", "form")):
    """Skewed turnover in steps of ten to the power of minus `places`."""
    rng = np.random.default_rng(seed)
    value = np.round(rng.lognormal(5, 1.6, n) * 10.0 ** max(-places, 0), places) + 10.0**-places
    codes = {name: rng.choice(list("abcde")[: 5 - j], n) for j, name in enumerate(columns)}
    return pl.DataFrame({**codes, "turnover": np.round(value, max(places, 0))})


def _table(places, **options):
    return tacit.tabulate(_business(places, **options), ["region", "size", "form"], "turnover",
                          top=60)  # fmt: skip


METHODS = {
    "absolute": tables.ControlledAdjustment(),
    "squares": tables.ControlledAdjustment(norm="squares"),
    "margins": tables.ControlledAdjustment(keep="margins", seconds=20),
    "m3a": tables.M3A(crowd=60),
}


@pytest.mark.parametrize("places", [2, 1, 0, -3])
@pytest.mark.parametrize("method", METHODS)
def test_changed_cells_have_the_steps_of_the_source(method, places):
    table = _table(places)
    try:
        made = table.protect(METHODS[method], RULE)
    except tacit.TacitError:
        assert method == "margins"  # sums that are sensitive cannot be kept
        return
    assert made.changed.sum() > 10
    units = made.published * 10.0**places
    np.testing.assert_allclose(units, np.round(units), rtol=0, atol=1e-4)
    missed = np.abs(table.relations @ made.published).max()
    assert missed <= 1e-9 * np.abs(table.value).max()
    assert made.verify().passed  # from original and published values alone
    moved = np.abs(made.published - table.value)[made.changed]
    assert moved.min() >= 0.99 * 10.0**-places  # no cell counts as changed by dust alone


@settings(max_examples=25, deadline=None)
@given(st.integers(0, 10**6), st.sampled_from([2, 0]), st.sampled_from(["absolute", "squares"]))
def test_levels_hold_to_the_last_digit_after_rounding(seed, places, norm):
    """An attacker who knows the level gains nothing from the step: no cell is nearer than asked."""
    frame = _business(places, seed=seed, n=40)
    table = tacit.tabulate(frame, ["region", "size"], "turnover")
    made = table.protect(tables.ControlledAdjustment(norm=norm), tables.rule("p(15)"))
    found = made.sensitive
    change = (made.published - table.value)[found.cells]
    above, below = found.above[found.cells], found.below[found.cells]
    assert np.all((change >= above - 1e-7) | (change <= -below + 1e-7))
    assert np.all(made.published >= 0)


def test_totals_of_m3a_stay_safe_after_rounding():
    table = _table(0)
    made = table.protect(tables.M3A(crowd=60), RULE)
    for cell in made.sensitive.primary:
        m = int(table.respondents.n_units[cell])
        own = table.respondents.top[cell, :m]
        assert abs(made.published[cell] - own[0]) >= 0.1 * own[0] - 1e-6
        if m >= 2:
            assert abs(made.published[cell] - own[0] - own[1]) >= 0.1 * own[0] - 1e-6


def test_original_totals_are_kept_in_steps_too():
    table = _table(0, n=2000)
    cells = np.zeros(table.n_cells, dtype=bool)
    cells[np.flatnonzero(~table.is_total & (table.count >= 3))[[0, 7]]] = True
    made = tables.M3A(keep_totals=True).protect(table, tables.Sensitive.by("hand", cells, 1.0))
    assert made.changed.any()
    np.testing.assert_array_equal(made.published, np.round(made.published))
    np.testing.assert_array_equal(made.published[table.is_total], table.value[table.is_total])
    assert made.verify().passed


def test_noise_on_totals_has_the_steps_of_the_source_and_keeps_its_least_size():
    keyed = tables.with_record_keys(_business(0), "a long and secret phrase")
    table = tacit.tabulate(keyed, ["region", "size", "form"], "turnover", keys=["rk1", "rk2"])
    made = table.protect(tables.CellKeyMagnitude(), RULE)
    np.testing.assert_array_equal(made.published, np.round(made.published))
    cells = made.sensitive.cells
    assert cells.sum() > 10
    moved = np.abs(made.published - table.value)[cells]
    assert np.all(moved >= 0.125 * table.respondents.top[cells, 0] * (1 - 1e-12))


def test_weighted_counts_with_noise_have_the_decimals_of_the_weights():
    frame = _business(0).with_columns(w=pl.Series(np.arange(220) % 7 + 0.5))
    keyed = tables.with_record_keys(frame, "a long and secret phrase")
    table = tacit.tabulate(keyed, ["region", "size"], weights="w", keys="rk1")
    published = table.protect(tables.CellKey()).published
    np.testing.assert_allclose(published * 10, np.round(published * 10), rtol=0, atol=1e-9)


def test_steps_of_a_table():
    assert Steps.of(_table(2)) == Steps(2)
    assert Steps.of(_table(-3)) == Steps(-3)
    few = tacit.tabulate(pl.DataFrame({"a": list("xyz"), "v": [10, 20, 30]}), "a", "v")
    assert Steps.of(few) == Steps(0)  # three cells that end in 0 say nothing
    assert Steps.of(few.replace(value=few.value / 7)) is None
    assert Steps.of(few.replace(value=few.value * 0)) == Steps(0)


def test_next_steps():
    steps = Steps(2)
    assert steps.up(np.array([0.301, 0.1 + 0.2, -np.inf])).tolist() == [0.31, 0.3, -np.inf]
    assert steps.down(np.array([0.309, 0.3, np.inf])).tolist() == [0.3, 0.3, np.inf]
    assert steps.away(np.array([5.0, 5.0]), np.array([5.001, 4.999])).tolist() == [5.01, 4.99]
    assert Steps(-2).up(np.array([101.0, 200.0])).tolist() == [200.0, 200.0]
    kept = 0.1 + 0.2
    assert steps.beside(np.array([kept, 1.0]), np.array([0.3, 1.2345])).tolist() == [kept, 1.23]


def test_halves_are_rounded_alike_whatever_their_dust():
    assert len(set(Steps(2).rounded(np.array([2.675, 2.675 + 1e-13, 2.675 - 1e-13])))) == 1


def test_decimals():
    assert decimals(np.array([0.5, 0.25])) == 2
    assert decimals(np.array([1 / 3])) is None
