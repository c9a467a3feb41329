"""What is released about a model: coefficients, standard errors, tables of variance or deviance."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from tacit.query._model_numbers import raw_map, raw_shift, rounded, significant
from tacit.query.answer import Answer, Refused
from tacit.query.formula import Formula, term_name
from tacit.query.model import Model

DIGITS = 12
"""Significant digits of numbers that no rule rounds."""


def parsed(text: str) -> Formula:
    """Read a formula, or refuse it by the rule of formulas."""
    from tacit.core.errors import ParameterError

    try:
        return Formula.parse(text)
    except ParameterError as error:
        raise Refused("formula", error.what.removeprefix("formula: "), hint=error.do) from error


def noisy(model: Model) -> np.ndarray:
    """Return standardised coefficients that solve the score equations with their noise."""
    beta = model.fit.beta
    return beta if model.noise is None else beta + model.fit.inverse @ model.noise


def covariance(model: Model, from_residuals: bool) -> np.ndarray:
    """Return the covariance of standardised coefficients, that of the noise included."""
    fit = model.fit
    free = _free(model)
    if from_residuals or model.weighted:
        middle = model.meat[np.ix_(fit.used, fit.used)]
        spread = np.zeros_like(fit.inverse)
        spread[np.ix_(fit.used, fit.used)] = middle
        cover = fit.inverse @ spread @ fit.inverse * (model.found.n / max(free, 1))
    elif model.link != "identity":
        cover = fit.inverse
    else:
        cover = fit.inverse * (fit.variance if model.is_robust else _left(model) / max(free, 1))
    if model.noise_scale is not None:
        cover = cover + fit.inverse @ np.diag(model.noise_scale**2) @ fit.inverse
    return np.asarray(cover)


def _free(model: Model) -> int:
    return model.found.n - model.fit.n_columns


def explained(model: Model, columns: Sequence[int]) -> float:
    """Return the sum of squares that some columns explain, from the scores with their noise."""
    used = np.array([j for j in columns if j != 0], dtype=int)
    if not len(used):
        return 0.0
    whole = [j for j in model.fit.used.tolist() if j != 0]
    gram = _centred(model.fit.gram)
    score = gram[np.ix_(used, whole)] @ noisy(model)[whole]
    return float(score @ np.linalg.solve(gram[np.ix_(used, used)], score))


def _centred(gram: np.ndarray) -> np.ndarray:
    """Return the moments about weighted means; columns were centred up to rounding."""
    return np.asarray(gram - np.outer(gram[:, 0], gram[0]) / gram[0, 0])


def total(model: Model) -> float:
    """Return the sum of squares of the response about its mean, with its noise."""
    return max(model.fit.total + model.square_noise, 0.0)


def _left(model: Model) -> float:
    return max(total(model) - explained(model, model.fit.used.tolist()), 0.0)


def coefficients(model: Model, from_residuals: bool = False) -> dict[str, list[Any]]:
    """Return the table of coefficients, rounded as the policy says."""
    size = len(model.terms)
    turn = raw_map(model.found, size)
    if model.link != "identity":
        scale = float(model.found.scale[-1]) if model.found.scale is not None else 1.0
        turn = turn / scale
    shift = raw_shift(model.found, size) if model.link == "identity" else np.zeros(size)
    values = turn @ noisy(model) + shift
    cover = turn @ covariance(model, from_residuals) @ turn.T
    errors = np.sqrt(np.maximum(np.diag(cover), 0.0)) * _error_factors(model, turn)
    return _table(model, values, errors)


def _error_factors(model: Model, turn: np.ndarray) -> np.ndarray:
    """Return by what standard errors change when the sizes they rest on do.

    The error of a mean of m units is that of one divided by the root of m: exact errors would tell
    m, and ratios of them the sizes of categories.
    """
    if model.column_changes is None:
        return np.ones(len(model.terms))
    units, found = model.found.units, model.found
    scale = 1.0 if found.scale is None or model.link != "identity" else float(found.scale[-1])
    spread = np.diag(turn @ model.fit.inverse @ turn.T) * found.weight / units / scale**2
    sizes = np.divide(1.0, spread, out=np.full(len(spread), float(units)), where=spread > 0)
    for j, term in enumerate(model.terms):
        if any(f.level is None for f in term.factors):
            levels = [f"{f.variable}[{f.level}]" for f in term.factors if f.level is not None]
            sizes[j] = min((found.support.get(level, units) for level in levels), default=units)
    sizes = np.clip(sizes, 1.0, units)
    return np.asarray(np.sqrt(sizes / np.maximum(sizes + model.column_changes, sizes / 2)))


def _table(model: Model, values: np.ndarray, errors: np.ndarray) -> dict[str, list[Any]]:
    columns: dict[str, list[Any]] = {
        "term": [], "coefficient": [], "standard_error": [], "statistic": [], "p": [],
    }  # fmt: skip
    for j in model.fit.used.tolist():
        value, error = float(values[j]), float(errors[j])
        share, digits = _finest(model)
        value = rounded(value, max(error * share, abs(value) * 10.0**-DIGITS))
        error = significant(error, digits)
        # From the rounded numbers: the statistic must not tell more digits than they do.
        statistic = value / error if error > 0 else float("nan")
        row = (model.names[j], value, error, _none(statistic), _p_value(model, statistic))
        for name, cell in zip(columns, row, strict=True):
            columns[name].append(cell)
    return columns


def _finest(model: Model) -> tuple[float, int]:
    """Return the share of a standard error and the digits to which numbers are rounded.

    Without a rule they are still rounded a little, so that the order in which an engine added up
    does not show.
    """
    if model.digits is None:
        return 10.0 ** (2 - DIGITS), DIGITS
    return model.digits.share, model.digits.significant


def _none(value: float) -> float | None:
    return value if np.isfinite(value) else None


def _p_value(model: Model, statistic: float) -> float | None:
    from scipy.stats import norm, t

    if not np.isfinite(statistic):
        return None
    is_exact = model.link == "identity" and not model.weighted and not model.is_robust
    free = model.n_published - model.fit.n_columns
    tail = t.sf(abs(statistic), max(free, 1)) if is_exact else norm.sf(abs(statistic))
    return round(float(2 * tail), 4)


def variance_table(model: Model) -> dict[str, list[Any]]:
    """Return the analysis of variance of a whole model: model, residual, total."""
    scale = squares_scale(model)
    whole, part = total(model) * scale, explained(model, model.fit.used.tolist()) * scale
    free = model.n_published - model.fit.n_columns
    return variance_rows(
        model, [("model", model.fit.n_columns - 1, part)], ("residual", free, whole - part), whole
    )


def variance_rows(
    model: Model,
    parts: list[tuple[str, int, float]],
    residual: tuple[str, int, float],
    whole: float,
) -> dict[str, list[Any]]:
    """Lay out sources of variation with degrees of freedom, squares, F and p."""
    from scipy.stats import f

    _, digits = _finest(model)
    _, free, left = residual
    error = left / free if free > 0 else float("nan")
    table: dict[str, list[Any]] = {k: [] for k in ("source", "df", "squares", "mean", "f", "p")}
    for name, df, squares in parts:
        ratio = squares / df / error if df > 0 and error > 0 else float("nan")
        p = round(float(f.sf(ratio, df, free)), 4) if np.isfinite(ratio) else None
        row = (name, df, squares, squares / df if df else None, _none(ratio), p)
        _append(table, row, digits)
    _append(table, (residual[0], free, left, error, None, None), digits)
    last = ("total", free + sum(df for _, df, _ in parts), whole, None, None, None)
    _append(table, last, digits)
    return table


def _append(table: dict[str, list[Any]], row: tuple[Any, ...], digits: int) -> None:
    for name, cell in zip(table, row, strict=True):
        is_number = isinstance(cell, float) and np.isfinite(cell)
        table[name].append(significant(cell, digits) if is_number else cell)


def squares_scale(model: Model) -> float:
    """Return by what sums of squares are multiplied: they are told of the published units."""
    return model.part * (1.0 if model.found.scale is None else float(model.found.scale[-1]) ** 2)


def deviance_table(model: Model) -> dict[str, list[Any]]:
    """Return null deviance, residual deviance, and the test of the whole model."""
    from scipy.stats import chi2

    _, digits = _finest(model)
    df = model.fit.n_columns - 1
    # A difference is known no more finely than what it is taken from.
    gain = model.part * rounded(
        max(model.fit.total - model.fit.left, 0.0), model.fit.total * 10.0**-DIGITS
    )
    free = model.n_published - model.fit.n_columns
    noise = model.square_noise
    null, left = (
        significant(model.part * max(v + noise, 0.0), digits)
        for v in (model.fit.total, model.fit.left)
    )
    p = round(float(chi2.sf(gain, df)), 4) if df else None
    return {
        "source": ["model", "residual", "null"],
        "df": [df, free, free + df],
        "deviance": [significant(gain, digits), left, null],
        "p": [p, None, None],
    }


def share_explained(model: Model) -> float | None:
    """Return R squared, or its analogue of deviances."""
    if model.link != "identity":
        share = model.fit.explained
    else:
        whole = total(model)
        share = explained(model, model.fit.used.tolist()) / whole if whole > 0 else float("nan")
    return _none(round(float(share), DIGITS - 2 if model.digits is None else 3))


def notes(model: Model) -> tuple[str, ...]:
    """Say what a user must know to read the coefficients."""
    said = [f"{v}: the reference is {level!r}" for v, level in model.references.items()]
    if model.absorbed:
        said.append(f"counted with the reference, being rare: {', '.join(model.absorbed)}")
    aliased = [model.names[j] for j in model.kept if j not in set(model.fit.used.tolist())]
    if aliased:
        said.append(f"left out, being combinations of others: {', '.join(aliased)}")
    said.append("records with a missing value in any variable of the model are left out")
    if model.weighted:
        said.append("survey weights are used; standard errors allow for them")
    return tuple(said)


def regression(model: Model, analysis: str, from_residuals: bool = False) -> Answer:
    """Return the answer of a regression."""
    values: dict[str, Any] = {"formula": str(model.formula), "n": model.n_published}
    if model.link != "identity":
        values |= {"explained": share_explained(model), "deviance": deviance_table(model)}
    elif not model.is_robust:
        values |= {"r_squared": share_explained(model), "anova": variance_table(model)}
    accuracy = {"coefficient": "standard errors include the noise that protects units"}
    return Answer(
        analysis=analysis,
        columns=coefficients(model, from_residuals),
        values=values,
        accuracy=accuracy if model.noise is not None else {},
        notes=notes(model),
    )


def term_columns(model: Model) -> dict[str, list[int]]:
    """Return the columns of each term of the formula that are in the model."""
    used = set(model.fit.used.tolist())
    found: dict[str, list[int]] = {term_name(t): [] for t in model.formula.terms}
    for column, term in model.origin.items():
        if column in used:
            found[term_name(term)].append(column)
    return found
