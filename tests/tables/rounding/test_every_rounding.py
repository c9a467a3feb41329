"""What no rounding of a table may do, whichever it is."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import tables
from tacit.core.errors import DataError, ProtectionError
from tacit.tables import Dimension, Sensitive

KINDS = [tables.ConventionalRounding, tables.RandomRounding, tables.ControlledRounding]
FRAME = pl.DataFrame(
    {
        "region": list("NNNNSSSEEEEEE"),
        "size": list("xyyyxyyxxyyyy"),
        "turnover": [7, 20, 25, 30, 3, 44, 50, 12, 13, 14, 15, 16, 17],
    }
)


def _table(value="turnover"):
    return tacit.tabulate(FRAME, ["region", "size"], value, top=50)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", ["turnover", None])
def test_a_sensitive_cell_is_never_the_only_number_that_fits(kind, value):
    """A rule that states no level (fewest respondents) must not lead to a base of one."""
    table = _table(value)
    made = table.protect(kind(), tables.MinFrequency(n=3))
    within = made.notes["within"]
    for cell in made.sensitive.primary:
        near = np.arange(0, made.published[cell] + within + 1)
        fitting = near[np.abs(near - made.published[cell]) <= within]
        assert len(fitting) > 1
    assert np.any(made.published != table.value)


@pytest.mark.parametrize("kind", KINDS)
def test_declared_cells_without_a_level_are_blurred_too(kind):
    table = _table().declare_unsafe({"region": "S", "size": "y"})
    made = table.protect(kind())
    # 10 % of the value of 94, rounded up.
    assert made.notes["base"] == 10
    with pytest.raises(ProtectionError, match="base of at least 2"):
        table.protect(kind(base=1))


@pytest.mark.parametrize("kind", KINDS)
def test_a_base_as_fine_as_the_values_is_refused(kind, full_table):
    table = full_table([0.25, 17.13, 4.01], Dimension.flat("a", list("xyz")), variable="v")
    sensitive = Sensitive.by("hand", np.array([False, True, False, False]), 0.0)
    with pytest.raises(ProtectionError, match="as it is"):
        kind(base=0.01).protect(table, sensitive)


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("value", [np.nan, np.inf])
def test_cells_without_a_number_are_refused(kind, value):
    table = _table()
    broken = table.replace(value=np.where(np.arange(table.n_cells) == 5, value, table.value))
    with pytest.raises(DataError, match="finite"):
        kind(base=5).protect(broken, Sensitive.none(table.n_cells))


@pytest.mark.parametrize("kind", [*KINDS, tables.SmallCountRounding])
def test_cells_that_must_not_be_published_are_not(kind):
    table = _table(None).force({"region": "S", "size": "x"})
    with pytest.raises(ProtectionError, match=r"\(S, x\)"):
        kind(base=3).protect(table, Sensitive.none(table.n_cells))


def test_whole_numbers_of_any_size_split_by_decimal_bases():
    from tacit.tables.rounding._base import split_by_base

    cents = np.array([0.07, 12345.67, 9_876_543_210.99])
    assert not split_by_base(cents, 0.01)[1].any()
    assert split_by_base(np.array([10.4]), 3.0)[1][0] == pytest.approx(1.4 / 3)


@pytest.mark.parametrize("kind", KINDS)
def test_a_chosen_base_does_not_tell_the_level_it_comes_from(kind):
    """One respondent under (2, 75): a third of the contribution, and readers see the base."""
    frame = pl.DataFrame({"a": ["x", *"yyyyyy"], "v": [98_765, *range(30_000, 30_006)]})
    table = tacit.tabulate(frame, ["a"], "v")
    made = table.protect(kind(), tables.Dominance(n=2, k=75))
    assert made.sensitive.above.max() == pytest.approx(98_765 / 3)
    assert made.notes["base"] == 40_000
