"""The original of the folder of a release, and the roles that its dossier remembers."""

import pytest

from tacit import datasets, mask
from tacit.cli.options import Reading, Roles
from tacit.cli.release_folder import original_of_release
from tacit.core.errors import ReplayError
from tacit.core.plan import Plan


@pytest.fixture
def original(tmp_path):
    path = tmp_path / "patients.csv"
    datasets.patients().local.write_csv(path)
    return path


@pytest.fixture
def folder(tmp_path, original):
    import tacit

    data = tacit.read(original).with_roles(keys=["Age", "State"], confidential=["Income"])
    return Plan([mask.Sample(size=4)]).apply(data, seed=3).save(tmp_path / "out")


def test_the_dossier_knows_the_roles_unless_others_are_given(folder, original):
    found = original_of_release(folder, str(original), Reading(), Roles())
    assert found.schema.keys == ["Age", "State"]
    found = original_of_release(folder, str(original), Reading(), Roles(key=["State"]))
    assert found.schema.keys == ["State"]
    assert found.schema.confidential == []


def test_the_dossier_knows_where_the_original_is(folder):
    assert original_of_release(folder, None, Reading(), Roles()).n_records == 10


def test_other_data_are_refused(folder, original):
    head, *rows = original.read_text().splitlines()
    original.write_text("\n".join([head, *reversed(rows)]) + "\n")
    with pytest.raises(ReplayError, match="not the data that were protected"):
        original_of_release(folder, str(original), Reading(), Roles())
