"""The cell key method: same cell, same value; and what an intruder gains by asking again."""

import duckdb
import numpy as np
import polars as pl
import pytest

import tacit
from tacit import tables
from tacit.core.errors import DataError, ParameterError, SchemaError
from tacit.tables.perturb.record_keys import MODULUS

METHOD = tables.CellKey(max_change=4)


def test_every_count_is_as_the_formula_says(census_table):
    """Cell by cell: the key cumulated against the row of the matrix, GH section 4."""
    matrix = tables.transition_matrix(4, 2.002, no_small_cells=True)
    published = census_table.protect(METHOD).published
    for cell in range(census_table.n_cells):
        count = int(census_table.count[cell])
        key = int(census_table.key_sums["rk1"][cell]) % MODULUS
        row = min(count, len(matrix) - 1)
        bound, new = 0.0, None
        for j, p in enumerate(matrix[row]):
            bound += p
            if p > 0 and key < round(bound * MODULUS):
                new = j - row + count
                break
        assert published[cell] == new


def test_the_promises_of_the_design_hold(census_table):
    published = census_table.protect(METHOD).published
    assert np.abs(published - census_table.count).max() <= 4
    assert not np.isin(published, [1, 2]).any()
    assert np.all(published[census_table.count == 0] == 0)


def test_the_same_cell_has_the_same_value_in_every_table(keyed, census_table):
    wide = census_table.protect(METHOD)
    for by in (["marital", "education"], ["region"], ["education", "region"]):
        other = tacit.tabulate(keyed, by, weights=None, keys="rk1", keep_empty=False)
        at = census_table.cells(_with_totals(other, census_table))
        assert other.protect(METHOD).published.tolist() == wide.published[at].tolist()


def _with_totals(table, wider):
    frame = table.frame
    missing = [d for d in wider.dimensions if d.name not in frame.columns]
    frame = frame.with_columns([pl.lit(d.total).alias(d.name) for d in missing])
    return frame.select([d.name for d in wider.dimensions])


ENGINES = {
    "pandas": lambda frame: frame.to_pandas(),
    "arrow": lambda frame: frame.to_arrow(),
    "duckdb": lambda frame: duckdb.from_arrow(frame.to_arrow()),
    "shuffled": lambda frame: frame.sample(fraction=1.0, shuffle=True, seed=4),
}


@pytest.mark.parametrize("engine", ENGINES)
def test_every_engine_publishes_the_same(keyed, engine):
    options = {"by": ["sex", "education", "marital"], "weights": None, "keys": ["rk1", "rk2"]}
    expected = tacit.tabulate(keyed.local, **options).protect(METHOD).published
    found = tacit.tabulate(ENGINES[engine](keyed.local), **options).protect(METHOD).published
    assert found.tolist() == expected.tolist()
    totals = options | {"value": "income"}
    one, other = (
        tacit.tabulate(frame, **totals).protect(tables.CellKeyMagnitude()).published
        for frame in (keyed.local, ENGINES[engine](keyed.local))
    )
    np.testing.assert_allclose(one, other, rtol=1e-12)


def test_weighted_counts_are_the_new_count_at_the_mean_weight(keyed):
    weighted = tacit.tabulate(keyed, ["sex", "marital"], keys="rk1")
    plain = tacit.tabulate(keyed, ["sex", "marital"], weights=None, keys="rk1")
    new = plain.protect(METHOD).published
    mean = weighted.weighted_count / np.maximum(plain.count, 1)
    # To the cent, as the weights are.
    np.testing.assert_allclose(weighted.protect(METHOD).published, new * mean, rtol=0, atol=0.0051)


def test_frozen_cells_stay_and_forced_ones_are_left_out(census_table):
    table = census_table.freeze({}).force({"region": "North"})
    published = table.protect(METHOD)
    assert published.published[table.cell()] == table.value[table.cell()]
    assert np.isnan(published.published[table.cell(region="North")])


def test_the_status_does_not_say_which_cells_changed(census_table):
    protected = census_table.protect(METHOD)
    assert protected.changed.any()
    assert not protected.changed.all()
    assert set(protected.status) == {"perturbed"}
    assert set(protected.frame["status"]) == {"perturbed"}


def test_a_table_without_its_empty_cells_does_not_list_zeros(keyed):
    """A zero that is listed would say: not empty, so from 1 to 5."""
    by = ["region", "occupation"]
    sparse = tacit.tabulate(keyed, by, weights=None, keys="rk1", keep_empty=False)
    protected = sparse.protect(METHOD)
    vanished = (protected.published == 0).sum()
    assert vanished > 0
    for frame in (protected.frame, protected.public):
        assert frame.height == sparse.n_cells - vanished
        assert frame["count"].min() >= 3
    full = tacit.tabulate(keyed, by, weights=None, keys="rk1").protect(METHOD)
    assert full.frame.filter(pl.col("count") > 0).sort(by).equals(protected.frame.sort(by))
    cells = protected.pivoted().select(pl.exclude("region")).to_numpy()
    assert not (cells == 0).any()


# -- attacks -------------------------------------------------------------------------------------


def test_averaging_over_tables_leads_to_the_noise_and_not_to_the_truth(keyed):
    """The same cell from forty tables: always the same value, so the mean stays away."""
    method = tables.CellKey(max_change=5)
    values = []
    for other in ("education", "marital", "occupation", "employed", "sex"):
        for _ in range(8):
            table = tacit.tabulate(
                keyed.local.sample(fraction=1.0, shuffle=True), ["region", other], keys="rk1"
            )
            values.append(table.protect(method).published[table.cell(region="N11")])
    assert len(set(values)) == 1


def test_parts_of_a_single_unit_tell_nothing_new(keyed):
    """A count of one has one part that is not zero, with the same unit and so the same noise."""
    method = tables.CellKey(max_change=5)
    base = tacit.tabulate(keyed, ["region", "occupation"], weights=None, keys="rk1")
    alone = base.frame.with_row_index("at").filter(
        (pl.col("count") == 1) & (pl.col("region") != "Total") & (pl.col("occupation") != "Total")
    )
    published = base.protect(method).published
    leaves = set(base.dimensions[0].leaves)
    for other in ("education", "marital", "sex"):
        finer = tacit.tabulate(keyed, ["region", "occupation", other], weights=None, keys="rk1")
        noisy = finer.protect(method).published
        for at, region, occupation, _ in alone.head(40).iter_rows():
            if region in leaves:
                parts = finer.cells({"region": region, "occupation": occupation, other: None})
                parts = parts[np.isin(finer.codes[parts, 2], finer.dimensions[2].levels[0])]
                assert noisy[parts].sum() == published[at]


def test_averaging_over_sums_of_parts_does_not_find_the_total(keyed, census_table):
    """Parts have noise of their own: their sum is off by more than the total itself."""
    published = census_table.protect(tables.CellKey(max_change=5)).published
    missed = census_table.relations @ published
    n_parts = np.diff(census_table.relations.indptr) - 1
    wide = n_parts >= 4
    assert (missed[wide] != 0).mean() > 0.3


def test_without_the_secret_the_noise_cannot_be_told(keyed):
    """Keys of a wrong secret agree with the true noise no more often than by chance."""
    wrong = tables.with_record_keys(
        tacit.datasets.census(3000, seed=3), "a wrong and useless phrase", unit="person_id"
    )
    options = {"by": ["region", "education"], "weights": None, "keys": "rk1"}
    one, other = (tacit.tabulate(d, **options) for d in (keyed, wrong))
    changes = [t.protect(METHOD).published - t.value for t in (one, other)]
    large = one.count > 10
    assert abs(np.corrcoef(changes[0][large], changes[1][large])[0, 1]) < 0.2


@pytest.mark.parametrize("largest", [3, 5])
def test_the_attack_by_linear_programming_yields_little(keyed, largest):
    """GH section 5: who knows D and the sums can settle few cells; here they are counted."""
    table = tacit.tabulate(keyed, ["occupation", "education", "marital"], weights=None, keys="rk1")
    method = tables.CellKey(max_change=largest)
    found = tables.noise_attack(table.protect(method), method.noise_table).summary
    nonzero = (table.count > 0).sum()
    assert found["counts disclosed"] <= 0.02 * nonzero
    assert found["small counts disclosed"] <= 0.01 * nonzero


# -- parameters -----------------------------------------------------------------------------------


def test_impossible_noise_is_refused_at_once():
    with pytest.raises(ParameterError, match="variance from 2"):
        tables.CellKey(max_change=3, variance=1.0)
    with pytest.raises(ParameterError):
        tables.CellKey(max_change=0)
    with pytest.raises(ParameterError):
        tables.CellKey(modulus=1)


def test_tables_without_keys_or_of_totals_are_refused(keyed, census_table):
    bare = tacit.tabulate(keyed, ["sex"], weights=None)
    with pytest.raises(DataError, match="no record keys"):
        bare.protect(METHOD)
    with pytest.raises(SchemaError, match="did you mean 'rk1'"):
        census_table.protect(tables.CellKey(column="rk11"))
    total = tacit.tabulate(keyed, ["sex"], "income", weights=None, keys="rk1")
    with pytest.raises(SchemaError, match="use CellKeyMagnitude"):
        total.protect(METHOD)


def test_the_public_note_says_what_users_may_know(census_table):
    note = tables.CellKey(max_change=4).public_note()
    assert "by 4 at most" in note
    assert "No count of 1 or 2" in note
    loose = tables.CellKey(max_change=3, variance=1.0, no_small_cells=False).public_note()
    assert "No count of 1 or 2" not in loose
    assert census_table.protect(METHOD).notes["public note"] == METHOD.public_note()


def test_the_method_is_plain_data():
    method = tables.CellKey(noise=tables.CellKey(max_change=3).noise_table)
    assert tables.CellKey(**method.as_dict()) == method


@pytest.mark.parametrize("n", [0, 1])
def test_tables_of_nobody_and_of_one(n):
    frame = pl.DataFrame(
        {"r": ["a", "b"][:n], "k": [5, 6][:n]}, schema={"r": pl.String, "k": pl.Int64}
    )
    table = tacit.tabulate(frame, "r", keys="k", hierarchies={"r": {"Total": ["a", "b"]}})
    published = table.protect(METHOD).published
    assert len(published) == 3
    assert set(published) <= {0.0, 3.0, 4.0, 5.0}
