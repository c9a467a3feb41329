"""Protections side by side, in the layout of M3A's Table 1."""

import numpy as np
import pytest

import tacit
from tacit import tables
from tacit.core.errors import ParameterError, SchemaError
from tacit.tables import Dimension, ProtectedTable
from tacit.tables.sensitive import Sensitive


@pytest.fixture
def table(full_table):
    return full_table(
        [[10, 20], [30, 40], [50, 60]],
        Dimension.flat("r", list("abc")),
        Dimension.flat("c", list("xy")),
        variable="turnover",
    )


def test_identical_tables_lose_nothing_and_hide_nothing(table):
    found = tables.compare(table, {"same": table.value}).measures["same"]
    zeros = [
        "absolute loss per cell",
        "entropy (6)",
        "relative variance (7)",
        "relative Cramér's V (8)",
    ]
    assert [found[name] for name in zeros] == [0, 0, 0, 0]
    assert found["risk (9)"] == np.inf
    assert found["modified or suppressed cells"] == 0
    assert found["rows changed"] == found["columns changed"] == 0


def test_measures_by_hand(table):
    new = table.value.copy()
    new[table.cell(r="a", c="x")] += 6
    new[table.cell(r="c", c="y")] -= 3
    new[table.cell()] += 5
    found = tables.compare(table, {"m": new}).measures["m"]
    assert found["absolute loss per cell"] == 9
    assert found["absolute loss per cell (%)"] == pytest.approx(100 * 9 / 210)
    assert found["absolute loss of the total"] == 5
    assert found["modified or suppressed cells"] == 2
    assert found["modified or suppressed cells (%)"] == pytest.approx(100 * 2 / 6)
    assert found["risk (9)"] == pytest.approx(100 / np.var([6, 0, 0, 0, 0, -3], ddof=1))


def test_suppressed_cells_are_filled_so_that_columns_add_up(table):
    hidden = np.zeros(table.n_cells, bool)
    hidden[[table.cell(r="a", c="x"), table.cell(r="c", c="x")]] = True
    protected = ProtectedTable.suppressing(table, Sensitive.none(table.n_cells), hidden, "by hand")
    compared = tables.compare(table, {"left out": protected})
    assert compared.released["left out"][:, 0].tolist() == [30, 30, 30]
    found = compared.measures["left out"]
    assert found["absolute loss per cell"] == 40
    assert found["absolute loss of the total"] == 0
    assert found["modified or suppressed cells"] == 2


def test_the_layout_and_the_tests_by_row_and_column(table):
    names = {"one": table.value, "two": table.value * 2}
    compared = tables.compare(table, names)
    assert compared.frame.columns == ["measure", "one", "two"]
    assert compared.frame.height == len(compared.measures["one"])
    tests = compared.rank_tests
    assert tests["side"].to_list() == ["rows"] * 3 + ["columns"] * 2
    assert (tests["one"] == 1).all()
    assert tests["two"].min() < 1


def test_the_map_of_risk_and_utility(table):
    chart = tables.compare(table, {"one": table.value, "two": table.value + 1.0}).chart()
    values = chart.to_dict()["data"]
    text = str(chart.to_dict())
    assert "one" in text
    assert "absolute loss" in text
    assert values


def test_more_dimensions_stand_at_their_total(keyed_census):
    table = tacit.tabulate(keyed_census, ["region", "sex", "marital"], weights=None)
    compared = tables.compare(table, {"same": table.value}, rows="marital", columns="sex")
    assert compared.original.shape == (4, 2)
    assert compared.original.sum() == table.value[table.cell()]
    assert compared.rows == table.dimensions[2].leaves


@pytest.fixture(scope="module")
def keyed_census():
    return tacit.datasets.census(400)


def test_bad_questions_are_refused(table, full_table, keyed_census):
    with pytest.raises(ParameterError, match="no protection"):
        tables.compare(table, {})
    with pytest.raises(SchemaError, match="not a protection of this table"):
        tables.compare(table, {"short": np.zeros(3)})
    with pytest.raises(SchemaError, match="no dimension 'q'"):
        tables.compare(table, {"a": table.value}, rows="q")
    with pytest.raises(ParameterError, match="different dimensions"):
        tables.compare(table, {"a": table.value}, rows="r", columns="r")
    flat = full_table([1, 2], Dimension.flat("r", ["a", "b"]))
    with pytest.raises(SchemaError, match="rows and columns"):
        tables.compare(flat, {"a": flat.value})
    sparse = tacit.tabulate(keyed_census, ["region", "occupation"], weights=None, keep_empty=False)
    with pytest.raises(SchemaError, match="every inner cell"):
        tables.compare(sparse, {"a": sparse.value})
