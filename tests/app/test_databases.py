"""Databases that may be used, and ways around the list that must not work."""

import pytest

from tacit.app.databases import Address, allowed_address
from tacit.core.errors import NotAllowedError

ALLOWED = ("postgresql://app:hush@warehouse/", "postgresql://other", "duckdb:////srv/data/")


def test_the_administrators_name_is_used_unless_the_person_gives_one():
    assert allowed_address("postgresql://warehouse/db", ALLOWED) == (
        "postgresql://app:hush@warehouse/db"
    )
    mine = allowed_address("postgresql://warehouse/db", ALLOWED, "me", "p@ss/word")
    assert mine == "postgresql://me:p%40ss%2Fword@warehouse/db"
    assert allowed_address("postgresql://you:x@warehouse/db", ALLOWED) == (
        "postgresql://you:x@warehouse/db"
    )
    assert allowed_address("duckdb:////srv/data/a.duckdb", ALLOWED) == (
        "duckdb:////srv/data/a.duckdb"
    )
    assert allowed_address("postgresql://other/db", ALLOWED) == "postgresql://other/db"


@pytest.mark.parametrize(
    "url",
    [
        "postgresql://elsewhere/db",
        "postgresql://other.example.org/db",  # begins the same
        "postgresql://warehouse/db?host=elsewhere",  # libpq would go there
        "postgresql://warehouse@elsewhere/db",  # the name of a person, not of a host
        "postgresql://elsewhere?x=@warehouse/",
        "sqlite:////srv/data/a.db",
        "duckdb:////srv/data/../secret.duckdb",
        "duckdb:////srv/data/%2e%2e/secret.duckdb",
        "",
        "warehouse",
    ],
)
def test_no_other_place_is_reached(url):
    with pytest.raises(NotAllowedError):
        allowed_address(url, ALLOWED)


def test_nothing_is_allowed_by_default():
    with pytest.raises(NotAllowedError):
        allowed_address("postgresql://warehouse/db", ())


def test_what_is_shown_holds_no_password():
    assert Address.of(ALLOWED[0]).shown == "postgresql://warehouse/"
