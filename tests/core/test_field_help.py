"""Help text under fields."""

from typing import ClassVar

from tacit.core.field_help import field_help
from tacit.core.value import Value


class Documented(Value):
    """A value."""

    first: int = 1
    """What the first is,

    in two paragraphs.
    """
    second: int = 2
    constant: ClassVar[int] = 3
    """Not a field."""


class Heir(Documented):
    """A value with one more field."""

    third: int = 3
    """Own text."""


def test_text_under_a_field_is_its_description():
    fields = Documented.model_fields
    assert fields["first"].description == "What the first is,\n\nin two paragraphs."
    assert fields["second"].description is None


def test_description_reaches_the_json_schema():
    described = Documented.model_json_schema()["properties"]
    assert described["first"]["description"].startswith("What the first is")
    assert "description" not in described["second"]


def test_inherited_fields_keep_their_text():
    assert Heir.model_fields["first"].description.startswith("What the first is")
    assert Heir.model_fields["third"].description == "Own text."


def test_classes_of_one_name_are_told_apart():
    def make(which):
        if which:

            class Twin(Value):
                x: int = 1
                """One."""
        else:

            class Twin(Value):
                x: int = 1
                """Other."""

        return Twin

    assert make(True).model_fields["x"].description == "One."
    assert make(False).model_fields["x"].description == "Other."


def test_fields_behind_methods_and_odd_layouts_have_their_text():
    class Odd(
        Value,
    ):
        """A value
        with a text at the margin,

                def and what looks like a method.
        """

        early: int = 1
        """Early."""

        def method(self):
            local: int = 1
            """Not a field."""
            return local

        late: int = 2
        """Late."""

    texts = {name: field.description for name, field in Odd.model_fields.items()}
    assert texts == {"early": "Early.", "late": "Late."}


def test_class_without_source_has_no_text():
    namespace = {"Value": Value, "__name__": "nowhere"}
    exec("class Dynamic(Value):\n    x: int = 1\n    'Text.'\n", namespace)  # noqa: S102
    assert namespace["Dynamic"].model_fields["x"].description is None
    assert field_help(int) == {}
