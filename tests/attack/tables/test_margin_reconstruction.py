"""Reconstruction: a small block is rebuilt from exact margins, not from protected ones."""

from itertools import combinations

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import attack, tables


@pytest.fixture(scope="module")
def block():
    """A census block of 48 people in 320 combinations, most of them alone in theirs."""
    return people(11)


def people(seed):
    rng, n = np.random.default_rng(seed), 48
    return pl.DataFrame(
        {
            "sex": rng.choice(["f", "m"], n),
            "age": rng.choice([f"{a:02}" for a in range(16)], n),
            "origin": rng.choice(list("abcde"), n, p=[0.5, 0.2, 0.1, 0.1, 0.1]),
            "tenure": rng.choice(["own", "rent"], n),
        }
    )


def margins(frame):
    keyed = tables.with_record_keys(frame, "a long and secret phrase")
    names = [c for c in frame.columns if not c.startswith("rk")]
    return {
        "-".join(by): tacit.tabulate(keyed, list(by), keys="rk1") for by in combinations(names, 3)
    }


def run(frame, made):
    target = attack.TableTarget(tuple(made), tacit.Microdata.of(frame))
    return attack.MarginReconstruction(seconds=120).run(target)


def bare(made):
    return [tables.ProtectedTable(t, t.sensitive(), t.value) for t in made.values()]


def test_exact_margins_rebuild_the_block(block):
    found = run(block, bare(margins(block)))
    assert found.success.value > 0.95
    assert found.baseline.value < 0.3
    assert found.leaked


def safe(frame):
    data = tacit.Microdata.of(frame).with_roles(keys=frame.columns)
    changed = tables.Safe(columns=frame.columns).apply(data, np.random.default_rng(1))
    return bare(margins(changed.local.select(frame.columns)))


def with_cell_keys(frame):
    return [t.protect(tables.CellKey()) for t in margins(frame).values()]


@pytest.mark.parametrize("protect", [with_cell_keys, safe])
def test_noise_and_safe_rebuild_less_than_half_of_six_blocks_and_more_than_guessing(protect):
    """One block is too few to tell; six say that the reconstruction fails, and not altogether.

    Noise of mean 0 shows every third person who is alone; SAFE keeps what it need not change. So
    the records that are right are fewer than those that are wrong, and more than by guessing.
    """
    found = [run(frame, protect(frame)) for frame in map(people, range(6))]
    pooled, guessed = (
        attack.Rate.of(np.repeat([rate.value for rate in rates], 48))
        for rates in ([f.success for f in found], [f.baseline for f in found])
    )
    assert pooled.high < 0.53
    assert guessed.high < pooled.low
    assert not found[0].leaked
    assert "neither a leak nor safety" in found[0].warnings[0]


def test_people_whose_category_was_lost_are_not_rebuilt():
    """SAFE may drop a category; those who had it count as missed."""
    frame = pl.DataFrame(
        {"a": list("xxxxxxy"), "b": list("uuuvvvu"), "c": list("pppqqqp"), "d": list("stsstss")}
    )
    kept = bare(margins(frame[:6]))
    target = attack.TableTarget(tuple(kept), tacit.Microdata.of(frame))
    found = attack.MarginReconstruction().run(target)
    assert found.success.n == 7
    assert found.success.value == pytest.approx(6 / 7)


def suppressed(block, rule):
    """Hide cells from outsiders; the attacker of this file is one."""
    linked = tables.link(margins(block))
    return list(linked.protect(tables.SuppressModular(singletons=False), rule).split().values())


def test_suppression_stops_it_where_zeros_are_hidden_too(block):
    found = run(block, suppressed(block, tables.MinFrequency(n=3) | tables.ZeroUnsafe(empty=True)))
    assert not found.leaked, found
    assert found.success.low <= found.baseline.value <= found.success.high


def test_zeros_that_stay_open_rebuild_records_from_suppressed_margins(block):
    """Where nobody is, is known; what is left over are the records, counts hidden or not."""
    found = run(block, suppressed(block, tables.MinFrequency(n=3)))
    assert found.success.value > 0.4
    assert found.leaked


def test_too_many_combinations_are_refused(block):
    target = attack.TableTarget(tuple(bare(margins(block))), tacit.Microdata.of(block))
    report = attack.audit(target, attacks=[attack.MarginReconstruction(most=10)])
    assert "too many" in report.left_out["table-reconstruction"]
