"""Stata files."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from tacit.core.data import Microdata
from tacit.core.families import Format
from tacit.io.files import writing
from tacit.io.formats._readstat import overwrite, plain_records, pyreadstat, read_file

_CLOCK_TAG, _NO_CLOCK = b"<timestamp>\x11", b"01 Jan 2000 00:00"
_VERSION = 14


class Stata(Format, key="stata", title="Stata"):
    """Data files of Stata; written for version 14 and later.

    Needs the extra ``formats``. The missing values ``.``, ``.a`` to ``.z`` all become missing.
    """

    suffixes: ClassVar[tuple[str, ...]] = (".dta",)

    labels: bool = False
    """Put the value labels in place of the codes."""
    encoding: str | None = None
    """Encoding of the text in files before version 14."""

    def read(self, path: Path) -> Any:
        """Return the records as a Polars frame."""
        reader = pyreadstat().read_dta
        return read_file(reader, path, self.title, labels=self.labels, encoding=self.encoding)[0]

    def write(self, data: Microdata, path: Path) -> None:
        """Write the records to a new file."""
        table = plain_records(data)
        with writing(path, self.title):
            pyreadstat().write_dta(table, path, version=_VERSION)
            with path.open("rb") as handle:
                clock = handle.read(1000).find(_CLOCK_TAG)
            if clock >= 0:
                overwrite(path, {clock + len(_CLOCK_TAG): _NO_CLOCK})
