import json

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core.errors import DataError, ParameterError
from tacit.query._smooth_curve import SmoothCurve
from tacit.query.diagnostics import synthetic_logistic_plot, synthetic_residual_plot

SECRET = b"a secret of the server"


def _plot(x, t, **more):
    given = {"dependent": "income", "predictor": "age", "secret": SECRET} | more
    return synthetic_residual_plot(x, t, **given)


def _logistic(x, y, p, **more):
    given = {"dependent": "ill", "predictor": "age", "secret": SECRET} | more
    return synthetic_logistic_plot(x, y, p, **given)


@pytest.fixture
def bent():
    """Residuals of a straight line through a bend, spread growing with x."""
    rng = np.random.default_rng(0)
    x = rng.uniform(0, 10, 4000)
    t = 0.08 * (x - 5) ** 2 - 0.67 + rng.normal(0, 0.2 + 0.1 * x)
    return x, t


def test_the_pattern_of_the_residuals_is_seen(bent):
    x, t = bent
    plot = _plot(x, t)
    made, shown = np.array(plot.x), np.array(plot.residual)
    for low, high in ((0, 2), (4, 6), (8, 10)):
        real, synthetic = t[(x >= low) & (x < high)], shown[(made >= low) & (made < high)]
        assert synthetic.mean() == pytest.approx(real.mean(), abs=0.12)
        assert synthetic.std() == pytest.approx(np.hypot(real.std(), 0.3), abs=0.12)


def test_the_curve_is_the_mean(bent):
    x, t = bent
    curve = np.array(_plot(x, t).curve)
    np.testing.assert_allclose(curve[:, 1], 0.08 * (curve[:, 0] - 5) ** 2 - 0.67, atol=0.15)


@settings(max_examples=30, deadline=None)
@given(st.integers(40, 300), st.integers(0, 1000), st.sampled_from(["normal", "wild", "tied"]))
def test_what_is_shown_keeps_its_limits(n, seed, kind):
    rng = np.random.default_rng(seed)
    x = rng.standard_cauchy(n) if kind == "wild" else rng.normal(size=n)
    x = np.round(x) if kind == "tied" else x
    t = rng.standard_cauchy(n) * 3
    try:
        plot = _plot(x, t)
    except DataError:
        assert len(np.unique(x)) < n
        return
    assert len(plot.x) == len(plot.residual) == n
    assert np.abs(plot.residual).max() <= 4
    inner = np.sort(x)[10:-10]
    assert min(plot.x) >= inner[0] - 1e-3 * abs(inner[0])
    assert max(plot.x) <= inner[-1] + 1e-3 * abs(inner[-1])


def test_at_most_5000_points():
    x = np.random.default_rng(0).normal(size=20_000)
    assert len(_plot(x, x).x) == 5000
    assert len(_plot(x, x, points=100).x) == 100


def test_an_outlier_is_not_seen():
    """One unit at the far end with a residual of 50: nothing of it shows."""
    rng = np.random.default_rng(0)
    x, t = rng.normal(size=500), rng.normal(size=500)
    x[7], t[7] = 100.0, 50.0
    plot = _plot(x, t)
    assert max(plot.x) < 4
    without = _plot(np.delete(x, 7), np.delete(t, 7))
    gap = np.abs(np.array(plot.curve)[:, 1] - np.array(without.curve)[:, 1])
    assert np.median(gap) < 0.15


def test_asking_again_with_other_models_does_not_average_the_noise_away():
    """The attacker plots the same residuals against many monotone versions of one predictor.

    With fresh noise for each plot the average tends to the residuals; here it does not.
    """
    rng = np.random.default_rng(0)
    x, t = rng.uniform(1, 2, 300), rng.normal(size=300)
    versions = [x ** (1 + i / 20) for i in range(40)]
    sticky = [_plot(v, t, predictor=f"x{i}", neighbours=1) for i, v in enumerate(versions)]
    fresh = [_plot(v, t, dependent=f"y{i}", neighbours=1) for i, v in enumerate(versions)]

    def spread(plots):
        return np.array([plot.residual for plot in plots]).mean(axis=0).std()

    one = np.array(sticky[0].residual).std()
    assert spread(fresh) < 0.4 * one, "each plot with its own seed averages to nothing of its own"
    assert spread(sticky) > 0.7 * one, "all plots of one variable carry the same noise"


def test_residuals_cannot_be_read_off_next_to_a_known_predictor_value():
    """The attacker knows x of every unit and takes the nearest point for its residual."""
    rng = np.random.default_rng(1)
    x, t = rng.normal(size=1000), rng.normal(size=1000)

    def explained(noise, neighbours):
        plot = _plot(x, t, noise=noise, neighbours=neighbours)
        made, shown = np.array(plot.x), np.array(plot.residual)
        near = np.abs(x[:, None] - made[None, :]).argmin(axis=1)
        return np.corrcoef(t, shown[near])[0, 1] ** 2

    assert explained(0.0, 1) > 0.06, "the nearest residuals without noise give something away"
    assert explained(0.3, 10) < 0.02


def test_same_secret_same_plot(bent):
    x, t = bent
    assert _plot(x, t) == _plot(x, t)
    assert _plot(x, t).residual != _plot(x, t, secret=b"another secret of it").residual
    assert _plot(x, t).residual != _plot(x, t, dependent="hours").residual


def test_boxes_of_categories():
    rng = np.random.default_rng(0)
    region = np.array(["nord", "süd"])[rng.integers(0, 2, 2000)]
    t = np.where(region == "nord", rng.normal(0, 0.5, 2000), rng.normal(0, 1.5, 2000))
    region = region.astype(object)
    region[:5], region[5] = "klein", None
    plot = _plot(region, t, predictor="region")
    assert [box.category for box in plot.boxes] == ["nord", "süd"]
    assert plot.left_out == 1, "five units are too few to be shown"
    nord, sued = plot.boxes
    assert sued.upper_quartile == pytest.approx(0.6745 * np.hypot(1.5, 0.3), abs=0.15)
    assert nord.lower_quartile == pytest.approx(-0.6745 * np.hypot(0.5, 0.3), abs=0.08)
    assert -4 <= sued.low < sued.lower_quartile < sued.median < sued.upper_quartile < sued.high <= 4


def test_missing_values_are_left_out(bent):
    x, t = (values.copy() for values in bent)
    x[:1000], t[1000:2000] = np.nan, np.nan
    assert len(_plot(x, t).x) == 2000


def test_a_wrong_logistic_model_is_seen_and_a_right_one_is_not():
    rng = np.random.default_rng(0)
    x = rng.uniform(-2, 2, 5000)
    true = 1 / (1 + np.exp(-(x**2 - 1.5)))
    y = (rng.random(5000) < true).astype(int)

    def outside(p):
        return np.mean([abs(b.residual) > b.band for b in _logistic(x, y, p).bins])

    assert outside(np.full(5000, y.mean())) > 0.5
    assert outside(true) < 0.25


def test_logistic_categories():
    rng = np.random.default_rng(0)
    group = np.array(["a", "b", "c"])[rng.choice(3, 3000, p=[0.6, 0.399, 0.001])]
    y = rng.random(3000) < np.where(group == "a", 0.2, 0.6)
    plot = _logistic(group, y, np.full(3000, 0.4))
    assert [b.at for b in plot.bins] == ["a", "b"]
    assert plot.left_out == 1
    assert plot.bins[0].residual < -plot.bins[0].band < plot.bins[1].band < plot.bins[1].residual


def test_one_outcome_hardly_changes_the_logistic_plot():
    rng = np.random.default_rng(0)
    x = rng.normal(size=400)
    y = (rng.random(400) < 0.5).astype(float)
    other = y.copy()
    other[3] = 1 - other[3]
    p = np.full(400, 0.5)
    curves = [np.array(_logistic(x, v, p).curve)[:, 1] for v in (y, other)]
    assert np.abs(curves[0] - curves[1]).max() < 0.2


@pytest.mark.parametrize("kind", ["scatter", "boxes", "bins", "category bins"])
def test_plain_data_and_charts(kind):
    rng = np.random.default_rng(0)
    x, t = rng.normal(size=200), rng.normal(size=200)
    words = np.array(["a", "b"])[(x > 0).astype(int)]
    y, p = (t > 0).astype(int), np.full(200, 0.5)
    plot = {
        "scatter": lambda: _plot(x, t),
        "boxes": lambda: _plot(words, t),
        "bins": lambda: _logistic(x, y, p),
        "category bins": lambda: _logistic(words, y, p),
    }[kind]()
    assert json.loads(json.dumps(plot.plain()))["predictor"] == "age"
    chart = plot.chart().to_dict()
    assert len(chart["layer"]) >= 2


@pytest.mark.parametrize(
    ("x", "t", "more", "error"),
    [
        (np.arange(39.0), np.arange(39.0), {}, DataError),
        (np.ones(100), np.ones(100), {}, DataError),
        (np.ones(3), np.ones(2), {}, DataError),
        (np.ones((3, 3)), np.ones((3, 3)), {}, DataError),
        (np.arange(99.0), np.arange(99.0), {"noise": -1}, ParameterError),
        (np.arange(99.0), np.arange(99.0), {"noise": np.nan}, ParameterError),
        (np.arange(99.0), np.arange(99.0), {"minimum": 1}, ParameterError),
        (np.arange(99.0), np.arange(99.0), {"neighbours": 0}, ParameterError),
        (np.arange(99.0), np.arange(99.0), {"points": 0}, ParameterError),
        (np.arange(99.0), np.arange(99.0), {"secret": b"short"}, ParameterError),
    ],
)
def test_bad_input_is_refused(x, t, more, error):
    with pytest.raises(error):
        _plot(x, t, **more)


@pytest.mark.parametrize(
    ("y", "p", "more", "error"),
    [
        (np.full(99, 2), np.full(99, 0.5), {}, DataError),
        (np.ones(99), np.full(99, 1.5), {}, DataError),
        (np.ones(99), np.full(99, 0.5), {"bins": 1}, ParameterError),
    ],
)
def test_bad_logistic_input_is_refused(y, p, more, error):
    with pytest.raises(error):
        _logistic(np.arange(99.0), y, p, **more)


def test_the_curve_has_the_freedom_it_is_given():
    """A parabola is followed, a saw with a tooth for each point is not."""
    x = np.linspace(0, 1, 500)
    np.testing.assert_allclose(SmoothCurve(x, x**2)(x), x**2, atol=0.05)
    saw = np.where(np.arange(500) % 2, 1.0, -1.0)
    assert np.abs(SmoothCurve(x, saw)(x)).max() < 0.3
