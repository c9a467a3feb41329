"""The folder is the catalogue: one idea, one source file, one test file."""

from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
SOURCE, TESTS = REPOSITORY / "src" / "tacit", REPOSITORY / "tests"
SOURCES = sorted(p for p in SOURCE.rglob("*.py") if not p.name.startswith("_"))
_LONGEST = 500
FLOWS = {"app/api": "app/api", "app/pages": "browser", "app/store/migrations": "app/store"}
"""Folders whose files make sense only together, and where they are tested as a whole."""


def _flow(place: Path) -> str | None:
    return next((tests for f, tests in FLOWS.items() if place.is_relative_to(f)), None)


@pytest.mark.parametrize("source", SOURCES, ids=lambda p: str(p.relative_to(SOURCE)))
def test_each_source_file_has_a_test_file(source):
    place = source.relative_to(SOURCE)
    flow = _flow(place)
    if flow is not None:
        assert any((TESTS / flow).glob("test_*.py")), f"src/tacit/{place} needs tests/{flow}"
        return
    test = TESTS / place.parent / f"test_{place.name}"
    assert test.is_file(), f"src/tacit/{place} needs {test.relative_to(REPOSITORY)}"
    assert "def test_" in test.read_text(encoding="utf-8")


def test_there_are_sources():
    assert len(SOURCES) > 30


@pytest.mark.parametrize(
    "source", sorted(SOURCE.rglob("*.py")), ids=lambda p: str(p.relative_to(SOURCE))
)
def test_source_files_stay_short_and_well_named(source):
    n_lines = len(source.read_text(encoding="utf-8").splitlines())
    assert n_lines <= _LONGEST, f"{n_lines} lines: one idea per file"
    assert source.stem.strip("_") not in {"utils", "helpers", "misc", "common"}
