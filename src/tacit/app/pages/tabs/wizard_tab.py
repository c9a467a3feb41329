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
    wish = _Wish(visitor.parts.settings.target)

    @trying
    def search() -> None:
        from tacit.tradeoff import Target

        asked = wish.filled()
        Target.of(asked["target"])
        visitor.parts.jobs.submit(visitor.actor, project, "wizard", asked)
        ui.notify("The search has begun; you may leave this page.")

    ui.button("Search", on_click=search).props("icon=auto_fix_high")
    as_script(lambda: [(wizard_script(about, wish.filled()), "python")])
    _last_search(visitor, project)


class _Wish:
    """What a release shall meet, and how long to search for it."""

    def __init__(self, target: str) -> None:
        section("What must a release meet?")
        ui.label(
            "Say it in words, parts joined by semicolons. The wizard proposes plans, searches "
            "among them, and keeps up to three versions: the safest, a balanced one and the most "
            "useful."
        ).classes("text-sm")
        self.target = ui.input("Target", value=target).classes("w-full max-w-2xl")
        hint(
            "Such as: k >= 5 (what an intruder may know of somebody is true of four others too); "
            "at most 20 % linkable (of a hundred people at most twenty are found by what an "
            "intruder may know); keep the regression of income on age. The more is asked, the more "
            "is changed."
        )
        self._more()
        self._effort()

    def _more(self) -> None:
        """Offer what most targets do not speak of."""
        self.blur = ui.switch("Change confidential numbers a little, too", value=True)
        hint(
            "The target protects who somebody is. With this no exact amount is released either: "
            "each becomes the mean of three neighbours, if the target is still met."
        )
        self.attacks = ui.select(
            _attacks(), label="Attacks it must withstand (optional)", multiple=True, value=[]
        )
        self.attacks.classes("w-full max-w-2xl").props("use-chips")
        hint(
            "Each may succeed at most 5 percentage points more often than guessing would. Choose "
            "those that got through when you attacked a version. Every plan is then attacked: "
            "search longer."
        )

    def _effort(self) -> None:
        with ui.row().classes("items-end"):
            self.name = ui.input("Name of the versions", value="wizard")
            self.plans = ui.number("Plans to try", value=40, min=1, max=1000).classes("w-32")
            self.seconds = ui.number("Seconds to search", value=45, min=1, max=3600)
            self.seconds.classes("w-40")
        hint("The search ends when either is used up; with more of both it may find better ones.")

    def filled(self) -> dict[str, Any]:
        """Return what is to be asked."""
        return {
            "name": self.name.value, "target": self.target.value or "",
            "blur": bool(self.blur.value), "attacks": list(self.attacks.value),
            "plans": int(self.plans.value or 40), "seconds": float(self.seconds.value or 45),
        }  # fmt: skip


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
