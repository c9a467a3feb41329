"""The part of the form of a table that is about the records: who reported them, what they lack."""

from __future__ import annotations

from collections.abc import Callable, Collection, Sequence
from typing import Any

from nicegui import ui

from tacit.app.pages.frame import hint

_CODES = {
    "error": "refuse the table",
    "own category": "count under a code of their own, missing",
    "drop": "leave them out",
}
_VALUES = {"error": "refuse the table", "drop": "leave them out"}
_PARTS = {
    "unit": ("Respondent", "anything",
             "Names who reported a record, where somebody may have several. Without it each "
             "record is a respondent of its own."),
    "holding": ("Holding", "anything",
                "Names the group a respondent belongs to, for rules such as p(10,level=holding)."),
    "request": ("Request for protection", "usable",
                "Says who asks for protection: 1 or 2, or yes. For the rule request(70)."),
    "shadow": ("What the rules look at", "numbers",
               "In place of what is added up, for example turnover for a table of investment."),
    "cost": ("Cost of suppression", "numbers",
             "Its totals are what it costs to suppress a cell. Choose user for the cost among the "
             "parameters of the protection."),
}  # fmt: skip
"""Of each entry of a plan the label, which columns are offered, and what it is for."""
_KEYS = (
    "Whole numbers made from a secret (tables.with_record_keys). With them the cell key methods "
    "are offered as a protection."
)
_ELSEWHERE = (
    "Not here, but on the command line: cells that were added up before (tacit table --ready), and "
    "what is said of single cells beforehand (tacit table --apriori)."
)
_SIDE_BY_SIDE = "w-full grid-cols-1 sm:grid-cols-2"


class TableRecords:
    """Which columns say more of the records than their codes and values, and what of gaps."""

    def __init__(self, columns: Sequence[dict[str, Any]], whole: Collection[str]) -> None:
        """Take the columns of the project, those too that name somebody: none is published.

        Whole numbers, of which `whole` has the names, can be record keys.
        """
        self.weight = next((c["name"] for c in columns if "weight" in c["roles"]), "")
        others = [c for c in columns if c["name"] != self.weight]
        usable = [c for c in others if "identifier" not in c["roles"]]
        self.numbers = [c["name"] for c in usable if c["kind"] == "numeric"]
        self._offered = {
            "anything": [c["name"] for c in others],
            "usable": [c["name"] for c in usable],
            "numbers": self.numbers,
            "keys": [c["name"] for c in others if c["name"] in whole],
        }

    @property
    def keys(self) -> list[str]:
        """The columns of record keys that are chosen."""
        return list(self.key_columns.value)

    def draw(self) -> None:
        """Draw the fields."""
        self._weight_and_gaps()
        title = "Respondents, holdings and what else the records say"
        with ui.expansion(title).classes("w-full"):
            with ui.grid().classes(_SIDE_BY_SIDE):
                self.fields = {name: self._field(*about) for name, about in _PARTS.items()}
                self.key_columns = self._field("Record keys", "keys", _KEYS, several=True)
            hint(_ELSEWHERE)

    def on_keys(self, changed: Callable[[], object]) -> None:
        """Say what happens when other record keys are chosen."""
        self.key_columns.on_value_change(changed)

    def chosen(self) -> dict[str, Any]:
        """Return the entries of a plan, without those that stay as they are by default."""
        given = {name: field.value for name, field in self.fields.items()} | {"keys": self.keys}
        made = {name: value for name, value in given.items() if value}
        if not self.weighted.value:
            made["weighted"] = False
        gaps = {"missing": self.missing.value, "missing_value": self.missing_value.value}
        return made | {name: what for name, what in gaps.items() if what != "error"}

    def _weight_and_gaps(self) -> None:
        self.weighted = ui.switch(f"Each record counts with its weight ({self.weight})", value=True)
        self.weighted.set_visibility(bool(self.weight))
        with ui.grid().classes(_SIDE_BY_SIDE):
            self.missing = ui.select(_CODES, value="error", label="Records without a code")
            self.missing_value = ui.select(_VALUES, value="error", label="Records without a value")
        hint("A table with gaps is refused until you choose here. What is left out is missing from "
             "the totals, too.")  # fmt: skip

    def _field(self, label: str, offered: str, why: str, *, several: bool = False) -> ui.select:
        with ui.column().classes("w-full gap-1"):
            field = ui.select(
                self._offered[offered], label=label, multiple=several,
                value=[] if several else None, clearable=not several,
            )  # fmt: skip
            ui.label(why).classes("text-xs text-gray-700")
        return field.classes("w-full").props("use-chips" if several else "")
