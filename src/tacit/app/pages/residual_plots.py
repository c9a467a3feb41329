"""Residual plots under the answer of a regression."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from nicegui import ui

from tacit.app.pages.frame import hint
from tacit.core.errors import DataError

if TYPE_CHECKING:
    from tacit.query import Answer, Refusal
    from tacit.query.diagnostics import Diagnostic


def draw_residuals(given: Answer | Refusal, variable: dict[str, Any]) -> None:
    """Draw the plot of one number, or say why there is none."""
    from tacit.app.residuals import residual_plot
    from tacit.query import Refusal

    name = variable["name"]
    if isinstance(given, Refusal):
        hint(f"{name}: no plot, by the rule “{given.rule}”. {given.reason}")
        return
    try:
        plot = residual_plot(given, variable)
    except DataError as error:
        hint(f"{name}: no plot; {error.what}.")
        return
    chart = ui.echart(_options(plot)).classes("w-full max-w-2xl h-72")
    chart.props["role"] = "img"
    chart.props["aria-label"] = _in_words(plot)


def _options(plot: Diagnostic) -> dict[str, Any]:
    points = [[round(x, 4), round(r, 3)] for x, r in zip(plot.x, plot.residual, strict=True)]
    axis = {"type": "value", "scale": True, "nameLocation": "middle", "nameGap": 28}
    return {
        "animation": False,
        "grid": {"left": 55, "right": 15, "top": 15, "bottom": 45},
        "xAxis": {**axis, "name": plot.predictor},
        "yAxis": {**axis, "name": "synthetic residual", "min": -4, "max": 4},
        "series": [
            {"type": "scatter", "data": points, "symbolSize": 4, "itemStyle": {"opacity": 0.45}},
            {"type": "line", "data": [list(p) for p in plot.curve], "symbol": "none",
             "lineStyle": {"width": 3, "color": "#8a4b08"}},
        ],
        "color": ["#17577e"],
    }  # fmt: skip


def _in_words(plot: Diagnostic) -> str:
    """Say what the picture shows to those who do not see it."""
    means = [mean for _x, mean in plot.curve]
    return (
        f"Synthetic residuals against {plot.predictor}: their mean goes from {min(means):.2f} to "
        f"{max(means):.2f} standard deviations; near 0 everywhere is a model that fits"
    )
