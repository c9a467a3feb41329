"""Errors that say who and why."""

from tacit.core.errors import ProtectionError
from tacit.federated.stopped import StoppedError


def test_who_and_why_are_told():
    error = StoppedError("too few", {"b": "gone", "a": "refused"}, do="try later")
    assert error.who == {"a": "refused", "b": "gone"}
    assert isinstance(error, ProtectionError)
    assert str(error) == (
        "the computation stopped, nothing is released: too few (got a: refused; b: gone); try later"
    )
