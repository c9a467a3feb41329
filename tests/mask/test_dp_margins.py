"""Differentially private synthesis: what it costs, what it reads, and attacks on both."""

import sys

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import mask, utility
from tacit.core.errors import DataError, ParameterError, TacitError
from tacit.mask.synthesis import private_tree

pytest.importorskip("opendp")

LEVELS = {
    "sex": ["female", "male"],
    "employed": [True, False],
    "marital": ["never married", "married", "divorced", "widowed"],
}


@pytest.fixture(scope="module")
def data():
    return tacit.datasets.census(3000, missing=0.02).drop(["household", "weight"])


def measured(data, **wishes):
    return mask.DpMargins.measured(data, **({"levels": LEVELS, "epsilon": 1.0} | wishes))


@pytest.fixture
def ledgers(monkeypatch):
    """All ledgers that a test opens."""
    found = []

    class Watched(private_tree.Ledger):
        def __init__(self, epsilon):
            super().__init__(epsilon)
            found.append(self)

    monkeypatch.setattr("tacit.mask.dp_margins.Ledger", Watched)
    return found


@pytest.mark.parametrize("epsilon", [0.01, 0.3, 1.0, 7.0])
@pytest.mark.parametrize("pairs", [None, [], [("sex", "marital")]], ids=["tree", "none", "one"])
def test_what_is_spent_is_at_most_what_is_stated(data, ledgers, epsilon, pairs):
    measured(data, epsilon=epsilon, pairs=pairs)
    (ledger,) = ledgers
    assert ledger.spent <= epsilon
    assert ledger.spent == pytest.approx(epsilon, rel=1e-6), "nor is anything wasted"
    n_pairs = 2 if pairs is None else len(pairs)
    assert len(ledger.losses) == 3 + n_pairs + (2 if pairs is None else 0)


def test_the_release_reads_no_value_of_the_data(data):
    """Attack: equal noisy counts, other data; nothing in the release may differ."""
    method = measured(data)
    other = data.with_local(
        data.local.with_columns(
            sex=pl.lit("male"), employed=pl.lit(None, dtype=pl.Boolean), marital=pl.lit("widowed")
        )
    ).take(np.arange(7))
    first, second = (tacit.Plan([method]).apply(d, seed=3).frame for d in (data, other))
    assert first.equals(second)


def test_noise_does_not_come_from_the_seed(data):
    """Attack: an intruder who knows the seed makes the noise again and takes it off."""
    np.random.seed(1)  # noqa: NPY002
    first = measured(data, epsilon=0.1)
    np.random.seed(1)  # noqa: NPY002
    assert measured(data, epsilon=0.1).singles != first.singles


def test_more_data_sets_cost_nothing(data, ledgers):
    method = measured(data, m=3)
    release = tacit.Plan([method]).apply(data, seed=1)
    assert len(release.data_sets) == 3
    assert len(ledgers) == 1
    assert not release.data_sets[0].frame.equals(release.data_sets[1].frame)


def test_neighbours_are_told_apart_no_better_than_stated():
    """Attack: guess from the noisy counts whether one more woman was in the file.

    Nobody can seed this noise; seven standard errors are missed once in 1e11 runs.
    """
    epsilon, n = 1.0, 1500
    levels = {"sex": ["female", "male"]}
    files = [pl.DataFrame({"sex": ["female"] * k + ["male"] * 5}) for k in (20, 21)]
    counts = [
        np.array([measured(f, levels=levels, epsilon=epsilon).singles[0].counts[0]
                  for _ in range(n)]) for f in files
    ]  # fmt: skip
    for cut in range(15, 27):
        for a, b in ((counts[0], counts[1]), (counts[1], counts[0])):
            p, q = (a >= cut).mean(), (b >= cut).mean()
            error = 7 * np.sqrt((p + np.e**2 * q) / n) + 7**2 * np.e / (3 * n)  # Bernstein
            assert p <= np.exp(epsilon) * q + error
    power = (counts[1] >= 21).mean() - (counts[0] >= 21).mean()
    # Largest difference of two discrete Laplace laws one apart: (1 - e^-eps) / (1 + e^-eps).
    assert power == pytest.approx(np.tanh(epsilon / 2), abs=0.115), "the noise is no larger either"


def test_utility_grows_with_epsilon(data):
    original = data.frame.select(list(LEVELS))
    loss = utility.ContingencyLoss(columns=list(LEVELS), distance="total-variation")

    def moved(epsilon):
        release = tacit.Plan([measured(data, epsilon=epsilon)]).apply(data, seed=1)
        return loss.measure(original, release.frame.select(list(LEVELS))).value

    assert moved(20.0) < 0.05
    assert moved(0.01) > 2 * moved(20.0)


def test_values_not_declared_are_never_released(data):
    levels = {"sex": ["female"], "marital": ["married", "widowed", "divorced"]}
    made = tacit.Plan([measured(data, levels=levels)]).apply(data, seed=1).frame
    assert set(made["sex"].drop_nulls()) == {"female"}
    assert 0.3 < made["sex"].null_count() / made.height < 0.7


def test_the_number_of_records_is_noisy_too(data):
    sizes = {
        tacit.Plan([measured(data, epsilon=0.05)]).apply(data, seed=1).frame.height
        for _ in range(4)
    }
    assert sizes != {3000}


@pytest.mark.parametrize("role", ["household", "weight"])
def test_weights_and_households_are_refused(role):
    other = {"household": "weight", "weight": "household"}[role]
    with pytest.raises(DataError, match="one unweighted record"):
        measured(tacit.datasets.census(50).drop([other]))


@pytest.mark.parametrize(
    ("wishes", "words"),
    [
        ({"epsilon": 0.0}, "above zero"),
        ({"epsilon": float("inf")}, "above zero"),
        ({"levels": {}}, "no column"),
        ({"levels": {"sex": []}}, "must be given"),
        ({"levels": {"sex": ["male", "male"]}}, "each once"),
        ({"levels": {"robot": ["male"]}}, "no column 'robot'"),
        ({"levels": {"age": ["old"]}}, "type of the column"),
        ({"pairs": [("sex", "sex")]}, "two of the columns"),
        ({"pairs": [("sex", "marital"), ("marital", "employed"), ("employed", "sex")]}, "circle"),
    ],
    ids=lambda v: str(v)[:40],
)
def test_bad_wishes_are_refused_before_anything_is_spent(data, ledgers, wishes, words):
    with pytest.raises(TacitError, match=words):
        measured(data, **wishes)
    assert not any(ledger.losses for ledger in ledgers)


@pytest.mark.parametrize(
    "changes",
    [
        {"singles": []},
        {"singles": [{"column": "sex", "levels": ["male"], "counts": [1]}]},
        {"pairs": [{"columns": ["marital", "sex"], "counts": [[1]]}]},
    ],
    ids=["none", "short", "pair"],
)
def test_counts_that_do_not_fit_are_refused(changes):
    with pytest.raises(ParameterError):
        mask.DpMargins(**(dict(mask.DpMargins.example) | changes))


def test_an_empty_file_gives_noise_and_no_error():
    frame = pl.DataFrame({"sex": []}, schema={"sex": pl.String})
    method = measured(frame, levels={"sex": ["female", "male"]})
    assert tacit.Plan([method]).apply(frame, seed=1).frame.height >= 1


def test_without_opendp_it_is_refused_clearly(data, monkeypatch):
    monkeypatch.setitem(sys.modules, "opendp.prelude", None)
    with pytest.raises(TacitError, match="dp"):
        measured(data)


def test_impossible_combinations_never_appear():
    method = mask.DpMargins(
        **mask.DpMargins.example, size=500, impossible=[{"sex": "male", "marital": "married"}]
    )
    made = tacit.Plan([method]).apply(tacit.datasets.census(50), seed=1).frame
    assert made.height == 500
    assert made.filter((pl.col("sex") == "male") & (pl.col("marital") == "married")).height == 0
