"""Frozen values with fields declared once."""

from typing import Annotated, Any, ClassVar, Literal

import pytest
from pydantic import Field, model_validator

from tacit.core.errors import ParameterError, SchemaError
from tacit.core.value import Tagged, Value


class Inner(Tagged):
    """A part."""

    tag: ClassVar[str] = "form"
    form: Literal["inner"] = "inner"
    n: int = 1


class Other(Tagged):
    """Another part."""

    tag: ClassVar[str] = "form"
    form: Literal["other"] = "other"
    n: int = 1


class Whole(Value):
    """A value with help under its fields."""

    size: Annotated[int, Field(ge=2)]
    """Smallest group size."""
    names: tuple[str, ...] = ("a",)
    """Names of things."""
    part: Annotated[Inner | Other, Field(discriminator="form")] | None = None

    @model_validator(mode="after")
    def _check(self) -> "Whole":
        if self.size == 13:
            raise ValueError("should not be unlucky")
        if self.size == 14:
            raise SchemaError("there is no column 'x'", do="look again")
        return self


def test_values_are_frozen_equal_and_hashable():
    assert Whole(size=3) == Whole(size=3)
    assert Whole(size=3) != Whole(size=4)
    assert hash(Whole(size=3)) == hash(Whole(size=3))
    with pytest.raises(ValueError, match="frozen"):
        Whole(size=3).size = 4


def test_help_stands_under_the_fields():
    assert Whole.model_fields["size"].description == "Smallest group size."
    assert Whole.model_fields["names"].description == "Names of things."


def test_plain_data_rebuild_the_value():
    for value in (Whole(size=3), Whole(size=3, names=("b", "c"), part=Other())):
        assert Whole(**value.as_dict()) == value
    assert Whole(size=3).as_dict() == {"size": 3}
    assert Whole(size=3, part=Other()).as_dict() == {"size": 3, "part": {"form": "other"}}
    assert Inner().as_dict() == {"form": "inner"}


def test_infinity_survives_plain_data():
    class Wide(Value):
        """A bound."""

        bound: float = 0.0

    assert Wide(**Wide(bound=float("inf")).as_dict()).bound == float("inf")


def test_replacing_fields_checks_them_again():
    assert Whole(size=3).replace(size=4) == Whole(size=4)
    with pytest.raises(ParameterError, match="'size'"):
        Whole(size=3).replace(size=1)
    with pytest.raises(ParameterError, match="no parameter"):
        Whole(size=3).replace(sise=1)


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({}, "Whole needs the parameter 'size'"),
        ({"size": 1}, r"Whole: parameter 'size' should be greater than or equal to 2 \(got 1\)"),
        ({"size": "many"}, "Whole: parameter 'size' .*'many'"),
        ({"size": 3, "nams": ["b"]}, "Whole has no parameter 'nams'; did you mean 'names'"),
        ({"size": 13}, "^Whole should not be unlucky$"),
        ({"size": 14}, "^there is no column 'x'; look again$"),
        ({"size": 3, "names": [1]}, "'names.0'"),
        ({"size": 1, "names": 3}, "'size'.*; .*'names'"),
    ],
)
def test_bad_fields_are_named_in_our_words(fields: dict[str, Any], message: str):
    with pytest.raises(ParameterError, match=message):
        Whole(**fields)
