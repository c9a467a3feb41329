"""Reading and writing: files, databases, frames, and the table files of tau-ARGUS."""

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from tacit.io.argus.apriori import apply_apriori as apply_apriori
    from tacit.io.argus.apriori import apriori_of as apriori_of
    from tacit.io.argus.apriori import write_apriori as write_apriori
    from tacit.io.argus.castro import read_castro as read_castro
    from tacit.io.argus.jj import read_jj as read_jj
    from tacit.io.argus.jj import write_jj as write_jj
    from tacit.io.argus.ready_table import read_table as read_table
    from tacit.io.argus.ready_table import write_table as write_table

_OF_ARGUS = (
    *("apply_apriori", "apriori_of", "read_castro", "read_jj", "read_table"),
    *("write_apriori", "write_jj", "write_table"),
)


def __getattr__(name: str) -> Any:
    """Import a reader of table files when it is first used."""
    if name in _OF_ARGUS:
        return getattr(importlib.import_module("tacit.io.argus"), name)
    raise AttributeError(f"module 'tacit.io' has no attribute {name!r}")
