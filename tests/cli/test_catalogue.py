"""Each registered method is described, and its example is a step that can be read."""

import json
import tomllib
from typing import Annotated

import pytest
from annotated_types import Ge, Le
from pydantic import Field

from tacit.cli.catalogue import described, prose
from tacit.cli.steps import parse_step
from tacit.core.families import Mask
from tacit.core.method import Try, find, methods

EVERY = methods()


@pytest.mark.parametrize("method", EVERY, ids=lambda m: f"{m.family}-{m.key}")
def test_every_method_is_described_in_full(method):
    document = described(method)
    json.dumps(document, allow_nan=False)
    assert document["title"]
    assert document["summary"]
    assert all(parameter["help"] for parameter in document["parameters"])
    assert all(parameter["type"] for parameter in document["parameters"])


@pytest.mark.parametrize("method", EVERY, ids=lambda m: f"{m.family}-{m.key}")
def test_both_forms_of_the_example_give_the_example(method):
    document = described(method)
    step = tomllib.loads(document["example_toml"])["step"][0]
    assert step.pop("method") == method.key
    assert method(**step) == method(**method.example)
    assert parse_step(document["example_step"], method.family) == method(**method.example)


def test_limits_and_hints_are_found_inside_optional_parameters():
    class Odd(Mask):
        """Do something odd."""

        share: Annotated[float, Ge(0), Le(0.5), Try(0.1, 0.2)] | None = None
        size: Annotated[int, Field(gt=3)] | None = None

    share, size = described(Odd)["parameters"]
    assert share["limits"] == ["at least 0", "at most 0.5"]
    assert share["try"] == [0.1, 0.2]
    assert (share["default"], share["required"]) == (None, False)
    assert size["limits"] == ["above 3"]


def test_the_parameters_of_mdav():
    columns, k, *_ = described(find("mdav", "mask"))["parameters"]
    assert (columns["type"], columns["required"]) == ("columns", True)
    assert (k["type"], k["default"], k["limits"]) == ("whole number", 3, ["at least 2"])
    assert k["help"].startswith("Smallest group size")


def test_prose_leaves_out_formulas_and_examples():
    text = (
        "Do ``this``.\n\nMissing: kept.\n\nNotes\n-----\n.. math:: x\n\nExamples\n--------\n>>> 1"
    )
    assert prose(text) == "Do this.\n\nMissing: kept."
