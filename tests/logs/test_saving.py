"""Files of a release."""

import dataclasses
import json

import numpy as np
import polars as pl
import pytest

from tacit import logs
from tacit.core.errors import ProtectionError, ReadError, WriteError
from tacit.logs.saving import read_manifest, write_frame


def test_the_public_file_reads_back_and_is_k_anonymous(release, tmp_path):
    folder = release.save(tmp_path / "out")
    again = logs.read(folder / "public/log.txt")
    assert again.n_lines == release.n_released_lines
    assert logs.user_k_anonymity(again.frame).value >= 3
    assert sorted(p.name for p in (folder / "public").iterdir()) == ["NOTE.md", "log.txt"]
    assert sorted(p.name for p in (folder / "dossier").iterdir()) == [
        "manifest.json", "measurements.json", "report.html", "users.parquet",
    ]  # fmt: skip


def test_nothing_secret_is_public(release, tmp_path):
    folder = release.save(tmp_path / "out", compress=True)
    note = (folder / "public/NOTE.md").read_text(encoding="utf-8")
    assert str(release.seed) not in note
    assert "at least 3 users" in note
    manifest = read_manifest(folder)
    assert manifest["seed"] == str(release.seed)
    assert manifest["counts"]["users_released"] == release.n_released_users
    assert (folder / "dossier").stat().st_mode & 0o077 == 0
    assert (folder / "public/log.txt.gz").is_file()


def test_the_report_shows_the_attack_and_the_levels(release, tmp_path):
    page = (release.save(tmp_path / "out") / "dossier/report.html").read_text(encoding="utf-8")
    assert "Users found by 3 known queries" in page
    assert "<svg" in page
    assert "http-equiv" not in page
    assert "src=" not in page


def test_an_existing_folder_is_kept(release, tmp_path):
    release.save(tmp_path / "out")
    with pytest.raises(WriteError, match="exists already"):
        release.save(tmp_path / "out")
    release.save(tmp_path / "out", force=True)
    (tmp_path / "out/mine.txt").write_text("keep", encoding="utf-8")
    with pytest.raises(WriteError, match="will not be replaced"):
        release.save(tmp_path / "out", force=True)


def test_a_broken_release_is_never_written(release, tmp_path):
    """Groups of one user each must not reach the disk, whatever the release says."""
    alone = dataclasses.replace(release, groups=np.arange(release.cleaned.log.n_users))
    with pytest.raises(ProtectionError):
        alone.save(tmp_path / "out")
    assert not (tmp_path / "out").exists()


def test_values_with_tabs_and_line_ends_stay_on_one_line(tmp_path):
    frame = pl.DataFrame({"user": ["1"], "query": ['a\tb\nc "d']})
    write_frame(frame, tmp_path / "log.txt")
    assert logs.read(tmp_path / "log.txt").queries.to_list() == ['a b c "d']


def test_what_people_type_does_no_harm_in_the_file(tmp_path):
    """Formulas and control characters: whoever opens the log sees text, one line per query."""
    typed = ["=HYPERLINK(1)", "+1", "@SUM(1)", "-flu", "a\x1b[2Jb", "a\u2028b", "a\x00\x85b"]
    write_frame(pl.DataFrame({"user": ["1"] * 7, "query": typed}), tmp_path / "log.txt")
    text = (tmp_path / "log.txt").read_text(encoding="utf-8")
    cells = [line.split("\t")[1] for line in text.splitlines()[1:]]
    assert cells == [" =HYPERLINK(1)", " +1", " @SUM(1)", " -flu", "a [2Jb", "a b", "a b"]
    assert logs.read(tmp_path / "log.txt").queries.to_list()[:4] == typed[:4]


def test_other_folders_are_refused(tmp_path):
    with pytest.raises(ReadError):
        read_manifest(tmp_path)
    (tmp_path / "dossier").mkdir()
    (tmp_path / "dossier/manifest.json").write_text(json.dumps({"kind": "x"}), encoding="utf-8")
    with pytest.raises(ReadError):
        read_manifest(tmp_path)
