"""Covariances agree with NumPy."""

import numpy as np
import pytest


def test_covariances(open_server, complete_data):
    answer = open_server.ask({"method": "covariance", "columns": ["age", "sqrt(size)", "wage"]})
    rows = [complete_data.age, np.sqrt(complete_data["size"]), complete_data.wage]
    assert answer.columns["covariance"] == pytest.approx(np.cov(rows)[np.triu_indices(3)].tolist())


def test_weights(open_server, model_data):
    answer = open_server.ask(
        {"method": "covariance", "columns": ["wage", "size"], "weighted": True}
    )
    rows = [model_data["wage"].to_numpy(), model_data["size"].to_numpy()]
    n = len(model_data)
    expected = np.cov(rows, aweights=model_data["weight"].to_numpy(), ddof=0) * n / (n - 1)
    assert answer.columns["covariance"] == pytest.approx(expected[np.triu_indices(2)].tolist())
