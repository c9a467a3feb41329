"""Annotations in plain words."""

from enum import StrEnum
from typing import Annotated, Literal

import pytest
from annotated_types import Ge

from tacit.core.method import Columns
from tacit.core.parameter_types import Shape, shape_of, words_for
from tacit.core.value import Value


class Colour(StrEnum):
    RED = "red"
    BLUE = "blue"


class Example(Value):
    columns: Columns
    by: Columns | None = None
    k: Annotated[int, Ge(2)] = 2
    fraction: Annotated[float, Ge(0)] | None = None
    name: str = ""
    flag: bool = False
    choice: Literal["a", "b"] = "a"
    colour: Colour = Colour.RED
    bins: tuple[float, ...] = ()
    pair: tuple[int, str] = (1, "")
    mapping: dict[str, str] | None = None
    threshold: float | str = 0.0


WORDS = {
    "columns": "columns",
    "by": "columns",
    "k": "whole number",
    "fraction": "number",
    "name": "text",
    "flag": "true or false",
    "choice": "one of a, b",
    "colour": "one of red, blue",
    "bins": "list of number",
    "pair": "list",
    "mapping": "table",
    "threshold": "number or text",
}


@pytest.mark.parametrize("name", WORDS)
def test_a_parameter_is_named_in_words(name):
    assert words_for(Example.model_fields[name]) == WORDS[name]


@pytest.mark.parametrize(
    ("annotation", "shape"),
    [
        (str, Shape(text=True)),
        (Colour | None, Shape(text=True)),
        (Literal["a"], Shape(text=True)),
        (Literal["a", 1], Shape()),
        (tuple[str, ...] | None, Shape(text=True, several=True)),
        (dict[str, str], Shape(text=True, table=True)),
        (dict[str, float], Shape(table=True)),
        (float | str, Shape()),
        (int, Shape()),
    ],
)
def test_the_shape_of_an_annotation(annotation, shape):
    assert shape_of(annotation) == shape
