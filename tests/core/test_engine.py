"""Nothing big is collected in silence: a limit, its three ways to be set, and the way out."""

import duckdb
import pytest

import tacit
from tacit import mask
from tacit.core import engine
from tacit.core.engine import check_collectable, collect_limit, collecting_at_most, memory_in_bytes
from tacit.core.errors import DataError, ParameterError


def relation(n=1000):
    return duckdb.sql(f"select i, i * 2 as j from range({n}) t(i)")  # noqa: S608


def test_the_default_limit(monkeypatch):
    monkeypatch.delenv(engine.LIMIT_VARIABLE, raising=False)
    assert collect_limit() == engine.DEFAULT_LIMIT


def test_the_variable_sets_it_and_the_block_wins(monkeypatch):
    monkeypatch.setenv(engine.LIMIT_VARIABLE, "5_000")
    assert collect_limit() == 5000
    with collecting_at_most(7):
        assert collect_limit() == 7
    assert collect_limit() == 5000


@pytest.mark.parametrize("given", ["much", "-3", "1e6"])
def test_a_limit_that_is_no_number_is_refused(monkeypatch, given):
    monkeypatch.setenv(engine.LIMIT_VARIABLE, given)
    with pytest.raises(ParameterError, match="whole number"):
        collect_limit()


@pytest.mark.parametrize("given", [-1, True, 2.5])
def test_a_bad_bound_is_refused(given):
    with pytest.raises(ParameterError, match="0 or above"), collecting_at_most(given):
        pass


def test_engine_data_at_the_limit_are_collected_and_beyond_it_refused():
    data = tacit.Microdata.of(relation())
    with collecting_at_most(2000):
        assert data.local.height == 1000
    with collecting_at_most(1999), pytest.raises(DataError, match="blocks=10_000") as refusal:
        _ = tacit.Microdata.of(relation()).local
    assert "1,000 records, 2,000 values, limit 1,999" in str(refusal.value)
    assert engine.LIMIT_VARIABLE in str(refusal.value)


def test_a_plan_never_collects_beyond_the_limit():
    plan = tacit.Plan([mask.Mdav(columns=["i"], k=3)])
    with collecting_at_most(100), pytest.raises(DataError, match="more than may be collected"):
        plan.apply(relation(), seed=1)


def test_a_measure_takes_only_the_columns_it_needs():
    from tacit import risk

    with collecting_at_most(1000):
        assert risk.KAnonymity(keys=["i"]).measure(relation()).value == 1
        with pytest.raises(DataError, match="more than may be collected"):
            risk.KAnonymity(keys=["i", "j"]).measure(relation())


def test_frames_in_memory_have_no_limit():
    with collecting_at_most(0):
        assert tacit.datasets.census(50).local.height == 50


def test_free_memory_is_a_limit_too(monkeypatch):
    monkeypatch.setattr(engine, "_BYTES_PER_VALUE", 1 << 60)
    with pytest.raises(DataError, match="GiB free"):
        check_collectable(1, 1)


@pytest.mark.parametrize(
    ("text", "n_bytes"), [("2GB", 2 * 10**9), ("512 mib", 2**29), ("1.5KB", 1500), ("100", 100)]
)
def test_amounts_of_memory(text, n_bytes):
    assert memory_in_bytes(text) == n_bytes


@pytest.mark.parametrize("text", ["", "GB", "2 GBs", "-1GB", "0", "1e9", "2,5GB"])
def test_what_is_no_amount_of_memory(text):
    with pytest.raises(ParameterError, match="like 2GB"):
        memory_in_bytes(text)
