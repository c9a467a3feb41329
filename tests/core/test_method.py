"""Methods and their registry."""

import subprocess
import sys
import textwrap
from typing import Annotated

import pytest

import tacit
from tacit.core import method as registry
from tacit.core.errors import ParameterError, UnknownMethodError
from tacit.core.families import Mask
from tacit.core.method import Columns, Try, build, find, methods


@pytest.fixture
def scratch_registry(monkeypatch):
    """A copy of the registry, so that methods made in a test are gone after it."""
    methods()
    copy = {family: dict(known) for family, known in registry._registry.items()}
    monkeypatch.setattr(registry, "_registry", copy)
    return copy


class Probe(Mask):
    """Have the usual kinds of fields."""

    columns: Columns
    """Columns to look at."""
    k: Annotated[int, Try(2, 3)] = 2
    """A number."""

    def apply(self, data, rng):
        return data


def test_a_class_without_a_key_is_not_registered():
    assert Probe not in methods("mask")


def test_a_class_with_a_key_is_found(scratch_registry):
    class Blank(Mask, key="blank", title="Blanking", cites=["sweeney2002"], example={"a": 1}):
        """Blank it.

        All of it.
        """

        def apply(self, data, rng):
            return data

    assert find("blank", "mask") is Blank
    assert Blank in methods()
    assert (Blank.title, Blank.cites, Blank.example) == ("Blanking", ("sweeney2002",), {"a": 1})
    assert Blank.summary() == "Blank it."
    assert Blank.verb == "apply"


def test_two_methods_of_one_key_are_refused(scratch_registry):
    class First(Mask, key="same", title="First"):
        def apply(self, data, rng):
            return data

    with pytest.raises(
        ParameterError, match=r"two mask methods have the key 'same'.*First.*Second"
    ):

        class Second(Mask, key="same", title="Second"):
            def apply(self, data, rng):
                return data

    assert find("same", "mask") is First


def test_a_reloaded_class_replaces_itself(scratch_registry):
    def define():
        class Again(Mask, key="again", title="Again"):
            def apply(self, data, rng):
                return data

        return Again

    define()
    second = define()
    assert find("again", "mask") is second


def test_parameters_do_not_leak_from_a_parent_method(scratch_registry):
    class Child(find("mdav", "mask"), key="child", title="Child"):
        """Do as the parent does."""

    assert (Child.cites, Child.example) == ((), {})


def test_unknown_method_suggests_the_nearest():
    with pytest.raises(UnknownMethodError, match="no mask method 'mdva'; did you mean 'mdav'"):
        find("mdva", "mask")
    with pytest.raises(UnknownMethodError, match="no method 'mdva'; did you mean 'mdav'"):
        find("mdva")


def test_keys_have_hyphens_and_underscores_are_understood():
    assert find("top_code", "mask") is find("top-code", "mask") is tacit.mask.TopCode
    assert all("_" not in m.key for m in methods())


def test_unknown_family_suggests_the_nearest():
    with pytest.raises(UnknownMethodError, match="no family 'msak'; did you mean 'mask'"):
        methods("msak")


def test_unknown_parameter_suggests_the_nearest():
    with pytest.raises(ParameterError, match="no parameter 'colums'; did you mean 'columns'"):
        Probe(colums=["a"])


def test_missing_parameter_is_named():
    with pytest.raises(ParameterError, match="needs the parameter 'columns'"):
        Probe()


def test_columns_accept_one_name_and_refuse_none_and_doubles():
    assert Probe(columns="a").columns == ("a",)
    assert Probe(columns=["a", "b"]).columns == ("a", "b")
    for bad, message in [([], "at least one"), (["a", "a"], "once"), ([1], "'columns.0'")]:
        with pytest.raises(ParameterError, match=message):
            Probe(columns=bad)


def test_methods_are_frozen_values():
    probe = Probe(columns="a")
    with pytest.raises(Exception, match="frozen"):
        probe.k = 5
    assert probe == Probe(columns=("a",), k=2)
    assert hash(probe) == hash(Probe(columns="a"))
    assert probe.replace(k=5).k == 5
    with pytest.raises(ParameterError, match="'k'"):
        probe.replace(k="many")


def test_search_space_comes_from_try():
    assert Probe.search_space() == {"k": (2, 3)}
    assert find("sample", "mask").search_space()["fraction"]


def test_step_is_plain_data_that_rebuilds_the_method():
    step = tacit.mask.Mdav(columns=["Age"], k=5).as_step()
    assert step == {"method": "mdav", "columns": ["Age"], "k": 5}
    assert build(step) == tacit.mask.Mdav(columns=["Age"], k=5)


@pytest.mark.parametrize("step", [{}, {"method": 3}, {"k": 3}])
def test_step_without_a_method(step):
    with pytest.raises(ParameterError, match="name of its method"):
        build(step)


def test_description_names_parameters_and_the_public_note_does_not():
    probe = Probe(columns=["Age"], k=7)
    assert probe.describe() == ": columns = Age, k = 7"
    assert "7" not in probe.public_note()
    assert "Age" not in probe.public_note()


def test_methods_are_sorted_and_unique():
    found = [(m.family, m.key) for m in methods()]
    assert found == sorted(set(found))
    assert [m.key for m in methods("mask")] == sorted(m.key for m in methods("mask"))


def test_every_method_lives_in_a_package_of_its_family():
    """Else a list of the family, which loads these packages only, would not hold it."""
    for method in methods():
        packages = registry.FAMILY_PACKAGES[method.family]
        assert method.__module__.startswith(tuple(f"{package}." for package in packages))


def test_a_method_is_found_without_loading_other_families():
    done = run(
        """
        import sys, tacit
        assert tacit.find("mdav", "mask").key == "mdav"
        print(*[n for n in ("tables", "query", "attack", "report") if f"tacit.{n}" in sys.modules])
        """
    )
    assert done.stdout.split() == [], done.stderr


def test_family_namespace_names_what_it_has():
    own = {m.__name__ for m in methods("mask") if m.__module__.startswith("tacit.mask.")}
    assert set(tacit.mask.__all__) == own
    with pytest.raises(AttributeError, match=r"no method 'Mdva'; known: .*Mdav"):
        _ = tacit.mask.Mdva


def run(code, *paths, **options):
    environment = {"PYTHONPATH": ":".join(map(str, paths)), "PATH": "/usr/bin:/bin"}
    return subprocess.run(
        [sys.executable, "-c", textwrap.dedent(code)],
        env=environment, capture_output=True, text=True, check=False, **options,
    )  # fmt: skip


def third_party(folder, body):
    """Lay out an installed package that offers a method by entry point."""
    (folder / "their_masks.py").write_text(textwrap.dedent(body), encoding="utf-8")
    info = folder / "their_masks-1.0.dist-info"
    info.mkdir()
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: their-masks\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[tacit.methods]\ntheirs = their_masks\n")


def test_third_parties_add_methods_by_entry_point(tmp_path):
    third_party(
        tmp_path,
        """
        from tacit.core.families import Mask

        class Theirs(Mask, key="theirs", title="Their masking"):
            '''Do it their way.'''

            strength: int = 1
            '''How much.'''

            def apply(self, data, rng):
                return data
        """,
    )
    done = run(
        """
        import tacit
        assert "theirs" in [m.key for m in tacit.methods("mask")]
        plan = tacit.Plan.from_toml('[[step]]\\nmethod = "theirs"\\nstrength = 3\\n')
        method = plan.methods[0]
        print(method.describe(), "|", type(method).model_fields["strength"].description)
        """,
        tmp_path,
    )
    assert done.stdout.strip() == "Their masking: strength = 3 | How much.", done.stderr


def test_a_broken_third_party_method_stops_the_program(tmp_path):
    third_party(tmp_path, "raise RuntimeError('half installed')")
    done = run("import tacit; tacit.methods()", tmp_path)
    assert done.returncode != 0
    assert "half installed" in done.stderr
