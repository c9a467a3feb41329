"""Information loss of DF07: the table, the headline and IL1s."""

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import Microdata, utility
from tacit.core.data import ROW
from tacit.core.errors import DataError, ParameterError, SchemaError

ROWS = ("X", "mean", "V", "S", "R", "RF", "C", "F")


def numbers(n=300, p=3, seed=0):
    rng = np.random.default_rng(seed)
    values = rng.normal(size=(n, p)) @ rng.normal(size=(p, p)) + 10
    return pl.DataFrame({f"x{j}": values[:, j] for j in range(p)})


def masked(before):
    """Half of each value from its own record, half from that of another file."""
    other = numbers(len(before), before.width, seed=2)
    return pl.DataFrame((before.to_numpy() + other.to_numpy()) / 2, schema=before.columns)


def loss(before, after=None, **parameters):
    return utility.InformationLoss(**parameters).measure(before, after)


def test_identity_loses_nothing_whatever_the_measure():
    found = loss(numbers(), numbers())
    assert found.value == 0
    assert found.details["il1s"] == 0
    assert set(found.details["table"]) == set(ROWS)
    for row in found.details["table"].values():
        assert row["mean_square_error"] == 0
        assert row["mean_absolute_error"] == 0
        assert row["mean_variation"] == 0
    assert np.all(found.per_unit == 0)


def test_table_against_the_formulas_written_out():
    before = numbers(seed=1)
    after = masked(before)
    x, y = before.to_numpy(), after.to_numpy()
    v, w = np.cov(x.T), np.cov(y.T)
    r, s = np.corrcoef(x.T), np.corrcoef(y.T)
    upper = [(i, j) for j in range(3) for i in range(j + 1)]
    above = [(i, j) for j in range(3) for i in range(j)]
    table = loss(before, after).details["table"]
    assert table["X"]["mean_square_error"] == pytest.approx(np.sum((x - y) ** 2) / 900)
    assert table["X"]["mean_variation"] == pytest.approx(np.sum(np.abs((x - y) / x)) / 900)
    assert table["V"]["components"] == 6, "erratum: i <= j"
    assert table["V"]["mean_absolute_error"] == pytest.approx(
        sum(abs(v[i, j] - w[i, j]) for i, j in upper) / 6
    )
    assert table["V"]["mean_variation"] == pytest.approx(
        sum(abs(v[i, j] - w[i, j]) / abs(v[i, j]) for i, j in upper) / 6
    )
    assert table["R"]["components"] == 3, "erratum: i < j"
    assert table["R"]["mean_absolute_error"] == pytest.approx(
        sum(abs(r[i, j] - s[i, j]) for i, j in above) / 3
    )
    assert table["S"]["mean_square_error"] == pytest.approx(np.mean((np.diag(v) - np.diag(w)) ** 2))
    assert table["mean"]["mean_absolute_error"] == pytest.approx(
        np.mean(np.abs(x.mean(axis=0) - y.mean(axis=0)))
    )


def test_value_is_the_average_of_five_terms():
    found = loss(numbers(seed=1), masked(numbers(seed=1)))
    table, terms = found.details["table"], found.details["terms"]
    assert terms["R"] == table["R"]["mean_absolute_error"]
    assert terms["V"] == table["V"]["mean_variation"]
    assert found.value == pytest.approx(np.mean(list(terms.values())))
    assert len(terms) == 5


def test_il1s_against_its_formula():
    before = numbers(seed=1)
    after = masked(before)
    x, y = before.to_numpy(), after.to_numpy()
    expected = np.abs(x - y) / (np.sqrt(2) * x.std(axis=0, ddof=1))
    found = loss(before, after)
    assert found.details["il1s"] == pytest.approx(expected.mean())
    np.testing.assert_allclose(found.per_unit, expected.mean(axis=1))


@settings(deadline=None, max_examples=30)
@given(st.lists(st.floats(0.01, 1000), min_size=3, max_size=3), st.integers(0, 100))
def test_relative_measures_do_not_depend_on_units(scales, seed):
    before = numbers(40, seed=seed)
    noise = np.random.default_rng(seed).normal(0, 0.3, (40, 3))
    after = pl.DataFrame(before.to_numpy() + noise, schema=before.columns)
    plain = loss(before, after)
    scaled = loss(
        pl.DataFrame(before.to_numpy() * scales, schema=before.columns),
        pl.DataFrame(after.to_numpy() * scales, schema=before.columns),
    )
    assert scaled.value == pytest.approx(plain.value, rel=1e-6)
    assert scaled.details["il1s"] == pytest.approx(plain.details["il1s"], rel=1e-6)
    for row in ("RF", "C", "F"):
        assert scaled.details["table"][row]["mean_absolute_error"] == pytest.approx(
            plain.details["table"][row]["mean_absolute_error"], rel=1e-6
        )


def test_more_noise_loses_more():
    before = numbers()
    noise = np.random.default_rng(5).normal(size=before.shape)
    values = [
        loss(before, pl.DataFrame(before.to_numpy() + k * noise, schema=before.columns))
        for k in (0.01, 0.1, 1.0)
    ]
    assert values[0].value < values[1].value < values[2].value
    assert values[0].details["il1s"] < values[1].details["il1s"] < values[2].details["il1s"]


def test_zeros_are_left_out_of_mean_variation_and_counted():
    before = pl.DataFrame({"a": [0.0, 2.0, 4.0], "b": [1.0, 1.0, 5.0]})
    after = pl.DataFrame({"a": [1.0, 3.0, 4.0], "b": [1.0, 1.0, 5.0]})
    row = loss(before, after).details["table"]["X"]
    assert (row["zeros"], row["components"]) == (1, 6)
    assert row["mean_variation"] == pytest.approx(0.5 / 5)


def test_records_are_compared_with_their_own_and_statistics_with_the_whole_file():
    data = Microdata.of(pl.DataFrame({"a": [1.0, 2.0, 3.0, 10.0]}))
    kept = data.numbered().take(np.array([3, 0]))
    found = loss(data, kept)
    assert found.details["table"]["X"]["mean_absolute_error"] == 0
    assert found.details["records_compared"] == 2
    assert found.details["table"]["mean"]["mean_absolute_error"] == pytest.approx(5.5 - 4)
    assert found.value > 0, "a sample loses information although no value changed"


def test_simulated_records_have_no_counterpart():
    data = Microdata.of(pl.DataFrame({"a": [1.0, 2.0]}))
    taken = data.numbered().take(np.array([0, 1, 0]))
    made = taken._holding(taken.local.with_columns(pl.Series(ROW, [0, 1, -1])), data.schema)
    found = loss(data, made)
    assert np.isnan(found.per_unit).tolist() == [False, False, True]
    assert found.details["records_compared"] == 2


def test_missing_values_are_counted_and_not_compared():
    before = pl.DataFrame({"a": [1.0, 2.0, 3.0, 9.0], "b": [4.0, 5.0, None, 7.0]})
    after = pl.DataFrame({"a": [1.0, None, 3.0, 8.0], "b": [4.0, 5.0, 6.0, 7.0]})
    found = loss(before, after)
    assert found.details["values_suppressed"] == 1
    assert found.details["values_imputed"] == 1
    assert found.details["table"]["X"]["components"] == 6
    assert found.details["complete_records"] == {"original": 3, "release": 3}
    assert "Suppressed, and their loss not in this number: 1 value." in found.warnings


def test_weights_enter_means_and_covariances():
    frame = pl.DataFrame({"a": [1.0, 3.0], "w": [1.0, 3.0]})
    data = Microdata.of(frame).with_roles(weight="w")
    after = Microdata.of(pl.DataFrame({"a": [1.0, 1.0], "w": [1.0, 3.0]})).with_roles(weight="w")
    found = loss(data, after)
    assert found.details["weighted"] is True
    assert found.details["columns"] == ["a"]
    assert found.details["table"]["mean"]["mean_absolute_error"] == pytest.approx(2.5 - 1)
    plain = loss(data, pl.DataFrame({"a": [1.0, 1.0]}))
    assert plain.details["weighted"] is False
    assert plain.details["table"]["mean"]["mean_absolute_error"] == pytest.approx(2 - 1)
    assert any("unweighted" in w for w in plain.warnings)


def test_one_column_one_record_and_constant_columns():
    single = loss(pl.DataFrame({"a": [1.0, 2.0, 4.0]}), pl.DataFrame({"a": [1.0, 2.0, 5.0]}))
    assert np.isnan(single.details["terms"]["R"])
    assert single.value > 0
    record = loss(pl.DataFrame({"a": [2.0], "b": [4.0]}), pl.DataFrame({"a": [3.0], "b": [4.0]}))
    assert record.value == pytest.approx(0.25), "X and means are all there is"
    assert np.isnan(record.details["il1s"])
    flat = loss(pl.DataFrame({"a": [3, 3, 3], "b": [1, 2, 4]}))
    assert flat.value == 0
    assert flat.details["constant_columns"] == ["a"]
    for found in (single, record, flat):
        json.dumps(found.as_dict(), allow_nan=False)


def test_a_column_made_constant_loses_its_correlations():
    before = pl.DataFrame({"a": [1.0, 2.0, 3.0], "b": [1.0, 2.0, 3.0]})
    after = pl.DataFrame({"a": [2.0, 2.0, 2.0], "b": [1.0, 2.0, 3.0]})
    found = loss(before, after)
    assert found.details["terms"]["R"] == pytest.approx(1)
    assert found.details["terms"]["S"] == pytest.approx(0.5)


def test_one_term_that_decides_the_number_is_pointed_out():
    before = pl.DataFrame({"a": [1e-9, 2.0, 4.0, 3.0]})
    after = pl.DataFrame({"a": [1.0, 2.0, 4.0, 3.0]})
    found = loss(before, after)
    assert any("term X" in w and "IL1s" in w for w in found.warnings)


def test_columns_that_are_no_longer_numbers_are_named():
    before = pl.DataFrame({"a": [1.0, 2.0], "b": [1, 2]})
    found = loss(before, pl.DataFrame({"a": [1.0, 2.0], "b": ["low", "high"]}))
    assert found.details["columns"] == ["a"]
    assert found.details["columns_not_compared"] == ["b"]
    assert any("b" in w for w in found.warnings)


def test_bad_input():
    with pytest.raises(SchemaError, match="numeric"):
        loss(pl.DataFrame({"a": ["x"]}), columns=["a"])
    with pytest.raises(DataError, match="at least one record"):
        loss(pl.DataFrame({"a": [1.0]}).clear())
    with pytest.raises(DataError, match="numeric columns"):
        loss(pl.DataFrame({"a": ["x"]}))
    with pytest.raises(DataError, match="paired"):
        loss(pl.DataFrame({"a": [1.0, 2.0]}), pl.DataFrame({"a": [1.0]}))
    with pytest.raises(ParameterError, match="columns"):
        utility.InformationLoss(columns=[])
    assert utility.InformationLoss().objection(Microdata.of(pl.DataFrame({"a": ["x"]})))


def test_census_defaults_leave_weights_and_households_out():
    data = tacit.datasets.census(200)
    found = loss(data)
    assert found.details["columns"] == ["age", "hours", "income", "taxes"]
    assert found.value == 0


def test_collinear_columns_of_the_casc_census_file(shared_data):
    frame = pl.read_csv(shared_data / "casc" / "CASCrefmicrodata.csv")
    rng = np.random.default_rng(1)
    noisy = frame.with_columns(
        pl.all() * pl.lit(pl.Series(1 + 0.05 * rng.normal(size=frame.height)))
    )
    found = loss(frame, noisy)
    assert 0 < found.value < 1
    for row in found.details["table"].values():
        assert np.isfinite(row["mean_square_error"])
        assert np.isfinite(row["mean_variation"])


def test_infinite_values_are_refused():
    before = numbers(20)
    after = before.with_columns(x1=pl.when(pl.arange(20) == 3).then(np.inf).otherwise("x1"))
    for pair in ((before, after), (after, before)):
        with pytest.raises(DataError, match="infinite values in 'x1'"):
            loss(*pair)
    assert loss(before, after, columns=["x0", "x2"]).value == 0


def test_shuffled_rows_are_refused_unless_a_column_numbers_them():
    data = tacit.datasets.census(300)
    frame = data.frame.with_row_index("nr")
    shuffled = frame.sample(fraction=1.0, shuffle=True, seed=3)
    measure = utility.InformationLoss(columns=["age", "income"])
    with pytest.raises(DataError, match=r"another order.*record_id"):
        measure.measure(frame, shuffled)
    assert measure.replace(record_id="nr").measure(frame, shuffled).value == pytest.approx(
        0, abs=1e-12
    )
