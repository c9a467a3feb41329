"""The folder of a protected table: ``public/`` for readers, ``dossier/`` for the house.

===========================  ========================================================
``public/table.csv``         the cells: codes, value, ``c`` where none is published
``public/table.xlsx``        the table with a legend
``public/NOTE.md``           what readers may know about its protection
``dossier/plan.toml``        how it was built and protected, with digests
``dossier/report.html``      the report, one file
``dossier/cells.parquet``    original, published, status, rules and levels of each cell
``dossier/intervals.csv``    what an intruder can work out of the sensitive cells
``dossier/originals.xlsx``   the same as a workbook; no public file has its name
``dossier/table.hst``        the outcome as an a-priori file of tau-ARGUS
``dossier/apriori-1.hst``    what was said of cells beforehand, for the plan; and so on
``dossier/summary.json``     cells and value per status, method, check
===========================  ========================================================

Linked tables have one such set of public files each, numbered.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tacit.core.atomic import new_folder
from tacit.core.bundle import DOSSIER, PUBLIC, versions
from tacit.core.digest import file_digest
from tacit.core.errors import PlanError, WriteError
from tacit.core.progress import track

if TYPE_CHECKING:
    from tacit.tables import ProtectedTable, TablePlan, Verification

PLAN = "plan.toml"
_MOST_IN_A_SHEET = 200_000


@dataclass(frozen=True, eq=False)
class TableRelease:
    """A protected table with the plan that made it and the check it passed."""

    plan: TablePlan
    protected: ProtectedTable
    verification: Verification
    source: str = ""
    """Where the data came from."""
    reading: Mapping[str, Any] = field(default_factory=dict)
    """How they were read, as `tacit.read` takes it, or `tacit.io.read_table` a ready table."""
    apriori: tuple[Path, ...] = ()
    """The a-priori files of the plan, which are kept beside it."""
    again: str = ""
    """The command that makes the release again, where one does."""
    remarks: tuple[str, ...] = ()
    """What else the house must know, for example what the data brought with them."""

    @property
    def cautions(self) -> tuple[str, ...]:
        """Why a check that was passed may say less than one would think."""
        return (*self._little_asked(), *self.verification.cautions)

    def _little_asked(self) -> Iterator[str]:
        found = self.protected.sensitive
        if self.protected.hides_changes:  # noise is for all cells alike
            return
        if self.plan.rule is None:
            who = "only cells that were declared unsafe count" if len(found) else "no cell counts"
            yield f"No rule was given: {who} as sensitive."
        elif not len(found) and not self.protected.notes.get("merged"):
            yield f"No cell is sensitive by the rule {self.plan.rule.short()}."

    @property
    def parts(self) -> dict[str, ProtectedTable]:
        """The tables that are published, by the name of their files."""
        if not self.protected.original.parts:
            return {"table": self.protected}
        split = self.protected.split()
        return {f"table-{k}": part for k, part in enumerate(split.values(), 1)}

    def save(self, folder: str | Path, *, force: bool = False) -> Path:
        """Write the folder, whole or not at all; a table that did not pass is refused.

        Raises
        ------
        ProtectionError
            If the table did not pass its check; nothing is written.
        """
        self.verification.require()
        if len(self.apriori) != len(self.plan.apriori):
            raise PlanError(
                "the plan goes with a-priori files that were not given",
                got=f"{len(self.apriori)} for {len(self.plan.apriori)}",
                do="give them to the release: TableRelease(..., apriori=...)",
            )
        target = Path(folder)
        if force:
            _check_replaceable(target)
        with new_folder(target, force=force) as scratch, track("writing the tables"):
            public, dossier = scratch / PUBLIC, scratch / DOSSIER
            public.mkdir()
            dossier.mkdir(mode=0o700)  # it holds original values
            self._publish(public)
            self._document(dossier, public)
        return target

    # -- for readers ----------------------------------------------------------------------------

    @property
    def note(self) -> str:
        """What readers may know."""
        from tacit.tables.publication import public_note

        plan = self.plan
        first = next(iter(self.parts.values()))
        return public_note(first if len(self.parts) == 1 else self.protected,
                           rule=plan.rule, method=plan.method.public_note())  # fmt: skip

    def _publish(self, folder: Path) -> None:
        from tacit.tables.publication import write_csv

        (folder / "NOTE.md").write_text(self.note, encoding="utf-8")
        for name, part in self.parts.items():
            write_csv(part, folder / f"{name}.csv")
            if part.original.n_cells <= _MOST_IN_A_SHEET:
                part.write_excel(folder / f"{name}.xlsx", note=self.note)

    # -- for the house --------------------------------------------------------------------------

    def _document(self, folder: Path, public: Path) -> None:
        from tacit.report.table_report import table_report
        from tacit.tables._workbook import dossier_workbook, inside_frame
        from tacit.tables.publication import write_frame

        protected, found = self.protected, self.verification.audit
        inside_frame(protected).write_parquet(folder / "cells.parquet")
        frames = {"summary": protected.summary().frame}
        if found is not None:
            frames["intervals"] = found.frame
            write_frame(found.frame, folder / "intervals.csv")
        if protected.original.n_cells <= _MOST_IN_A_SHEET:
            dossier_workbook(protected, folder / "originals.xlsx", frames)
        self._write_apriori(folder)
        self._keep_apriori(folder)
        texts = {
            PLAN: self.plan.repeatable(protected).to_toml(**self._about(public)),
            "summary.json": json.dumps(self.as_dict(), indent=2, ensure_ascii=False) + "\n",
            "report.html": table_report(
                protected,
                self.verification,
                rule=self.plan.rule,
                plan=self._plan_without_seed(),
                again=self.again,
                remarks=(*self.cautions, *self.remarks),
            ),
        }
        for name, text in texts.items():
            (folder / name).write_text(text, encoding="utf-8")

    def _plan_without_seed(self) -> str:
        method = self.plan.method
        if "seed" in type(method).model_fields:
            method = method.replace(seed=None)
        return str(self.plan.replace(method=method).to_toml())

    def _write_apriori(self, folder: Path) -> None:
        from tacit.io.argus.apriori import write_apriori

        for name, part in self.parts.items():
            if part.original.dimensions and not part.changed.any():
                write_apriori(part, folder / f"{name}.hst")

    def _keep_apriori(self, folder: Path) -> None:
        """Copy the a-priori files; a file that was changed meanwhile is not what was used."""
        for given, kept in zip(self.apriori, self.plan.apriori, strict=True):
            copy = folder / kept.file
            copy.write_bytes(given.read_bytes())
            if file_digest(copy) != kept.digest:
                raise WriteError("an a-priori file was changed meanwhile", got=str(given))

    def _about(self, public: Path) -> dict[str, Any]:
        """Return the entries of the plan file about this use of it."""
        from tacit.tables.table_plan import outcome_digest, table_digest

        return {
            "source": self.source,
            **({"reading": dict(self.reading)} if self.reading else {}),
            "original_digest": table_digest(self.protected.original),
            "outcome_digest": outcome_digest(self.protected),
            "public_digests": {path.name: file_digest(path) for path in sorted(public.iterdir())},
            "versions": versions(),
        }

    def as_dict(self) -> dict[str, Any]:
        """Return the summary and the outcome of the check as plain data."""
        checked = self.verification
        return {
            **self.protected.summary().as_dict(),
            "rule": None if self.plan.rule is None else self.plan.rule.short(),
            "remarks": [*self.cautions, *self.remarks],
            "check": {
                "passed": checked.passed,
                "how": checked.how,
                "faults": list(checked.faults),
                "attacked": None if checked.audit is None else len(checked.audit.cells),
            },
        }


def _check_replaceable(folder: Path) -> None:
    """Refuse to replace a folder that holds anything but an earlier table release."""
    if not folder.is_dir():
        return
    found = sorted(p.name for p in folder.iterdir())
    foreign = [name for name in found if name not in (PUBLIC, DOSSIER)]
    if found and not (folder / DOSSIER / PLAN).is_file():
        foreign = found
    if foreign:
        raise WriteError(
            "the output folder holds other files and will not be replaced",
            got=f"{folder} with {', '.join(foreign[:3])}",
            do="choose another folder",
        )
