"""A release on disk is read back with what it knows of its original."""

import pytest

from tacit import datasets, mask
from tacit.core.errors import ReadError
from tacit.core.plan import Plan
from tacit.io.release_folder import data_file, is_release, open_release


@pytest.fixture
def saved(tmp_path):
    release = Plan([mask.Sample(size=4)]).apply(datasets.patients(), seed=3)
    return release, release.save(tmp_path / "out")


def test_the_records_remember_where_they_came_from(saved):
    release, folder = saved
    assert is_release(folder)
    opened = open_release(folder)
    assert opened.rows.tolist() == release.rows.tolist()
    assert opened.columns == release.data.columns


def test_without_a_dossier_the_public_data_are_still_read(saved):
    _, folder = saved
    (folder / "dossier").rename(folder.parent / "inside")
    assert open_release(folder).rows is None


def test_a_dossier_of_another_release_is_refused(saved):
    _, folder = saved
    data_file(folder).write_text("Age,State\n1,MI\n")
    with pytest.raises(ReadError, match="does not belong"):
        open_release(folder)


def test_a_folder_without_data_is_refused(saved):
    _, folder = saved
    data_file(folder).unlink()
    with pytest.raises(ReadError, match="holds no data"):
        data_file(folder)
