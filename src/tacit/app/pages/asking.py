"""The page of those who ask: variables, a universe, tables and models, answers and refusals."""

from __future__ import annotations

import json
from asyncio import to_thread
from typing import Any

from fastapi import Request
from nicegui import ui

from tacit.app.answers import as_csv
from tacit.app.pages.dragging import Chips, takes_one, takes_several
from tacit.app.pages.frame import as_script, hint, page, section
from tacit.app.pages.method_form import method_form
from tacit.app.pages.residual_plots import draw_residuals
from tacit.app.pages.visitor import Visitor, trying, visitor_of
from tacit.app.permissions import NotFoundError
from tacit.app.residuals import further_requests
from tacit.app.scripts import asking_script
from tacit.core.errors import ParameterError
from tacit.core.method import find, methods
from tacit.query import Answer, Refusal

_EXAMPLE = '{"method": "crosstab", "by": []}'
_WELCOME = (
    "Ask for tables and models of these data. Nobody's record is ever shown: answers are changed a "
    "little, or refused, where they would tell about somebody."
)
_RESULTS = {
    "standard_error": "standard error", "r_squared": "R squared",
    "adjusted_r_squared": "adjusted R squared",
}  # fmt: skip
_PARTS = {
    "n": "records used", "anova": "analysis of variance", "df": "degrees of freedom",
    "squares": "sum of squares", "mean": "mean square", "f": "F",
}  # fmt: skip
"""Words for parts of a fitted model, in which no name is that of a variable."""
_MODELS = {"ols": "linear regression", "logistic": "logistic regression", "poisson": "Poisson"}


def install() -> None:
    """Add the page."""
    ui.page("/ask/{project}", response_timeout=120)(ask_page)


async def ask_page(request: Request, project: str) -> Any:
    """Show a query server to those who may ask it."""
    visitor = visitor_of(request)
    if not isinstance(visitor, Visitor):
        return visitor
    try:
        about = await to_thread(visitor.parts.queries.describe, visitor.actor, project)
    except NotFoundError:
        ui.status_code(404)
        with page(visitor, "There is no such query server"):
            ui.link("Back to your projects", "/")
        return None
    with page(visitor, f"Ask: {about['project']}"):
        ui.label(_WELCOME)
        with ui.expansion("The rules of this server").classes("w-full"):
            ui.label(about["summary"]).classes("italic")
            for rule in about["rules"]:
                ui.label(f"• {rule}")
        _Desk(visitor, project, about, str(request.base_url).rstrip("/")).draw()
    return None


class _Desk:
    """Where a question is put together."""

    def __init__(self, visitor: Visitor, project: str, about: dict[str, Any], address: str) -> None:
        self.visitor, self.project, self.about, self.address = visitor, project, about, address
        self.variables = {v["name"]: v for v in about["variables"]}
        self.conditions: dict[str, list[Any]] = {}

    def draw(self) -> None:
        self._universe()
        with ui.tabs() as tabs:
            for name in ("Table", "Regression", "Other analyses"):
                ui.tab(name)
        with ui.tab_panels(tabs, value="Table").classes("w-full"):
            with ui.tab_panel("Table"):
                self._table()
            with ui.tab_panel("Regression"):
                self._regression()
            with ui.tab_panel("Other analyses"):
                self._free()
        self.area = ui.column().classes("w-full")

    # -- the universe ---------------------------------------------------------------------------

    def _universe(self) -> None:
        section("Whom the question is about")

        @ui.refreshable
        def shown() -> None:
            if not self.conditions:
                ui.label("Everybody.")
            for name, values in self.conditions.items():
                with ui.row().classes("items-center"):
                    ui.label(f"{name}: {', '.join(map(_in_words, values))}")
                    ui.button(
                        "Remove", on_click=lambda n=name: (self.conditions.pop(n), shown.refresh())
                    ).props("flat dense")

        shown()
        with ui.row().classes("items-end w-full"):
            variable = ui.select(list(self.variables), label="Variable").classes("w-48")
            values = ui.select([], label="May be", multiple=True, value=[]).classes(
                "w-96 max-w-full"
            )
            values.props("use-chips")

            def offer() -> None:
                found = self.variables[variable.value]
                values.set_options(list(_choices(found)), value=[])

            variable.on_value_change(offer)

            def add() -> None:
                if variable.value and values.value:
                    found = _choices(self.variables[variable.value])
                    self.conditions[variable.value] = [found[v] for v in values.value]
                    shown.refresh()

            ui.button("Add the condition", on_click=add)

    # -- questions ------------------------------------------------------------------------------

    def _table(self) -> None:
        hint("Drag variables into the field, press them, or choose them there.")
        held = Chips(self.variables)
        by = ui.select(list(self.variables), label="Spanned by", multiple=True, value=[])
        by.classes("w-full").props("use-chips")
        takes_several(by, held)
        totals = ui.select(
            self.about["numbers"], label="Add up (optional)", multiple=True, value=[]
        )
        totals.classes("w-full").props("use-chips")
        weighted = ui.switch("Use survey weights") if self.about["weighted"] else None

        async def ask() -> None:
            request = {"method": "crosstab", "by": list(by.value), "totals": list(totals.value)}
            await self._ask(request | ({"weighted": True} if weighted and weighted.value else {}))

        ui.button("Ask for the table", on_click=trying(ask)).props("icon=table_chart")

    def _regression(self) -> None:
        """Put an equation together by dragging variables, or by typing it."""
        usable = [*self.about["numbers"], *(n for n in self.variables if n not in
                                            self.about["numbers"])]  # fmt: skip
        hint("Drag variables into the equation, press one to explain by it, or choose them there.")
        held = Chips(usable)
        with ui.row().classes("items-center w-full"):
            response = ui.select(usable, label="Explain").classes("w-48")
            ui.label("by")
            predictors = ui.select(usable, label="Predictors", multiple=True, value=[])
            predictors.classes("w-96 max-w-full").props("use-chips")
        takes_one(response, held)
        takes_several(predictors, held)
        model = ui.select(_MODELS, value="ols", label="Model").classes("w-64")
        formula = ui.input("Formula").classes("w-full")
        hint("It is written from the fields above. You may also write it yourself, such as: "
             "income ~ age + sex.")  # fmt: skip

        def write() -> None:
            if response.value and predictors.value:
                formula.set_value(f"{response.value} ~ {' + '.join(predictors.value)}")

        response.on_value_change(write)
        predictors.on_value_change(write)

        async def ask() -> None:
            await self._ask({"method": model.value, "formula": formula.value or ""})

        ui.button("Fit the model", on_click=trying(ask)).props("icon=show_chart")

    def _free(self) -> None:
        """Offer every analysis of the server with a form of its own, and the bare request."""
        known = {m.key: m.title for m in methods("analysis") if m.key in self.about["analyses"]}
        chosen = ui.select(known, value=next(iter(known), None), label="Analysis").classes("w-full")
        form = ui.column().classes("w-full max-w-xl gap-4")
        filled: dict[str, Any] = {}

        def draw() -> None:
            form.clear()
            with form:
                filled["read"] = method_form(
                    find(chosen.value, "analysis"), list(self.variables), without="universe"
                )

        async def ask() -> None:
            await self._ask(filled["read"]())

        if known:
            chosen.on_value_change(draw)
            draw()
            ui.button("Ask", on_click=trying(ask))
        with ui.expansion("Write the request yourself").classes("w-full"):
            self._typed()

    def _typed(self) -> None:
        hint("A request as JSON, as programs send it.")
        text = ui.textarea("Request", value=_EXAMPLE).classes("w-full")

        async def ask() -> None:
            await self._ask(text.value or "")

        ui.button("Ask as written", on_click=trying(ask))

    # -- answers --------------------------------------------------------------------------------

    async def _ask(self, request: dict[str, Any] | str) -> None:
        """Ask, and show what comes."""
        asked = _parsed(request) if isinstance(request, str) else request
        if self.conditions:
            asked = {"universe": [self.conditions], **asked}
        self.area.clear()
        with self.area, ui.row().classes("items-center").props('role="status"'):
            ui.spinner(size="lg")
            ui.label("Asking …")
        try:
            given = await self._given(asked)
        finally:
            self.area.clear()
        with self.area:
            if isinstance(given, Refusal):
                _refusal(given)
            else:
                _answer(given)
                self._fit(asked)
                as_script(lambda: [(asking_script(self.address, self.project, asked), "python")])

    def _fit(self, asked: dict[str, Any]) -> None:
        """Offer plots that show whether the numbers of a model enter it rightly."""
        further = further_requests(asked, self.variables.values())
        if not further:
            return
        area = ui.column().classes("w-full")

        async def plot() -> None:
            area.clear()
            for name, request in further.items():
                given = await self._given(request)
                with area:
                    draw_residuals(given, self.variables[name])

        with area:
            ui.button("Does the model fit? Draw residuals", on_click=trying(plot)).props("outline")
            hint("The residuals are made up from answers; none is anybody's. Each number of the "
                 "model is one more question.")  # fmt: skip

    async def _given(self, request: dict[str, Any]) -> Answer | Refusal:
        """Ask in a thread, so that nobody else's page waits."""
        return await to_thread(
            self.visitor.parts.queries.ask, self.visitor.actor, self.project, request
        )


def _parsed(text: str) -> dict[str, Any]:
    """Read a request that was typed."""
    try:
        found = json.loads(text)
    except ValueError as error:
        raise ParameterError("the request is not valid JSON", got=text[:200]) from error
    if not isinstance(found, dict):
        raise ParameterError("a request is a JSON object", got=text[:200])
    return found


def _choices(variable: dict[str, Any]) -> dict[str, Any]:
    """Return what a variable may be in a condition, by the words for it."""
    if "categories" in variable:
        return {c: c for c in [*variable["categories"], *variable.get("nodes", [])]}
    edges = variable["cutpoints"]
    pairs = zip(variable["bins"], zip([None, *edges], [*edges, None], strict=True), strict=False)
    return {
        label: {k: v for k, v in (("from", low), ("to", high)) if v is not None}
        for label, (low, high) in pairs
        if (low, high) != (None, None)
    }


def _in_words(value: Any) -> str:
    if isinstance(value, dict):
        return f"{value.get('from', '')} to {value.get('to', '')}"
    return str(value)


def _refusal(given: Refusal) -> None:
    with ui.card().classes("w-full bg-orange-50").props('role="alert"'):
        ui.label(f"Not answered, by the rule “{given.rule}”.").classes("font-bold")
        ui.label(given.reason)
        if given.hint:
            ui.label(f"Try this: {given.hint}")


def _answer(given: Answer) -> None:
    with ui.card().classes("w-full"):
        if given.columns:
            _columns(given.columns)
        for name, value in given.values.items():
            words = _PARTS.get(name) or _label(name)
            if isinstance(value, dict) and all(isinstance(v, list) for v in value.values()):
                ui.label(f"{words}:").classes("text-sm")
                parts = {n: ["" if c is None else c for c in v] for n, v in value.items()}
                _columns({_PARTS.get(n, n): column for n, column in parts.items()})
            else:
                ui.label(f"{words}: {_cell(value)}").classes("text-sm")
        for note in given.notes:
            ui.label(note).classes("text-sm italic")
        ui.label(f"Policy {given.policy}, data {given.data}").classes("text-xs text-gray-700")
        _downloads(given)


def _downloads(given: Answer) -> None:
    """Offer the answer as a file: for spreadsheets its table, for programs all of it."""
    whole = json.dumps(given.as_dict(), ensure_ascii=False, indent=2)
    files = {"Download as JSON": ("answer.json", whole)}
    if given.columns:
        files = {"Download as CSV": ("answer.csv", as_csv(given.columns)), **files}
    with ui.row():
        for words, (name, text) in files.items():
            save = lambda n=name, t=text: ui.download(t.encode(), n)  # noqa: E731
            ui.button(words, on_click=save).props("flat dense")


def _columns(columns: dict[str, list[Any]]) -> None:
    """Draw a table of results."""
    names = list(columns)
    rows = [
        dict(zip(names, map(_cell, row), strict=True))
        for row in zip(*columns.values(), strict=True)
    ]
    heads = [{"name": n, "label": _label(n), "field": n, "align": "left"} for n in names]
    with ui.element("div").classes("w-full overflow-x-auto"):
        ui.table(columns=heads, rows=rows, pagination=50 if len(rows) > 50 else None).props(
            "dense flat"
        )


def _label(name: str) -> str:
    """Write the name of a result as people read it; names of variables are left alone."""
    return _RESULTS.get(name, name)


def _cell(value: Any) -> str:
    """Write a value of an answer; the file to download has all digits."""
    if isinstance(value, float):
        return f"{value:.8g}"
    return "withheld" if value is None else str(value)
