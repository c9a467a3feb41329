"""The map of risk and utility: versions as points, limits that pick the best, a click selects."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from nicegui import ui

from tacit.app.pages.frame import hint, section
from tacit.core.measurement import counted

Versions = list[dict[str, Any]]
_PLAIN, _BEST, _CHOSEN = "#17577e", "#1b6e2e", "#8a4b08"


def versions_map(versions: Versions, select: Callable[[str], Any]) -> None:
    """Draw versions on two measures that the person chooses; `select` is told of a click."""
    risks, utilities = _measures(versions, "risk"), _measures(versions, "utility")
    if risks and utilities:
        _Map(versions, risks, utilities, select).draw()


class _Map:
    """The map, with what was chosen for it."""

    def __init__(
        self, versions: Versions, risks: dict[str, str], utilities: dict[str, str],
        select: Callable[[str], Any],
    ) -> None:  # fmt: skip
        self.versions, self.select = versions, select
        self.titles = {"risk": risks, "utility": utilities}

    def draw(self) -> None:
        section("Risk and utility")
        hint("Each point is a version. Set limits to pick the best one; click a point to open it.")
        with ui.row().classes("items-end"):
            self.axes = {
                aspect: ui.select(names, value=self._telling(aspect), label=aspect.capitalize())
                for aspect, names in self.titles.items()
            }
            self.limits = {aspect: ui.number("Limit").classes("w-44") for aspect in self.axes}
        self.area = ui.column().classes("w-full")
        for box in (*self.axes.values(), *self.limits.values()):
            box.on_value_change(self._redraw)
            box.classes("w-64 max-w-full")
        self._redraw()

    def _telling(self, aspect: str) -> str:
        """Return the measure that most versions have, and on which they differ most often."""
        return most_telling(
            {n: [_taken(v, aspect, n).get("value") for v in self.versions]
             for n in self.titles[aspect]}
        )  # fmt: skip

    def _redraw(self) -> None:
        for aspect, box in self.limits.items():
            word = "at least" if self._is_higher(aspect) else "at most"
            box.props["label"] = f"{aspect.capitalize()}: {word}{self._unit(aspect)}"
        points = self._points()
        best = best_point(points, self._wanted())
        self.area.clear()
        with self.area:
            self._chart(points, best)
            self._words(points, best)

    def _wanted(self) -> dict[str, tuple[bool, float | None]]:
        return {a: (self._is_higher(a), self.limits[a].value) for a in self.axes}

    def _points(self) -> list[dict[str, Any]]:
        """Return the versions that have both measures."""
        points = [
            {"id": v["id"], "name": v["name"]}
            | {a: _taken(v, a, box.value).get("value") for a, box in self.axes.items()}
            for v in self.versions
        ]
        return [point for point in points if None not in point.values()]

    def _is_higher(self, aspect: str) -> bool:
        """Whether a higher value of the chosen measure is the better one."""
        key = self.axes[aspect].value
        found = (_taken(v, aspect, key).get("better") for v in self.versions)
        return next(filter(None, found), "lower") == "higher"

    def _unit(self, aspect: str) -> str:
        """Say how a limit is written where measurements are shown in percent."""
        key = self.axes[aspect].value
        texts = (str(_taken(v, aspect, key).get("text", "")) for v in self.versions)
        return " (0.1 is 10 %)" if any(text.endswith("%") for text in texts) else ""

    def _words(self, points: list[dict[str, Any]], best: dict[str, Any] | None) -> None:
        left_out = len(self.versions) - len(points)
        if left_out:
            hint(f"{counted(left_out, 'version')} without one of these measures: not on the map.")
        if all(box.value is None for box in self.limits.values()):
            return
        if best is None:
            ui.label("No version is within the limits.").classes("font-bold").props("role=status")
            return
        with ui.row().classes("items-center"):
            words = f"Best within the limits: {best['name']}"
            ui.label(words).classes("font-bold").props("role=status")
            ui.button("Open it", on_click=lambda: self.select(best["id"])).props("flat dense")

    def _chart(self, points: list[dict[str, Any]], best: dict[str, Any] | None) -> None:
        better = {a: "higher" if self._is_higher(a) else "lower" for a in self.axes}
        axes = {
            a: f"{self.titles[a][box.value]} ({better[a]} is better)"
            for a, box in self.axes.items()
        }
        data = [
            {"name": p["name"], "value": [p["risk"], p["utility"]],
             "itemStyle": {"color": _BEST if p is best else _PLAIN, "opacity": 1}}
            for p in points
        ]  # fmt: skip
        chart = ui.echart(
            _options(data, axes, {a: box.value for a, box in self.limits.items()}),
            on_point_click=lambda event: self.select(points[event.data_index]["id"]),
        )
        chart.classes("w-full max-w-3xl h-80")
        told = "; ".join(f"{p['name']}: {p['risk']:.4g}, {p['utility']:.4g}" for p in points)
        chart.props["role"] = "img"
        chart.props["aria-label"] = f"Map of {axes['risk']} and {axes['utility']}. {told}"


def most_telling(values: dict[str, list[float | None]]) -> str:
    """Return the first of the measures that most versions have and on which they differ most.

    Examples
    --------
    >>> most_telling({"a": [1.0, None], "b": [2.0, 2.0], "c": [3.0, 4.0]})
    'c'
    """
    known = {name: [v for v in found if v is not None] for name, found in values.items()}
    return max(known, key=lambda name: (len(known[name]), len(set(known[name]))))


def best_point(
    points: list[dict[str, Any]], wanted: dict[str, tuple[bool, float | None]]
) -> dict[str, Any] | None:
    """Return the point of best utility within the limits; without any limit there is none.

    Examples
    --------
    >>> points = [{"risk": 0.1, "utility": 5}, {"risk": 0.3, "utility": 9}]
    >>> best_point(points, {"risk": (False, 0.2), "utility": (True, None)})
    {'risk': 0.1, 'utility': 5}
    """
    if all(limit is None for _higher, limit in wanted.values()):
        return None
    within = [p for p in points if all(_keeps(p[a], *w) for a, w in wanted.items())]
    sign = 1 if wanted["utility"][0] else -1
    return max(within, key=lambda p: sign * p["utility"], default=None)


def _keeps(value: float, higher: bool, limit: float | None) -> bool:
    return limit is None or (value >= limit if higher else value <= limit)


def _options(
    data: list[dict[str, Any]], axes: dict[str, str], limits: dict[str, float | None]
) -> dict[str, Any]:
    """Return what ECharts is to draw; limits are dashed lines."""
    lines = [
        {place: limits[aspect]}
        for place, aspect in (("xAxis", "risk"), ("yAxis", "utility"))
        if limits[aspect] is not None
    ]
    return {
        "animation": False,
        "tooltip": {"formatter": "{b}: {c}"},
        "grid": {"left": 70, "right": 90, "top": 40, "bottom": 50},
        "xAxis": {"name": axes["risk"], "nameLocation": "middle", "nameGap": 30,
                  **_scale([point["value"][0] for point in data])},
        "yAxis": {"name": axes["utility"], "nameTextStyle": {"align": "left"},
                  **_scale([point["value"][1] for point in data])},
        "series": [
            {
                "type": "scatter", "symbolSize": 16, "data": data,
                "label": {"show": True, "position": "right", "formatter": "{b}"},
                "labelLayout": {"moveOverlap": "shiftY"},
                "markLine": {"symbol": "none", "silent": True, "data": lines,
                             "lineStyle": {"color": _CHOSEN, "type": "dashed"}},
            }
        ],
    }  # fmt: skip


def _scale(values: list[float]) -> dict[str, Any]:
    """Leave room around the points, but show no number below zero where none can be.

    Examples
    --------
    >>> _scale([0.1, 0.5])["min"], "min" in _scale([0.4, 0.5])
    (0, False)
    """
    scale: dict[str, Any] = {"scale": True, "boundaryGap": ["10%", "10%"]}
    low, high = min(values, default=0.0), max(values, default=0.0)
    return scale | ({"min": 0} if 0 <= low < (high - low) / 2 else {})


def _measures(versions: Versions, aspect: str) -> dict[str, str]:
    return {t["measure"]: t["title"] for v in versions for t in v["measurements"][aspect]}


def _taken(version: dict[str, Any], aspect: str, key: str) -> dict[str, Any]:
    cards = version["measurements"][aspect]
    return next((taken for taken in cards if taken["measure"] == key), {})
