"""Roles: the options win over the schema, the schema over the suggestion."""

import pytest

from tacit.cli.opening import open_data, require_roles, shown
from tacit.cli.options import Reading, Roles
from tacit.core.errors import SchemaError
from tacit.core.schema import Role


@pytest.fixture
def opened(patients):
    def opened(**roles):
        return open_data(patients, Reading(), Roles(**roles)).schema

    return opened


def test_without_options_there_are_no_roles(patients):
    data = open_data(patients, Reading())
    assert not data.schema.has_roles
    with pytest.raises(SchemaError, match="--suggested-roles"):
        require_roles(data)


def test_options_give_roles(opened):
    schema = opened(
        identifier=["Name", "SSN"], key=["Age"], confidential=["Income"], stratum=["State"]
    )
    assert schema.identifiers == ["Name", "SSN"]
    assert schema.keys == ["Age"]
    assert schema.confidential == ["Income"]
    assert schema.strata == ["State"]


def test_a_column_may_have_two_roles(opened):
    schema = opened(key=["Income"], confidential=["Income"])
    assert schema["Income"].roles == {Role.KEY, Role.CONFIDENTIAL}


def test_weight_and_household(opened):
    schema = opened(weight="Billing", household="State")
    assert (schema.weight, schema.household) == ("Billing", "State")


def test_the_suggestion_fills_the_rest(opened):
    schema = opened(suggested_roles=True, non_confidential=["State"], key=["SSN"])
    assert schema.identifiers == ["Name"]
    assert schema.keys == ["SSN", "Age"]
    assert schema["State"].roles == {Role.NON_CONFIDENTIAL}


def test_the_schema_wins_over_the_suggestion(opened, folder):
    (folder / "s.toml").write_text(
        '[[column]]\nname = "Age"\nkind = "numeric"\nroles = ["confidential"]\n'
        '[[column]]\nname = "Billing"\nkind = "numeric"\nroles = ["weight"]\n'
    )
    path = folder / "s.toml"
    assert opened(schema=path).keys == []
    both = opened(schema=path, suggested_roles=True)
    assert both.keys == ["State"]
    assert both.weight == "Billing"
    assert "Age" in both.confidential


def test_an_option_corrects_one_column_of_the_schema(opened, folder):
    (folder / "s.toml").write_text(
        "".join(
            f'[[column]]\nname = "{name}"\nkind = "numeric"\nroles = ["{role}"]\n'
            for name, role in [("Age", "key"), ("Income", "key"), ("Billing", "weight")]
        )
    )
    schema = opened(schema=folder / "s.toml", confidential=["Income"], weight="SSN")
    assert schema.keys == ["Age"]
    assert schema.confidential == ["Income"]
    assert schema.weight == "SSN"
    assert schema["Billing"].roles == frozenset()


def test_a_missing_column_is_named_with_the_nearest(opened):
    with pytest.raises(SchemaError, match="there is no column 'Agee'; did you mean 'Age'"):
        opened(key=["Agee"])


def test_an_identifier_cannot_be_a_key(opened):
    with pytest.raises(SchemaError, match="cannot be identifier and key"):
        opened(key=["Name"], identifier=["Name"])


def test_the_kinds_of_the_schema_are_types_of_the_file(opened, folder):
    (folder / "s.toml").write_text('[[column]]\nname = "SSN"\nkind = "text"\n')
    data = open_data("patients.csv", Reading(), Roles(schema=folder / "s.toml"))
    assert data.local["SSN"].to_list()[0] == "123456789"


def test_a_password_is_not_shown():
    assert shown("postgresql://anna:secret@host/db") == "postgresql://anna@host/db"
    assert shown("data/patients.csv") == "data/patients.csv"


def test_a_table_of_a_database_is_opened(folder):
    import sqlite3

    with sqlite3.connect(folder / "d.sqlite") as base:
        base.execute("create table people (age int, zip text)")
        base.executemany("insert into people values (?, ?)", [(20, "1"), (30, "2")])
    base.close()
    data = open_data("sqlite:///d.sqlite", Reading(table="people"), Roles(key=["age"]))
    assert (data.n_records, data.schema.keys) == (2, ["age"])
