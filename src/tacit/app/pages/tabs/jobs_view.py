"""The jobs of a project that are under way, with their bars, followed until they end."""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime

from nicegui import ui

from tacit.app.jobs import OPEN
from tacit.app.pages.visitor import Visitor, explained, trying
from tacit.app.store.records import now

_WORDS = {
    "import": "Reading the data",
    "generate": "Making a masked version",
    "wizard": "Searching for releases",
    "table": "Protecting a table",
    "attack": "Attacking a version",
    "save": "Saving to the database",
    "log": "Protecting a query log",
    "federated": "Asking the agencies",
}

_STATES = {"queued": "waiting for its turn", "running": "starting"}


def watch(visitor: Visitor, project: str, on_end: Callable[[], object]) -> None:
    """Show the jobs that are open and call `on_end` when one of them has ended."""
    box = ui.column().classes("w-full")
    jobs = visitor.parts.jobs.of_project(visitor.actor, project)
    told = {job["id"] for job in jobs if job["state"] not in OPEN}
    drawn: dict[str, _Bar] = {}

    def look() -> None:
        with explained():
            jobs = visitor.parts.jobs.of_project(visitor.actor, project)
            ended = [job for job in jobs if job["state"] not in OPEN and job["id"] not in told]
            is_open = {job["id"]: job for job in jobs if job["state"] in OPEN}
            for gone in drawn.keys() - is_open.keys():
                drawn.pop(gone).row.delete()
            for job_id, job in is_open.items():
                if job_id not in drawn:
                    with box:
                        drawn[job_id] = _Bar(visitor, job)
                drawn[job_id].show(job)
            for job in ended:
                told.add(job["id"])
                _tell(job)
            if ended:
                on_end()

    look()
    ui.timer(1.0, look)


class _Bar:
    """The line of one job; it stays as long as the job, so that its button can be pressed."""

    def __init__(self, visitor: Visitor, job: dict[str, object]) -> None:
        self.what = _WORDS.get(str(job["kind"]), str(job["kind"]))
        with ui.row().classes("w-full items-center") as self.row:
            self.words = ui.label().classes("grow")
            self.bar = ui.linear_progress(show_value=False).classes("w-48")
            self.bar.props["aria-label"] = self.what
            cancel = trying(lambda: visitor.parts.jobs.cancel(visitor.actor, str(job["id"])))
            ui.button("Cancel", on_click=cancel).props("flat dense")

    def show(self, job: dict[str, object]) -> None:
        """Say how far the job has come."""
        words = str(job["message"]) or _STATES.get(str(job["state"]), str(job["state"]))
        self.words.set_text(f"{self.what}: {words} ({_since(str(job['created']))})")
        self.bar.set_value(float(str(job["progress"])))
        self.bar.props.set_bool("indeterminate", not job["progress"])


def _since(created: str) -> str:
    """Say how long ago a job was asked for.

    Examples
    --------
    >>> from datetime import timedelta
    >>> _since((now() - timedelta(seconds=95)).isoformat())
    '1 min 35 s'
    """
    minutes, seconds = divmod(int((now() - datetime.fromisoformat(created)).total_seconds()), 60)
    return f"{minutes} min {seconds} s" if minutes else f"{seconds} s"


def _tell(job: dict[str, object]) -> None:
    what = _WORDS.get(str(job["kind"]), str(job["kind"]))
    if job["state"] == "done":
        ui.notify(f"{what}: done", type="positive")
    else:
        text = f"{what}: {job['message']}"
        ui.notify(text, type="warning", multi_line=True, timeout=0, close_button="OK")
