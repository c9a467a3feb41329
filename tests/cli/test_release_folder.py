"""The roles that the folder of a release remembers."""

import pytest

from tacit import datasets, mask
from tacit.cli.options import Roles
from tacit.cli.release_folder import recorded_roles
from tacit.core.plan import Plan


@pytest.fixture
def folder(tmp_path):
    return Plan([mask.Sample(size=4)]).apply(datasets.patients(), seed=3).save(tmp_path / "out")


def test_the_dossier_knows_the_roles_unless_others_are_given(folder):
    assert recorded_roles(folder, Roles()).schema == folder / "dossier/schema.toml"
    assert recorded_roles(folder, Roles(key=["Age"])).schema is None
    assert recorded_roles(None, Roles()) == Roles()


def test_without_a_dossier_nothing_is_remembered(folder):
    (folder / "dossier").rename(folder.parent / "inside")
    assert recorded_roles(folder, Roles()) == Roles()
