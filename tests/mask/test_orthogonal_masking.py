"""Random orthogonal masking keeps means and covariances exactly."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import mask
from tacit.core.errors import DataError, ParameterError
from tacit.mask.orthogonal_masking import turned


def turns(n_blocks, size, angle, seed):
    """The rotations themselves: what becomes of the unit vectors."""
    units = np.broadcast_to(np.eye(size), (n_blocks, size, size))
    return turned(units, angle, np.random.default_rng(seed))


@settings(max_examples=30, deadline=None)
@given(st.integers(3, 40), st.floats(0.01, 3.0), st.integers(0, 1000))
def test_a_turn_is_orthogonal_keeps_the_sum_and_has_the_angle(n, angle, seed):
    for turn in turns(3, n, angle, seed):
        assert np.allclose(turn @ turn.T, np.eye(n), atol=1e-9)
        assert np.allclose(turn @ np.ones(n), 1.0)
        largest = np.abs(np.angle(np.linalg.eigvals(turn))).max()
        assert largest == pytest.approx(angle, rel=1e-6)


def test_every_block_is_turned_by_another_rotation():
    a, b = turns(2, 10, 0.5, seed=1)
    assert not np.allclose(a, b)


@pytest.mark.parametrize("n", [2, 3, 5, 9])
def test_no_record_of_a_small_file_is_released_as_it_is(n):
    before = pl.DataFrame({"a": np.arange(n) ** 2.0, "b": np.arange(n, 0, -1.0)})
    method = mask.OrthogonalMasking(columns=["a", "b"], block_size=4)
    after = tacit.Plan([method]).apply(before, seed=1).frame
    assert not np.isclose(before.to_numpy(), after.to_numpy()).all(axis=1).any()


def test_an_angle_of_half_a_circle_is_refused():
    with pytest.raises(ParameterError, match="angle"):
        mask.OrthogonalMasking(columns=["a"], angle=3.2)


@pytest.mark.parametrize("n", [2, 61, 1000])
def test_sample_mean_and_covariance_are_kept_to_rounding(n):
    rng = np.random.default_rng(n)
    before = pl.DataFrame({"a": rng.lognormal(size=n), "b": rng.standard_normal(n)})
    after = tacit.Plan([mask.OrthogonalMasking(columns=["a", "b"])]).apply(before, seed=1).frame
    x, y = before.to_numpy(), after.to_numpy()
    assert np.allclose(x.mean(axis=0), y.mean(axis=0))
    assert np.allclose(np.cov(x.T), np.cov(y.T))


def test_a_larger_angle_moves_records_farther():
    before = pl.DataFrame({"a": np.random.default_rng(0).standard_normal(600)})

    def moved(angle):
        method = mask.OrthogonalMasking(columns=["a"], angle=angle)
        return float(
            (tacit.Plan([method]).apply(before, seed=1).frame["a"] - before["a"]).abs().mean()
        )

    assert 0 < moved(0.05) < moved(0.5) < moved(2.0)


def test_a_record_alone_with_its_missing_pattern_is_blanked_never_released_as_it_is():
    before = pl.DataFrame({"a": [1.0, 2.0, 3.0, 4.0], "b": [1.0, 5.0, 2.0, None]})
    after = tacit.Plan([mask.OrthogonalMasking(columns=["a", "b"])]).apply(before, seed=1).frame
    assert after.row(3) == (None, None)
    assert after.head(3).null_count().row(0) == (0, 0)
    with pytest.raises(DataError, match="two records"):
        tacit.Plan([mask.OrthogonalMasking(columns=["a"])]).apply(before.head(1), seed=1)
