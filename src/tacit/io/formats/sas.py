"""SAS files."""

from __future__ import annotations

import re
from pathlib import Path
from typing import Any, ClassVar

from tacit.core.data import Microdata
from tacit.core.errors import WriteError
from tacit.core.families import Format
from tacit.io.files import writing
from tacit.io.formats._readstat import overwrite, plain_records, pyreadstat, read_file

_CLOCK = re.compile(rb"\d\d[A-Z]{3}\d\d:\d\d:\d\d:\d\d")
_NO_CLOCK = b"01JAN00:00:00:00"
_HEADER = 640


class Sas(Format, key="sas", title="SAS"):
    """Transport files (.xpt), read and written, and SAS datasets (.sas7bdat), read only.

    Needs the extra ``formats``. All missing values of SAS become missing.
    """

    suffixes: ClassVar[tuple[str, ...]] = (".xpt", ".sas7bdat")

    encoding: str | None = None
    """Encoding of the text, where the file does not tell it rightly."""

    def read(self, path: Path) -> Any:
        """Return the records as a Polars frame."""
        library = pyreadstat()
        is_dataset = path.suffix.lower() == ".sas7bdat"
        reader = library.read_sas7bdat if is_dataset else library.read_xport
        return read_file(reader, path, self.title, labels=False, encoding=self.encoding)[0]

    def write(self, data: Microdata, path: Path) -> None:
        """Write the records to a new transport file."""
        if path.suffix.lower() == ".sas7bdat":
            raise WriteError("SAS datasets can be read but not written", do="write .xpt")
        table = plain_records(data)
        with writing(path, self.title):
            pyreadstat().write_xport(table, path, table_name="DATA")
            with path.open("rb") as handle:
                clocks = _CLOCK.finditer(handle.read(_HEADER))
            overwrite(path, {found.start(): _NO_CLOCK for found in clocks})
