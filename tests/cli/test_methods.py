"""tacit methods: the catalogue follows the registry."""

import json

from tacit.core.families import Mask
from tacit.core.method import _registry, methods


def test_the_list_holds_every_method(run):
    result = run("methods")
    assert result.exit_code == 0
    assert all(f"  {method.key}" in result.stdout for method in methods())


def test_a_family_is_listed_alone(run):
    document = json.loads(run("methods", "--family", "mask", "--json").stdout)
    assert {m["family"] for m in document["methods"]} == {"mask"}
    assert "mdav" in {m["key"] for m in document["methods"]}


def test_one_method_is_described(run):
    text = run("methods", "mdav").stdout
    for part in (
        "Microaggregation (MDAV)",
        "k  (whole number, at least 2, default 3)",
        "Smallest group size",
        "domingoferrer2005",
        "[[step]]",
        'method = "mdav"',
        "--step 'mdav columns=income,taxes k=3'",
    ):
        assert part in text
    assert "math" not in text


def test_a_measure_is_shown_as_an_option(run):
    assert "--measure " in run("methods", "k-anonymity").stdout


def test_a_method_in_json(run):
    document = json.loads(run("methods", "mdav", "--json").stdout)
    assert document["key"] == "mdav"
    assert document["parameters"][1]["limits"] == ["at least 2"]
    assert document["warnings"] == []


def test_an_unknown_method_or_family_suggests_the_nearest(run, refusal):
    assert "did you mean 'mdav'?" in refusal(run("methods", "mdva"))
    assert "did you mean 'mask'?" in refusal(run("methods", "--family", "masks"))


def test_a_new_method_appears_with_nothing_else_changed(run):
    try:

        class Odd(Mask, key="odd-one", title="An odd one", example={"strength": 3}):
            """Do something odd to the records."""

            strength: int = 1
            """How odd."""

        assert "odd-one" in run("methods").stdout
        assert "--step 'odd-one strength=3'" in run("methods", "odd-one").stdout
    finally:
        _registry["mask"].pop("odd-one", None)
