"""Synthetic diagnostics: residual plots that show whether a model fits, and no residual."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import asdict, dataclass
from typing import Any

import numpy as np

from tacit.core.errors import DataError, ParameterError
from tacit.query._smooth_curve import SmoothCurve
from tacit.query._synthetic_x import Streams, complete, synthetic_x

LIMIT = 4.0
"""Standardised residuals are shown up to this size."""
MOST_POINTS = 5_000
"""Points of a plot."""
_CURVE_POINTS = 50


@dataclass(frozen=True, slots=True)
class Box:
    """A box of a box plot, made from synthetic residuals."""

    category: str
    low: float
    lower_quartile: float
    median: float
    upper_quartile: float
    high: float


@dataclass(frozen=True, slots=True)
class Bin:
    """An average of synthetic residuals of a logistic model, and the band of a good model."""

    at: float | str
    """Where on the predictor: a number, or a category."""
    residual: float
    """Average of outcome less probability."""
    band: float
    """Two standard errors of that average if the model is right."""


@dataclass(frozen=True, slots=True)
class Diagnostic:
    """A plot as plain data."""

    dependent: str
    predictor: str
    x: tuple[float, ...] = ()
    """Synthetic values of a numeric predictor."""
    residual: tuple[float, ...] = ()
    """Synthetic standardised residuals."""
    curve: tuple[tuple[float, float], ...] = ()
    """Smooth mean of the residuals."""
    boxes: tuple[Box, ...] = ()
    """For a categorical predictor."""
    bins: tuple[Bin, ...] = ()
    """For a logistic model."""
    left_out: int = 0
    """Categories too small to be shown."""

    def plain(self) -> dict[str, Any]:
        """Return the plot as lists and mappings, ready for JSON."""
        return asdict(self)

    def chart(self) -> Any:
        """Draw the plot with Altair."""
        from tacit.query._diagnostic_chart import diagnostic_chart

        return diagnostic_chart(self)


def synthetic_residual_plot(
    x: Any,
    residuals: Any,
    *,
    dependent: str,
    predictor: str,
    secret: bytes,
    noise: float = 0.3,
    minimum: int = 10,
    neighbours: int = 10,
    points: int = MOST_POINTS,
) -> Diagnostic:
    r"""Return a plot of synthetic standardised residuals against a predictor or the fitted values.

    Parameters
    ----------
    x
        The predictor: numbers give a scatter plot, words side-by-side boxes. Units of which the
        predictor or the residual is missing are left out; weights are not used.
    residuals
        Residuals of the model, standardised.
    dependent, predictor
        Names of the variables. All plots of one dependent variable share their random numbers.
    secret
        Secret of the server, at least 16 bytes.
    noise
        Standard deviation of the noise.
    minimum
        Categories with fewer units are left out; the most extreme so many values of a predictor
        play no part in the range shown.
    neighbours
        Residuals among which the local deviation is drawn.
    points
        Most points of the plot.

    Notes
    -----
    :math:`t^s_k = b(x^s_k) + v_k + n_k` [lucero2011]_ [reiter2003b]_: :math:`x^s` is drawn from a
    kernel density estimate, *b* is a smooth curve through the real residuals, *v* the deviation of
    a real residual near :math:`x^s` from that curve, *n* normal noise; all cut to [-4, 4]. For a
    category *b* is 0 and *v* a residual drawn from the category.

    Deviations: *v* is drawn among several neighbours, not taken from the nearest; residuals are cut
    to [-4, 4] before the curve is fitted as well as after; the curve has fixed stiffness; and the
    range of :math:`x^s` leaves the outermost units out. Each makes a single residual harder to see.

    Examples
    --------
    >>> rng = np.random.default_rng(0)
    >>> x = rng.normal(size=400)
    >>> plot = synthetic_residual_plot(
    ...     x, x**2 - 1, dependent="y", predictor="x", secret=b"sixteen bytes ..."
    ... )
    >>> len(plot.x), plot.curve[0][1] > 1, plot.curve[25][1] < 0
    (400, True, True)
    """
    _check(noise, minimum, neighbours)
    streams = Streams(secret, dependent, points)
    given, t = complete(x, residuals)
    t = np.clip(t, -LIMIT, LIMIT)
    if given.dtype.kind == "U":
        boxes = tuple(_boxes(given, t, streams, noise, minimum))
        left_out = len(np.unique(given)) - len(boxes)
        return Diagnostic(dependent, predictor, boxes=boxes, left_out=left_out)
    order = _sorted_enough(given, minimum)
    given, t = given[order], t[order]
    n = min(points, len(given))
    made = synthetic_x(given, n, streams, minimum)
    curve = SmoothCurve(given, t)
    near = np.searchsorted(given, made) + np.floor(
        (streams.uniform(2, n) - 0.5) * (neighbours + 1)
    ).astype(np.int64)
    near = np.clip(near, 0, len(given) - 1)
    shown = curve(made) + (t - curve(given))[near] + noise * streams.normal(3, n)
    return Diagnostic(
        dependent,
        predictor,
        x=_plain(made),
        residual=_plain(np.clip(shown, -LIMIT, LIMIT)),
        curve=_curve(curve, made),
    )


def synthetic_logistic_plot(
    x: Any,
    outcome: Any,
    probability: Any,
    *,
    dependent: str,
    predictor: str,
    secret: bytes,
    bins: int = 20,
    minimum: int = 10,
    points: int = MOST_POINTS,
) -> Diagnostic:
    r"""Return averaged synthetic residuals of a logistic model against a predictor.

    Parameters
    ----------
    x
        The predictor (numbers or words), or the fitted probability.
    outcome, probability
        What happened, 0 or 1, and the model's probability of 1.
    dependent, predictor, secret, minimum, points
        As for `synthetic_residual_plot`.
    bins
        Number of averages shown for a numeric predictor.

    Notes
    -----
    Residuals of a binary outcome take two values at each point, so only averages are of use, and
    single ones would give the outcome away [reiterkohnen2005]_. Outcomes are drawn anew:
    :math:`y^s \sim \mathrm{Bernoulli}(p(x^s) + b(x^s))` with *p* the smooth course of the
    probabilities and *b* that of the real residuals; shown are averages of :math:`y^s - p(x^s)` in
    bins of equal size. No real outcome is shown but through the two curves.
    """
    _check(0.0, minimum, 1)
    if bins < 2:
        raise ParameterError("there must be at least two bins", got=bins)
    streams = Streams(secret, dependent, points)
    given, y, p = complete(x, outcome, probability)
    if not (np.isin(y, (0.0, 1.0)).all() and ((p >= 0) & (p <= 1)).all()):
        raise DataError("outcomes are 0 or 1 and probabilities from 0 to 1")
    if given.dtype.kind == "U":
        shown = tuple(_category_bins(given, y, p, streams, minimum))
        left_out = len(np.unique(given)) - len(shown)
        return Diagnostic(dependent, predictor, bins=shown, left_out=left_out)
    order = _sorted_enough(given, minimum)
    given, y, p = given[order], y[order], p[order]
    made = np.sort(synthetic_x(given, min(points, len(given)), streams, minimum))
    fitted = np.clip(SmoothCurve(given, p)(made), 0.0, 1.0)
    curve = SmoothCurve(given, y - p)
    rate = np.clip(fitted + curve(made), 0.0, 1.0)
    drawn = (streams.uniform(4, len(made)) < rate).astype(float)
    return Diagnostic(
        dependent,
        predictor,
        bins=tuple(_numeric_bins(made, drawn, fitted, min(bins, len(made) // minimum))),
        curve=_curve(curve, made),
    )


# -- pieces -------------------------------------------------------------------------------------


def _boxes(
    given: np.ndarray, t: np.ndarray, streams: Streams, noise: float, minimum: int
) -> Iterator[Box]:
    names, codes, counts = np.unique(given, return_inverse=True, return_counts=True)
    for code in np.flatnonzero(counts >= minimum):
        members = t[codes == code]
        draws = streams.uniform(2, len(members))
        picked = members[(draws * len(members)).astype(np.int64)]
        shown = np.clip(picked + noise * streams.normal(3, len(picked)), -LIMIT, LIMIT)
        yield _box(str(names[code]), shown)


def _box(category: str, shown: np.ndarray) -> Box:
    lower, median, upper = np.quantile(shown, [0.25, 0.5, 0.75])
    reach = 1.5 * (upper - lower)
    inside = shown[(shown >= lower - reach) & (shown <= upper + reach)]
    ends = (inside.min(), lower, median, upper, inside.max())
    return Box(category, *(round(float(end), 3) for end in ends))


def _category_bins(
    given: np.ndarray, y: np.ndarray, p: np.ndarray, streams: Streams, minimum: int
) -> Iterator[Bin]:
    names, codes, counts = np.unique(given, return_inverse=True, return_counts=True)
    for code in np.flatnonzero(counts >= minimum):
        at = codes == code
        n = min(int(counts[code]), streams.points)
        drawn = (streams.uniform(4, n) < y[at].mean()).mean()
        band = 2 * np.sqrt((p[at] * (1 - p[at])).mean() / n)
        yield Bin(str(names[code]), round(float(drawn - p[at].mean()), 4), round(float(band), 4))


def _numeric_bins(
    made: np.ndarray, drawn: np.ndarray, fitted: np.ndarray, bins: int
) -> Iterator[Bin]:
    for part in np.array_split(np.arange(len(made)), max(bins, 1)):
        expected = fitted[part]
        band = 2 * np.sqrt((expected * (1 - expected)).mean() / len(part))
        found = (drawn[part] - expected).mean()
        yield Bin(float(f"{made[part].mean():.4g}"), round(float(found), 4), round(float(band), 4))


def _curve(curve: SmoothCurve, made: np.ndarray) -> tuple[tuple[float, float], ...]:
    grid = np.linspace(made.min(), made.max(), _CURVE_POINTS)
    heights = np.clip(curve(grid), -LIMIT, LIMIT)
    return tuple(zip(_plain(grid), _plain(heights), strict=True))


def _plain(values: np.ndarray) -> tuple[float, ...]:
    return tuple(float(f"{value:.4g}") for value in values)


def _sorted_enough(given: np.ndarray, minimum: int) -> np.ndarray:
    if len(given) < 4 * minimum:
        raise DataError(
            f"a diagnostic plot needs at least {4 * minimum} units with all values",
            got=f"{len(given)} units",
        )
    return np.argsort(given, kind="stable")


def _check(noise: float, minimum: int, neighbours: int) -> None:
    if not (noise >= 0 and np.isfinite(noise)) or minimum < 2 or neighbours < 1:
        raise ParameterError(
            "noise is not negative, minimum at least 2, neighbours at least 1",
            got=f"noise = {noise}, minimum = {minimum}, neighbours = {neighbours}",
        )
