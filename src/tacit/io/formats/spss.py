"""SPSS files."""

from __future__ import annotations

from pathlib import Path
from typing import Any, ClassVar

from tacit.core.data import Microdata
from tacit.core.families import Format
from tacit.core.schema import Kind
from tacit.io.files import writing
from tacit.io.formats._readstat import overwrite, plain_records, pyreadstat, read_file

_MEASURES = {"nominal": Kind.NOMINAL, "ordinal": Kind.ORDINAL}
_CLOCK_AT, _NO_CLOCK = 92, b"01 Jan 0000:00:00"


class Spss(Format, key="spss", title="SPSS"):
    """System files of SPSS and PSPP, plain (.sav) or compressed (.zsav).

    Needs the extra ``formats``. User-defined missing values become missing. Variables that SPSS
    calls nominal or ordinal get that kind.
    """

    suffixes: ClassVar[tuple[str, ...]] = (".sav", ".zsav")

    labels: bool = False
    """Put the value labels in place of the codes."""
    encoding: str | None = None
    """Encoding of the text, where the file does not tell it rightly."""

    def read(self, path: Path) -> Any:
        """Return the records, with the kinds the file declares."""
        table, metadata = read_file(
            pyreadstat().read_sav, path, self.title, labels=self.labels, encoding=self.encoding
        )
        data = Microdata.of(table)
        measures = {n: _MEASURES[m] for n, m in metadata.variable_measure.items() if m in _MEASURES}
        data = data.with_kinds(**{n: k for n, k in measures.items() if n in data.schema})
        if not self.labels:
            return data
        ordered = {
            name: [text for _, text in sorted(labels.items())]
            for name, labels in metadata.variable_value_labels.items()
            if measures.get(name) is Kind.ORDINAL
        }
        return data.with_categories(**ordered)

    def write(self, data: Microdata, path: Path) -> None:
        """Write the records to a new file, with their kinds as measurement levels."""
        table = plain_records(data)
        levels = {Kind.NUMERIC: "scale", Kind.DATE: "scale", Kind.ORDINAL: "ordinal"}
        whole = [c.name for c in table.get_columns() if c.dtype.is_integer()]
        with writing(path, self.title):
            pyreadstat().write_sav(
                table,
                path,
                compress=path.suffix.lower() == ".zsav",
                variable_measure={
                    v.name: levels.get(v.kind, "nominal") for v in data.schema.variables
                },
                variable_format=dict.fromkeys(whole, "F11.0"),
            )
            overwrite(path, {_CLOCK_AT: _NO_CLOCK})
