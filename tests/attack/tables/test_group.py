"""Group disclosure: full cells tell everybody's category; suppression and noise do not."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import attack, tables


@pytest.fixture(scope="module")
def frame():
    """Forty villages of five; in most all are ill of the same thing, half of them of each."""
    rng = np.random.default_rng(1)
    village = np.repeat(np.arange(40), 5)
    ill = np.where(rng.random(40)[village] < 0.5, "a", "b")
    return pl.DataFrame({"village": [f"v{v:02}" for v in village], "ill": ill})


def test_full_lines_are_told(frame):
    table = tacit.tabulate(frame, ["village", "ill"])
    found = attack.GroupAttack().run(tables.ProtectedTable(table, table.sensitive(), table.value))
    assert found.success.value == 1.0
    assert found.leaked
    assert found.details["people"] >= 200


@pytest.mark.parametrize(("category", "leaked"), [("b", True), ("a", False)])
def test_one_line_that_tells_is_a_leak_unless_anybody_would_have_guessed_it(category, leaked):
    """Nothing is left to chance in exact counts, so one village suffices."""
    village, ill = list("uuuuvvvvvwww"), [*"aaaaaaabb", *3 * category]
    ill[:2] = "ab"
    table = tacit.tabulate(pl.DataFrame({"village": village, "ill": ill}), ["village", "ill"])
    found = attack.GroupAttack().run(tables.ProtectedTable(table, table.sensitive(), table.value))
    assert (found.success.n, found.n_broken) == (1, 1)
    assert found.leaked is leaked


def test_hidden_lines_are_not(frame):
    table = tacit.tabulate(frame, ["village", "ill"])
    hidden = ~table.is_total
    made = tables.ProtectedTable.suppressing(table, table.sensitive(), hidden, "all")
    found = attack.GroupAttack().run(made)
    assert found.success.n == 0  # no claim is made; noise, below, lets wrong ones be made


def test_noise_makes_claims_wrong():
    rng = np.random.default_rng(2)
    frame = pl.DataFrame(
        {"village": [f"v{v:02}" for v in np.repeat(np.arange(40), 3)],
         "ill": rng.choice(["a", "b"], 120)}
    )  # fmt: skip
    keyed = tables.with_record_keys(frame, "a long and secret phrase")
    table = tacit.tabulate(keyed, ["village", "ill"], keys="rk1")
    found = attack.GroupAttack().run(table.protect(tables.CellKey()))
    assert found.success.n > 0
    assert found.success.value < 0.8
    assert not found.leaked
