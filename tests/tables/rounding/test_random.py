import numpy as np

from tacit import tables
from tacit.tables import Dimension, Sensitive


def _rounded(table, **options):
    return tables.RandomRounding(**options).protect(table, Sensitive.none(table.n_cells))


def test_cells_go_to_a_neighbouring_multiple_and_multiples_stay(small):
    found = _rounded(small, base=5, seed=1)
    assert np.all(found.published % 5 == 0)
    assert np.all(np.abs(found.published - small.value) < 5)
    whole = small.value % 5 == 0
    assert np.all(found.published[whole] == small.value[whole])


def _many(full_table, value):
    """A table of 20 000 equal leaves."""
    sides = [
        Dimension.flat(name, [str(i) for i in range(n)]) for name, n in (("a", 200), ("b", 100))
    ]
    return full_table(np.full((200, 100), value), *sides, variable="v")


def test_rounding_is_unbiased(full_table):
    table = _many(full_table, 7.0)
    change = (_rounded(table, base=5, seed=2).published - 7)[~table.is_total]
    # Up by 3 with probability 2/5, down by 2 with 3/5: mean 0, variance 6.
    assert abs(change.mean()) < 4 * np.sqrt(6 / len(change))
    assert set(np.unique(change)) == {-2.0, 3.0}


def test_negative_values_are_unbiased_too(full_table):
    table = _many(full_table, -7.0)
    change = (_rounded(table, base=5, seed=2).published + 7)[~table.is_total]
    assert abs(change.mean()) < 4 * np.sqrt(6 / len(change))


def test_the_seed_repeats_the_lots_and_stays_inside(small):
    first, second = (_rounded(small, base=7, seed=5) for _ in range(2))
    assert np.array_equal(first.published, second.published)
    assert "5" not in first.method.replace("base = 7.0", "")
    drawn = {tuple(_rounded(small, base=7).published) for _ in range(20)}
    assert len(drawn) > 1


def test_decimal_bases_do_not_trip_over_floating_point(full_table):
    table = full_table([0.3, 0.6], Dimension.flat("a", ["x", "y"]), variable="v")
    found = _rounded(table, base=0.1, seed=1)
    np.testing.assert_allclose(found.published, table.value)
