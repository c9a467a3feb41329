"""Name a table of a database: one to take the data from, or one to be made."""

from __future__ import annotations

from asyncio import to_thread
from typing import TYPE_CHECKING

from nicegui import ui

from tacit.app.databases import Address, allowed_address
from tacit.app.pages.frame import hint
from tacit.app.pages.visitor import trying

if TYPE_CHECKING:
    from tacit.app.settings import Settings


class DatabaseForm:
    """The fields that name a database; the password is typed in a field of its own."""

    def __init__(self, settings: Settings) -> None:
        self.databases = settings.databases
        known = [Address.of(url).shown for url in self.databases]
        hint(f"Allowed are addresses that begin with {' or '.join(known)}")
        with ui.row().classes("items-end"):
            self.url = ui.input("Address of the database", value=known[0])
            self.url.classes("w-96 max-w-full")
            self.user = ui.input("User (optional)").props("autocomplete=off")
            self.password = ui.input("Password (optional)", password=True)
            self.password.props("autocomplete=new-password")

    @property
    def address(self) -> str:
        """What to connect to; refused unless the administrator allows it."""
        given = (self.user.value or "").strip(), self.password.value or ""
        return allowed_address(self.url.value or "", self.databases, *given)


class TableToTake(DatabaseForm):
    """A database and one of the tables that it has."""

    def __init__(self, settings: Settings) -> None:
        super().__init__(settings)
        with ui.row().classes("items-center"):
            ui.button("Show its tables", on_click=trying(self._list)).props("outline")
            self.table = ui.select([], label="Table").classes("w-64 max-w-full")
            self.table.set_enabled(False)

    async def _list(self) -> None:
        """Ask in a thread: a database that does not answer keeps nobody waiting but the person."""
        from tacit.io.database import table_names

        found = await to_thread(table_names, self.address)
        self.table.set_options(found, value=found[0] if len(found) == 1 else None)
        self.table.set_enabled(bool(found))
        if not found:
            ui.notify("It has no tables; the address ends with the name of the database.",
                      type="warning")  # fmt: skip
