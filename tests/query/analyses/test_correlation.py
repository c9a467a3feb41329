"""Correlations agree with NumPy."""

import numpy as np
import pytest


def test_correlations(open_server, complete_data):
    answer = open_server.ask({"method": "correlation", "columns": ["age", "log(size)", "wage"]})
    rows = [complete_data.age, np.log(complete_data["size"]), complete_data.wage]
    expected = np.corrcoef(rows)[np.triu_indices(3)]
    assert answer.columns["correlation"] == pytest.approx(expected.tolist())


@pytest.mark.parametrize(
    "columns", [["region", "age"], ["age", "age"], ["age", "exp(size)"], ["shoe"], []]
)
def test_what_cannot_be_correlated(open_server, columns):
    assert open_server.ask({"method": "correlation", "columns": columns}).is_refusal


def test_a_constant_has_no_correlation(guarded, model_data):
    import polars as pl

    server = guarded(model_data.with_columns(visits=pl.lit(3)))
    answer = server.ask({"method": "correlation", "columns": ["visits", "age"]})
    assert (answer.is_refusal, answer.rule) == (True, "estimate")
