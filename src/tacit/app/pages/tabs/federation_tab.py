"""Partners: this house as an agency that others may ask, and questions to other agencies."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from nicegui import ui

from tacit.app.federation import analyses
from tacit.app.pages.frame import as_script, hint, section
from tacit.app.pages.method_form import method_form
from tacit.app.pages.tabs import jobs_view
from tacit.app.pages.tabs.federated_answer import answer_view
from tacit.app.pages.visitor import Visitor, explained, trying
from tacit.core.errors import ParameterError

_SHOWN = 5
"""Answers that are shown; the others are in the jobs of the project."""


def is_set_up(visitor: Visitor) -> bool:
    """Whether the house is an agency or may ask agencies."""
    settings = visitor.parts.settings
    return bool(settings.agency_keys or settings.coordinator_keys)


def show(visitor: Visitor, project: str) -> None:
    """Draw the tab."""
    state = visitor.parts.federation.state(visitor.actor, project)
    if state["agency"]["set_up"]:
        _agency(visitor, project, state["agency"])
    if state["may_ask"]:
        _asking(visitor, project, state)
    elif visitor.parts.settings.coordinator_keys:
        hint("To ask others, at least three agencies are needed; the administrator names them.")


# -- this house as an agency -----------------------------------------------------------------------


def _agency(visitor: Visitor, project: str, agency: dict[str, Any]) -> None:
    section("This house as an agency")
    hint("Other agencies and this one compute together. The records stay here; what leaves are "
         "sums under masks, and only of what the rules below allow.")  # fmt: skip
    words = ui.label().classes("font-bold").props('role="status"')
    waiting = ui.column().classes("w-full")
    _rules(visitor, project, agency)
    with ui.expansion("The agency's own log").classes("w-full"):
        log = ui.column().classes("w-full")
    drawn: dict[str, Any] = {}

    def look() -> None:
        with explained():
            found = visitor.parts.federation.state(visitor.actor, project)["agency"]
            words.set_text(_in_words(found))
            if found["waiting"] != drawn.get("waiting"):
                _redraw(waiting, lambda: _questions(visitor, project, found["waiting"]))
            if found["log"] != drawn.get("log"):
                _redraw(log, lambda: _log(found["log"]))
            drawn.update(found)

    look()
    ui.timer(1.0, look)


def _redraw(box: ui.column, draw: Any) -> None:
    box.clear()
    with box:
        draw()


def _in_words(agency: dict[str, Any]) -> str:
    if agency["problem"]:
        return f"The agency cannot answer: {agency['problem']}"
    if agency["busy"]:
        return "Closed: the agency answers with the data of another project."
    if not agency["open"]:
        return "Closed: nobody can ask about these data."
    if agency["listening"] is None:
        return "Open, but the agency does not listen yet."
    return f"Open: {agency['name']} listens on port {agency['listening']}."


def _questions(visitor: Visitor, project: str, waiting: list[dict[str, Any]]) -> None:
    for proposal in waiting:
        with ui.card().classes("w-full"):
            ui.label(f"{proposal['coordinator']} asks to compute").classes("font-bold")
            ui.label(_analysis_words(proposal["analysis"]))
            ui.label(f"with {', '.join(proposal['participants'])}")
            ui.label(f"for: {proposal['purpose'] or 'no purpose was told'}")
            with ui.row():
                for word, join in (("Take part", True), ("Decline", False)):
                    decide = _deciding(visitor, project, proposal["computation"], join)
                    ui.button(word, on_click=decide).props("" if join else "outline")


def _deciding(visitor: Visitor, project: str, computation: str, join: bool) -> Any:
    return trying(
        lambda: visitor.parts.federation.decide(visitor.actor, project, computation, join=join)
    )


def _rules(visitor: Visitor, project: str, agency: dict[str, Any]) -> None:
    with ui.expansion("Rules of the agency").classes("w-full"):
        text = ui.codemirror(agency["policy"], language="TOML").classes("w-full h-48")
        hint("Which analyses, columns and partners are allowed, and how few records or agencies "
             "are too few. What is left out has its strict default.")  # fmt: skip

    def setting(active: bool) -> Any:
        return trying(
            lambda: visitor.parts.federation.set_up(
                visitor.actor, project, active=active, policy=text.value or ""
            )
        )

    with ui.row():
        ui.button("Open with these rules", on_click=setting(True)).props("icon=lock_open")
        ui.button("Close", on_click=setting(False)).props("icon=lock outline")


def _log(entries: list[dict[str, Any]]) -> None:
    if not entries:
        ui.label("Nothing was asked yet.")
        return
    rows = [
        {
            "at": datetime.fromtimestamp(e["time"], UTC).strftime("%Y-%m-%d %H:%M:%S"),
            "what": e["event"],
            "about": _about(e),
        }
        for e in entries
    ]
    columns = [
        {"name": n, "label": n, "field": n, "align": "left"} for n in ("at", "what", "about")
    ]
    with ui.element("div").classes("w-full overflow-x-auto"):
        ui.table(columns=columns, rows=rows, pagination=10).props("dense flat wrap-cells")


def _about(entry: dict[str, Any]) -> str:
    if "reason" in entry:
        return str(entry["reason"])
    with_whom = ", ".join(entry.get("participants", ()))
    return f"{_analysis_words(entry.get('analysis', {}))} with {with_whom}"


def _analysis_words(analysis: dict[str, Any]) -> str:
    """Say in one line what is computed.

    Examples
    --------
    >>> _analysis_words({"analysis": "ols", "y": "income", "x": ["age", "year"]})
    'ols; y: income; x: age, year'
    """
    rest = [
        f"{name}: {', '.join(map(str, value)) if isinstance(value, list) else value}"
        for name, value in analysis.items()
        if name != "analysis"
    ]
    return "; ".join([str(analysis.get("analysis", "")), *rest])


# -- this house as one that asks -------------------------------------------------------------------


def _asking(visitor: Visitor, project: str, state: dict[str, Any]) -> None:
    section("Ask agencies")
    hint("The agencies compute the result of their records together. This house passes messages "
         "on and sees nothing but the result.")  # fmt: skip
    known, partners = analyses(), state["partners"]
    about = visitor.parts.projects.show(visitor.actor, project)
    names = {c["key"]: f"{c['key']}: {c['summary']}" for c in state["analyses"]}
    chosen = ui.select(names, value="mean", label="Analysis").classes("w-full")
    form = ui.column().classes("w-full max-w-xl gap-4 pl-4")
    filled: dict[str, Any] = {}

    def draw() -> None:
        form.clear()
        with form:
            columns = [c["name"] for c in about["columns"]]
            filled["read"] = method_form(known[chosen.value], columns)

    chosen.on_value_change(draw)
    draw()
    whom = ui.select(
        {name: f"{name} ({where})" for name, where in partners.items()},
        label="Agencies", multiple=True, value=list(partners),
    ).classes("w-full max-w-xl").props("use-chips")  # fmt: skip
    purpose = ui.input("What the result is for (told to the agencies)").classes("w-full max-w-xl")
    seconds = ui.number("Seconds to wait for each answer", value=300, min=1, max=3600)
    seconds.classes("w-80 max-w-full")

    def question() -> dict[str, Any]:
        if not whom.value:
            raise ParameterError("nobody is asked", do="choose agencies")
        step = filled["read"]()
        return visitor.parts.federation.to_ask(
            visitor.actor, project, {"analysis": step.pop("method"), **step}, whom.value,
            purpose=purpose.value or "", seconds=float(seconds.value or 300),
        )  # fmt: skip

    @trying
    def ask() -> None:
        visitor.parts.jobs.submit(visitor.actor, project, "federated", question())
        ui.notify("The agencies are being asked.")

    ui.button("Ask the agencies", on_click=ask).props("icon=hub")
    as_script(lambda: [(_script(question(), partners), "python")])
    _answers(visitor, project)


def _script(question: dict[str, Any], partners: dict[str, str]) -> str:
    asked = {name: partners[name] for name in question["agencies"]}
    return (
        "from tacit.federated import connect\n"
        "from tacit.federated.analysis import analysis_from\n\n"
        f"agencies = {asked!r}\n"
        'coordinator = connect(agencies, "keys/coordinator", '
        f"timeout={question['seconds']:g})\n"
        f"analysis = analysis_from({question['analysis']!r})\n"
        f"print(coordinator.run(analysis, purpose={question['purpose']!r}))\n"
    )


def _answers(visitor: Visitor, project: str) -> None:
    @ui.refreshable
    def content() -> None:
        jobs = visitor.parts.jobs.of_project(visitor.actor, project)
        ended = [j for j in jobs if j["kind"] == "federated" and j["state"] in ("done", "failed")]
        for job in ended[:_SHOWN]:
            answer_view(job)

    jobs_view.watch(visitor, project, content.refresh)
    content()
