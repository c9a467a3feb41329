"""Errors say what was wrong, what was given, what to do."""

import inspect

import pytest

from tacit.core import errors
from tacit.core.errors import (
    DataError,
    MissingExtraError,
    ParameterError,
    ReadError,
    SchemaError,
    TacitError,
    UnknownMethodError,
    WriteError,
    nearest,
    optional,
)

ALL = [e for _, e in inspect.getmembers(errors, inspect.isclass) if issubclass(e, TacitError)]


@pytest.mark.parametrize("error", ALL)
def test_every_error_says_what_got_do(error):
    assert str(error("it broke")) == "it broke"
    assert str(error("it broke", got=3)) == "it broke (got 3)"
    assert str(error("it broke", do="mend it")) == "it broke; mend it"
    full = error("it broke", got="x", do="mend it")
    assert str(full) == "it broke (got x); mend it"
    assert (full.what, full.got, full.do) == ("it broke", "x", "mend it")


@pytest.mark.parametrize("error", ALL)
def test_every_error_is_ours_documented_and_drawn_in_the_tree(error):
    assert issubclass(error, TacitError)
    assert error.__doc__
    assert error.__name__ in errors.__doc__


def test_errors_are_also_those_python_users_expect():
    assert issubclass(ParameterError, ValueError)
    assert issubclass(SchemaError, ValueError)
    assert issubclass(DataError, ValueError)
    assert issubclass(WriteError, OSError)
    assert issubclass(MissingExtraError, ImportError)
    assert issubclass(ReadError, DataError)
    assert issubclass(UnknownMethodError, ParameterError)


def test_nothing_given_is_different_from_none_said():
    assert str(TacitError("x", got="")) == "x (got )"
    assert str(TacitError("x", got=0)) == "x (got 0)"


def test_nearest_word():
    assert nearest("mdva", ["mdav", "sample"]) == "did you mean 'mdav'?"
    assert nearest("SAMPLE", ["mdav", "sample"]) == "did you mean 'sample'?"
    assert nearest("xyz", ["b", "a"]) == "known: a, b"
    assert nearest("xyz", []) == "none is known"
    assert nearest("numerc", errors_kinds()) == "did you mean 'numeric'?"


def errors_kinds():
    from tacit.core.schema import Kind

    return Kind


def test_optional_packages():
    assert optional("json", extra="none").dumps([1]) == "[1]"
    with pytest.raises(
        MissingExtraError, match=r"needs the package 'no_such_package'.*tacit\[app\]"
    ):
        optional("no_such_package", extra="app")
