"""The families: one verb each."""

import pytest

import tacit
from tacit.core import families
from tacit.core.errors import WriteError

FAMILIES = [families.Mask, families.Risk, families.Utility, families.Format, families.Document]


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_names_its_verb_and_asks_for_it(family):
    assert family.family
    assert getattr(family, family.verb).__isabstractmethod__
    with pytest.raises(TypeError, match=family.verb):
        family()


@pytest.mark.parametrize("family", FAMILIES)
def test_every_method_implements_the_verb_of_its_family(family):
    for method in tacit.methods(family.family):
        assert issubclass(method, family)
        assert not getattr(getattr(method, family.verb), "__isabstractmethod__", False)


def test_a_measure_has_no_objection_unless_it_says_so():
    class Plain(families.Risk):
        def measure(self, original, release=None):
            raise NotImplementedError

    assert Plain().objection(tacit.datasets.patients()) is None


def test_a_format_that_cannot_write_says_so(tmp_path):
    class ReadOnly(families.Format, title="Read only"):
        title = "Stone tablet"

        def read(self, path):
            raise NotImplementedError

    with pytest.raises(WriteError, match="Stone tablet files can be read but not written"):
        ReadOnly().write(tacit.datasets.patients(), tmp_path / "x")
