import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import tables
from tacit.core.errors import DataError, ParameterError, ProtectionError
from tacit.tables import Sensitive

EXAMPLE = [10000, 8000, 1600, 1500, 1100, 900, 800]


# -- the paper's own example (Matias and Campos 2013, section 3) ----------------------------------


def test_the_example_is_sensitive_but_safe():
    m3a = tables.M3A(d=10, phi=3)
    assert m3a.unsafe_interval(EXAMPLE) == (9000.0, 23600.0)
    assert m3a.is_safe(EXAMPLE)
    frame = pl.DataFrame({"a": ["x"] * 7 + ["y"] * 4, "v": [*EXAMPLE, 10, 10, 10, 10]})
    table = tables.tabulate(frame, ["a"], "v", top=50)
    sensitive = tables.Dominance(n=2, k=75).sensitive(table)
    cell = table.cell(a="x")
    assert sensitive.cells[cell]  # 75.31 % of 23 900
    protected = m3a.protect(table, sensitive)
    assert protected.published[cell] == 23900
    assert protected.notes["sensitive_but_safe"] >= 1


def test_the_safe_set_is_that_of_the_example_less_the_bands_of_scenario_four():
    found = tables.M3A(d=10, phi=3).safe_set(EXAMPLE)
    assert found[0][0] == 0
    assert found[-1][1] == np.inf
    for total in np.linspace(0, 90_000, 4001):
        outside = total <= 9000 or total >= 23600
        bands = [(0.9 * 7 * y, 1.1 * 7 * y) for y in EXAMPLE]
        safe = outside and not any(low < total < high for low, high in bands)
        assert safe == any(low <= total <= high for low, high in found), total


@pytest.mark.parametrize("contributions", [[5.0], [8.0, 3.0], [7.0, 7.0]])
def test_one_or_two_respondents_are_never_safe(contributions):
    assert not tables.M3A().is_safe(contributions)


# -- every respondent as intruder -----------------------------------------------------------------


def _well_estimated(contributions, total, d, phi):
    """Whether any intruder of the four scenarios comes within d of a contribution: own code."""
    y, m = sorted(contributions, reverse=True), len(contributions)

    def near(estimate, truth):
        return abs(estimate - truth) < d * truth * (1 - 1e-7)

    attacks = [near(total, y[0])]
    if m >= 2:
        attacks += [near(total - y[0], y[1]), near(total - y[1], y[0])]
    if m >= 3:
        attacks.append(near(total - 2 * y[1], sum(y[2:])))
        last = min(phi, m) - 1
        attacks += [near((total - y[last]) / last, one) for one in y[:last]]
    attacks += [near(total / m, one) for one in y]
    return any(attacks)


@settings(max_examples=200, deadline=None)
@given(
    st.lists(st.floats(1, 1e6), min_size=1, max_size=12),
    st.floats(1, 40),
    st.integers(2, 5),
    st.floats(0, 5e6),
)
def test_nobody_estimates_a_contribution_from_a_safe_total(contributions, d, phi, other):
    m3a = tables.M3A(d=d, phi=phi)
    for low, high in m3a.safe_set(contributions):
        for total in {low, high, (low + min(high, 1e8)) / 2}:
            if np.isfinite(total):
                assert not _well_estimated(contributions, total, d / 100, phi)
    if _well_estimated(contributions, other, d / 100, phi):
        assert not any(low < other < high for low, high in m3a.safe_set(contributions))


def _business(seed, n=400, negative=False):
    rng = np.random.default_rng(seed)
    value = np.round(np.exp(rng.normal(4, 1.6, n))) + 1
    if negative:
        value = np.where(rng.random(n) < 0.2, -value, value)
    return pl.DataFrame(
        {
            "region": rng.choice(["N1", "N2", "S1", "S2", "S3"], n, p=[0.5, 0.2, 0.15, 0.1, 0.05]),
            "size": rng.choice(["a", "b", "c", "d"], n, p=[0.7, 0.2, 0.07, 0.03]),
            "kind": rng.choice(["p", "q"], n),
            "turnover": value,
        }
    )


REGIONS = {"Total": ["N", "S"], "N": ["N1", "N2"], "S": ["S1", "S2", "S3"]}


@pytest.mark.parametrize("by", [["region", "size"], ["region", "size", "kind"]])
@pytest.mark.parametrize("nested", [False, True])
@pytest.mark.parametrize("balance", [False, True])
def test_tables_add_up_and_no_respondent_is_estimated(by, nested, balance):
    frame = _business(3)
    hierarchies = {"region": REGIONS} if nested else {}
    table = tables.tabulate(frame, by, "turnover", hierarchies=hierarchies, top=400)
    sensitive = tables.Dominance(n=2, k=75).sensitive(table)
    found = tables.M3A(d=10, phi=3, balance=balance, crowd=400).protect(table, sensitive)
    np.testing.assert_allclose(table.relations @ found.published, 0, atol=1e-6)
    for cell in sensitive.primary:
        m = int(table.respondents.n_units[cell])
        contributions = table.respondents.top[cell, :m]
        assert not _well_estimated(contributions, found.published[cell], 0.1, 3)
    # Nothing moves but unsafe sensitive cells and the sums above them; a sensitive sum may need
    # one more cell below it to move.
    moved = found.changed & ~sensitive.cells & ~table.is_total
    assert moved.sum() <= (sensitive.cells & table.is_total).sum()
    assert found.notes["moved"] > 0


@pytest.mark.parametrize("seed", range(4))
def test_sensitive_sums_of_deep_hierarchies_become_safe(seed):
    """Few respondents per cell: sums of two and three levels are sensitive as well."""
    frame = _business(seed, n=60)
    sizes = {"Total": ["ab", "cd"], "ab": ["a", "b"], "cd": ["c", "d"]}
    trees = {"region": REGIONS, "size": sizes}
    table = tables.tabulate(frame, ["region", "size"], "turnover", hierarchies=trees, top=60)
    rule = tables.Dominance(n=2, k=75) | tables.MinFrequency(n=3)
    found = table.protect(tables.M3A(crowd=60), rule)
    assert (found.sensitive.cells & table.is_total).sum() > 3
    for cell in found.sensitive.primary:
        m = int(table.respondents.n_units[cell])
        own = table.respondents.top[cell, :m]
        assert not _well_estimated(own, found.published[cell], 0.1, 3)
    assert np.abs(table.relations @ found.published).max() < 1e-9 * table.value.max()


def test_frozen_sums_above_moved_cells_are_refused():
    table = tables.tabulate(_business(3), ["region", "size"], "turnover", top=400)
    rule = tables.Dominance(n=2, k=75)
    with pytest.raises(ProtectionError, match="lie above"):
        table.freeze({}).protect(tables.M3A(crowd=400), rule)


def test_what_m3a_cannot_do_is_said():
    frame = pl.DataFrame(
        {"a": list("xyyyy"), "b": list("ppqqp"), "c": list("mmnnm"), "v": [0, 3, 4, 5, 6]}
    )
    table = tables.tabulate(frame, ["a", "b"], "v", top=50)
    with pytest.raises(ProtectionError, match="zeros cannot move"):
        table.protect(tables.M3A(), tables.MinFrequency(n=3))
    few = tables.MinFrequency(n=3, zero_safe=True)
    linked = tables.link({c: tables.tabulate(frame, ["a", c], "v", top=50) for c in ("b", "c")})
    with pytest.raises(DataError, match="linked"):
        linked.protect(tables.M3A(), few)
    with pytest.raises(ProtectionError, match="forced"):
        table.force([0]).protect(tables.M3A(), few)


def test_original_totals_can_be_kept():
    frame = _business(8, n=3000)
    table = tables.tabulate(frame, ["region", "size"], "turnover", top=60)
    cells = np.zeros(table.n_cells, dtype=bool)
    cells[np.flatnonzero(~table.is_total & (table.count >= 3))[[0, 5]]] = True
    found = tables.M3A(keep_totals=True, crowd=60).protect(table, Sensitive.by("hand", cells, 1.0))
    totals = table.is_total
    np.testing.assert_allclose(found.published[totals], table.value[totals])
    np.testing.assert_allclose(table.relations @ found.published, 0, atol=1e-5)
    for cell in np.flatnonzero(cells):
        m = int(table.respondents.n_units[cell])
        if m <= 60:
            own = table.respondents.top[cell, :m]
            assert not _well_estimated(own, found.published[cell], 0.1 * (1 - 1e-4), 3)


def test_totals_that_are_unsafe_cannot_be_kept():
    frame = pl.DataFrame({"a": ["x", "x", "y"], "v": [100.0, 1.0, 1.0]})
    table = tables.tabulate(frame, ["a"], "v", top=50)
    every = Sensitive.by("hand", np.ones(3, dtype=bool), 1.0)
    with pytest.raises(ProtectionError, match="cannot keep their original"):
        tables.M3A(keep_totals=True).protect(table, every)


def test_negative_values_keep_their_distance():
    frame = _business(4, negative=True)
    table = tables.tabulate(frame, ["region", "size"], "turnover", top=400)
    cells = np.zeros(table.n_cells, dtype=bool)
    few = ~table.is_total & (table.count > 0) & (table.count < 12)
    cells[few] = True
    found = tables.M3A(crowd=400).protect(table, Sensitive.by("hand", cells, 0.0))
    np.testing.assert_allclose(table.relations @ found.published, 0, atol=1e-6)
    for cell in np.flatnonzero(cells):
        m = int(table.respondents.n_units[cell])
        y = table.respondents.top[cell, :m]
        first, total = y[0], found.published[cell]
        assert abs(total - first) >= 0.1 * abs(first) - 1e-6
        if m >= 2:
            assert abs(total - y[0] - y[1]) >= 0.1 * max(abs(y[:2])) - 1e-6


def test_balance_brings_the_table_nearer_to_the_original():
    data = tacit.datasets.establishments(30_000, seed=2).local
    table = tables.tabulate(
        data.select("district", "size_class", "turnover"), ["district", "size_class"], "turnover",
        top=50,
    )  # fmt: skip
    sensitive = tables.Dominance(n=2, k=75).sensitive(table)
    inner = ~table.is_total
    distance = {}
    for balance in (False, True):
        published = tables.M3A(balance=balance).protect(table, sensitive).published
        spread = (published[inner] ** 2).sum() / (table.value[inner] ** 2).sum()
        distance[balance] = abs(spread - 1)
    assert distance[True] <= distance[False]


def test_bad_input_is_named():
    with pytest.raises(ParameterError):
        tables.M3A(d=0)
    with pytest.raises(ParameterError, match="at least one"):
        tables.M3A().safe_set([])
    frame = _business(1)
    shallow = tables.tabulate(frame, ["region"], "turnover", top=3)
    every = Sensitive.by("hand", np.ones(shallow.n_cells, dtype=bool), 1.0)
    with pytest.raises(DataError, match="top=50"):
        tables.M3A().protect(shallow, every)
    bare = shallow.replace(respondents=None)
    with pytest.raises(DataError, match="contributions"):
        tables.M3A().protect(bare, every)
    frozen = np.ones(shallow.n_cells, dtype=bool)
    deep = tables.tabulate(frame.head(4), ["region"], "turnover", top=50)
    with pytest.raises(ProtectionError, match="must be published"):
        tables.M3A().protect(
            deep.replace(frozen=frozen[: deep.n_cells]),
            Sensitive.by("hand", np.ones(deep.n_cells, dtype=bool), 1.0),
        )
