"""Let the wizard find releases that meet a target."""

from __future__ import annotations

import re
from typing import Any

from nicegui import ui

from tacit.app.pages.frame import as_script, hint, next_step, section
from tacit.app.pages.tabs import jobs_view
from tacit.app.pages.visitor import Visitor, trying
from tacit.app.scripts import wizard_script
from tacit.core.method import methods


def show(visitor: Visitor, project: str) -> None:
    """Draw the tab."""
    about = visitor.parts.projects.show(visitor.actor, project)
    if not about["data"]:
        ui.label("The project has no data yet; upload a file in the tab Data.")
        return
    section("What must a release meet?")
    ui.label(
        "Say it in words, parts joined by semicolons. The wizard proposes plans, searches among "
        "them, and keeps up to three versions: the safest, a balanced one and the most useful."
    ).classes("text-sm")
    target = ui.input("Target", value=visitor.parts.settings.target).classes("w-full max-w-2xl")
    hint(
        "Such as: k >= 5 (what an intruder may know of somebody is true of four others too); "
        "at most 20 % linkable (of a hundred people at most twenty are found by what an intruder "
        "may know); keep the regression of income on age. The more is asked, the more is changed."
    )
    blur = ui.switch("Change confidential numbers a little, too", value=True)
    hint(
        "The target protects who somebody is. With this no exact amount is released either: each "
        "becomes the mean of three neighbours, if the target is still met."
    )
    attacks = ui.select(_attacks(), label="Attacks it must withstand (optional)", multiple=True,
                        value=[]).classes("w-full max-w-2xl").props("use-chips")  # fmt: skip
    hint(
        "Each may succeed at most 5 percentage points more often than guessing would. Choose those "
        "that got through when you attacked a version. Every plan is then attacked: search longer."
    )
    with ui.row().classes("items-end"):
        name = ui.input("Name of the versions", value="wizard")
        plans = ui.number("Plans to try", value=40, min=1, max=1000).classes("w-32")
        seconds = ui.number("Seconds to search", value=45, min=1, max=3600).classes("w-40")
    hint("The search ends when either is used up; with more of both it may find better ones.")

    def filled() -> dict[str, Any]:
        return {
            "target": target.value or "", "blur": bool(blur.value), "attacks": list(attacks.value),
            "plans": int(plans.value or 40), "seconds": float(seconds.value or 45),
        }  # fmt: skip

    @trying
    def search() -> None:
        from tacit.tradeoff import Target

        Target.of(target.value)
        asked = {"name": name.value, **filled()}
        visitor.parts.jobs.submit(visitor.actor, project, "wizard", asked)
        ui.notify("The search has begun; you may leave this page.")

    ui.button("Search", on_click=search).props("icon=auto_fix_high")
    as_script(lambda: [(wizard_script(about, filled()), "python")])
    _last_search(visitor, project)


def _attacks() -> dict[str, str]:
    """Return the attacks on records, by their keys."""
    from tacit.attack import MicrodataTarget

    found = methods("attack")
    return {a.key: a.title for a in found if getattr(a, "kind", None) is MicrodataTarget}


def _last_search(visitor: Visitor, project: str) -> None:
    """Tell what the last search found, anew whenever one ends."""
    words = ui.column().classes("w-full")

    def explain() -> None:
        jobs = visitor.parts.jobs.of_project(visitor.actor, project)
        ended = (j for j in jobs if j["kind"] == "wizard" and j["state"] in ("done", "failed"))
        last = next(ended, None)
        words.clear()
        with words:
            if last is not None:
                _told(last, project)

    jobs_view.watch(visitor, project, explain)
    explain()


def _told(job: dict[str, Any], project: str) -> None:
    """Say what the last search found, or why it found nothing."""
    section("What the wizard did")
    if job["state"] == "failed":
        with ui.card().classes("w-full bg-orange-50").props('role="alert"'):
            ui.label(job["message"])
        return
    ui.markdown(_below(job["result"]["words"]))
    next_step("compare the versions it kept", project, "Versions")


def _below(words: str) -> str:
    """Put headings below that of the page, and take names of columns as they are."""
    return re.sub(r"(?m)^(#+) ", r"##\1 ", re.sub(r"([_<`\[])", r"\\\1", words))
