"""What is released about pairs of numbers: variances, covariances, correlations."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from pydantic import Field

from tacit.core.method import Columns
from tacit.query._model_answer import DIGITS, notes
from tacit.query._model_numbers import rounded, significant
from tacit.query.analysis import Analysis, Needs, View
from tacit.query.answer import Answer, Refused
from tacit.query.formula import Formula
from tacit.query.model import Model, gathered


class OfPairs(Analysis):
    """An analysis of pairs of numbers, over the records that have a value in all of them."""

    columns: Annotated[Columns, Field(max_length=20)]
    """Numeric variables, each as it is or transformed: ``age``, ``log(income)``."""
    weighted: bool = False
    """Whether survey weights are used."""

    def variables(self) -> Needs:
        """Return the variables."""
        return Needs(numbers=listed(self.columns).variables, weighted=self.weighted)

    def gather(self, view: View) -> Model:
        """Take the moments of the variables."""
        return gathered(listed(self.columns), view, weighted=self.weighted)


def listed(variables: tuple[str, ...]) -> Formula:
    """Read variables, each as it is or transformed, or refuse them by the rule of formulas."""
    from tacit.core.errors import ParameterError

    try:
        return Formula.of_variables(list(variables))
    except ParameterError as error:
        raise Refused("formula", error.what.removeprefix("formula: "), hint=error.do) from error


def correlations(model: Model) -> np.ndarray:
    """Return exact correlations of the standardised columns."""
    gram = model.found.xtx
    inner = gram[1:, 1:] - np.outer(gram[1:, 0], gram[0, 1:]) / gram[0, 0]
    spread = np.sqrt(np.maximum(np.diag(inner), 0.0))
    if (spread == 0).any() or model.found.n < 2:
        raise Refused("estimate", "a variable does not vary")
    return np.asarray(inner / np.outer(spread, spread))


def with_noise(model: Model) -> tuple[np.ndarray, np.ndarray]:
    """Return correlations, and factors of the standard deviations, with their noise."""
    exact = correlations(model)
    noise = np.zeros_like(exact) if model.pair_noise is None else model.pair_noise
    weight = model.found.weight
    noisy = np.clip(exact + noise / weight, -1.0, 1.0)
    np.fill_diagonal(noisy, 1.0)
    return noisy, np.sqrt(np.maximum(1.0 + np.diag(noise) / weight, 0.0))


def long_table(model: Model, values: np.ndarray, name: str) -> dict[str, list[object]]:
    """Lay out a symmetric matrix, one row per pair."""
    names = list(model.names[1:])
    pairs = [(i, j) for i in range(len(names)) for j in range(i, len(names))]
    return {
        "variable": [names[i] for i, _ in pairs],
        "other": [names[j] for _, j in pairs],
        name: [float(values[i, j]) for i, j in pairs],
    }


def pair_answer(model: Model, analysis: str, values: np.ndarray, name: str) -> Answer:
    """Return the answer about pairs."""
    return Answer(
        analysis=analysis,
        columns=long_table(model, values, name),
        values={"n": model.n_published},
        notes=notes(model),
    )


def rounded_correlations(model: Model, values: np.ndarray) -> np.ndarray:
    """Round each correlation to a share of its standard error, as the policy says."""
    if model.digits is None:
        return np.asarray(values.round(DIGITS - 2))
    error = np.maximum(1 - values**2, 1e-3) / np.sqrt(max(model.found.n, 1))
    steps = np.maximum(error * model.digits.share, 1e-4)
    return np.asarray(np.vectorize(rounded)(values, steps))


def rounded_covariances(model: Model, values: np.ndarray) -> np.ndarray:
    """Round each covariance to the significant digits of the policy."""
    digits = DIGITS if model.digits is None else model.digits.significant
    return np.asarray(np.vectorize(lambda v: significant(v, digits))(values))
