"""A first classification of the columns."""

import datetime as dt
import json
import re
import time

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit._suggest_words import concepts_of, tokens
from tacit.core.errors import SchemaError
from tacit.core.schema import Kind, Role
from tacit.datasets import census, establishments, patients, query_log
from tacit.suggest import Suggestion, looks_like_identifier, suggest_roles

N = 200


def roles(frame):
    return {s.column: str(s.role) for s in suggest_roles(frame)}


def kinds(frame):
    return {s.column: str(s.kind) for s in suggest_roles(frame)}


# -- whole files ----------------------------------------------------------------------------------


def test_patients_are_classified_as_in_the_paper():
    given = patients()
    found = tacit.suggest_roles(given.frame).apply(given.frame)
    for role in Role:
        assert found.schema.names(role) == given.schema.names(role)
    assert found.schema["Age"].kind == found.schema["Income"].kind == Kind.NUMERIC


def test_census_is_classified_sensibly():
    found = roles(census(2000).frame)
    assert found["person_id"] == "identifier"
    assert found["household"] == "household"
    assert found["weight"] == "weight"
    assert found["income"] == found["taxes"] == "confidential"
    assert all(found[k] == "key" for k in ["region", "sex", "age", "education", "marital"])


def test_missing_values_do_not_change_the_picture():
    assert roles(census(2000, missing=0.3).frame) == roles(census(2000).frame)


def test_establishments_are_classified_sensibly():
    found = roles(establishments(2000, negatives=True).frame)
    assert found["establishment_id"] == "identifier"
    assert found["turnover"] == found["result"] == "confidential"
    keys = ["district", "nace", "legal_form", "size_class", "employees"]
    assert all(found[k] == "key" for k in keys)


def test_adult(shared_data):
    frame = pl.read_csv(shared_data / "adult" / "adult.csv", separator=";")
    found = roles(frame)
    assert found.pop("salary-class") == "confidential"
    assert set(found.values()) == {"key"}
    assert kinds(frame)["age"] == "numeric"
    assert looks_like_identifier(frame) == []


def test_testdata(shared_data):
    frame = pl.read_csv(shared_data / "casc" / "testdata.csv", infer_schema_length=None)
    found, kind = roles(frame), kinds(frame)
    keys = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "age", "hhcivil"]
    assert all(found[k] == "key" for k in keys)
    assert all(found[c] == "confidential" for c in ["expend", "income", "savings"])
    assert found["ori_hid"] == "household"
    assert found["sampling_weight"] == "weight"
    assert found["household_weights"] == "non-confidential"
    assert kind["age"] == kind["income"] == "numeric"
    assert all(kind[k] == "nominal" for k in keys if k != "age")
    suggest_roles(frame).apply(frame)


def test_company_accounts_are_confidential_numbers(shared_data):
    frame = pl.read_csv(shared_data / "casc" / "Tarragona.csv", infer_schema_length=None)
    assert set(roles(frame).values()) == {"confidential"}
    assert set(kinds(frame).values()) == {"numeric"}


def test_utilities_are_named_by_glued_words(shared_data):
    frame = pl.read_csv(shared_data / "casc" / "EIA.csv", infer_schema_length=None)
    found = roles(frame)
    assert found["UTILNAME"] == found["UTILITYID"] == "identifier"
    assert found["STATE"] == "key"
    assert found["TOTREVENUE"] == found["TOTSALES"] == "confidential"
    assert found["YEAR"] == "non-confidential"


# -- names ----------------------------------------------------------------------------------------

CATEGORIES = ["a", "b", "c"]
LANGUAGES = {
    "identifier": [
        "Surname", "lastName", "Nachname", "Vorname", "nom", "prénom", "apellidos", "cognome",
        "sobrenome", "achternaam", "E-Mail", "correo_electronico", "courriel", "telefoon",
        "Telefon", "téléphone", "teléfono", "celular", "Straße", "calle", "indirizzo", "endereço",
        "adres", "SSN", "DNI", "Steuernummer", "codice fiscale", "BSN", "passport_no", "IBAN",
        "Kontonummer",
    ],
    "key": [
        "Geschlecht", "sexe", "sexo", "sesso", "geslacht", "Familienstand", "état civil",
        "estado_civil", "stato civile", "burgerlijkeStaat", "PLZ", "Postleitzahl", "code postal",
        "código postal", "CEP", "postcode", "Region", "Bundesland", "département", "provincia",
        "município", "comune", "gemeente", "etnia", "ethnicity", "Beruf", "profissão", "beroep",
        "Staatsangehörigkeit", "Bildung", "escolaridade", "opleiding",
    ],
    "confidential": [
        "Diagnose", "diagnóstico", "maladie", "enfermedad", "malattia", "doença", "ziekte",
        "Krankheit", "religion", "ICD10",
    ],
}  # fmt: skip


@pytest.mark.parametrize(
    ("role", "name"), [(role, name) for role, names in LANGUAGES.items() for name in names]
)
def test_words_of_several_languages(role, name):
    distinct = role == "identifier"
    values = [f"x{i}y" if distinct else CATEGORIES[i % 3] for i in range(N)]
    assert roles(pl.DataFrame({name: values})) == {name: role}


AMOUNTS = ["Einkommen", "revenu", "ingresos", "reddito", "renda", "inkomen", "household_income",
           "TotalTaxes", "Umsatz", "debts"]  # fmt: skip
AGES = ["age", "Alter", "âge", "edad", "età", "idade", "leeftijd", "AGE_OF_MOTHER"]
WEIGHTS = ["weight", "Gewicht", "poids", "peso", "ponderación", "Hochrechnungsfaktor", "pweight"]


@pytest.mark.parametrize("name", AMOUNTS)
def test_amounts_are_confidential_numbers(name):
    frame = pl.DataFrame({name: np.random.default_rng(1).lognormal(10, 1, N)})
    assert (roles(frame)[name], kinds(frame)[name]) == ("confidential", "numeric")


@pytest.mark.parametrize("name", AGES)
def test_ages_are_numeric_keys(name):
    frame = pl.DataFrame({name: np.random.default_rng(1).integers(0, 99, N)})
    assert (roles(frame)[name], kinds(frame)[name]) == ("key", "numeric")


@pytest.mark.parametrize("name", WEIGHTS)
def test_weights(name):
    frame = pl.DataFrame({name: np.random.default_rng(1).uniform(10, 400, N)})
    assert roles(frame) == {name: "weight"}
    assert suggest_roles(frame).apply(frame).schema.weight == name


def test_weights_of_bodies_are_not_design_weights():
    kilos = np.random.default_rng(1).normal(75, 9, N)
    assert roles(pl.DataFrame({"birth_weight": kilos}))["birth_weight"] != "weight"
    assert roles(pl.DataFrame({"weight_kg": kilos}))["weight_kg"] != "weight"
    both = pl.DataFrame({"height": kilos + 100, "weight": kilos, "sampling_weight": kilos})
    assert roles(both)["weight"] == "confidential"
    assert roles(both)["sampling_weight"] == "weight"


def test_a_weight_below_zero_is_no_weight():
    values = np.random.default_rng(1).normal(0, 9, N)
    assert roles(pl.DataFrame({"weight": values}))["weight"] != "weight"


def test_one_weight_and_one_household_at_most():
    group = np.repeat(np.arange(N // 2), 2)
    frame = pl.DataFrame(
        {"wgt": group + 1.5, "design_weight": group + 2.5, "hhid": group, "haushaltsnummer": group}
    )
    found = list(roles(frame).values())
    assert found.count("weight") == found.count("household") == 1
    assert roles(frame)["design_weight"] == "weight"
    suggest_roles(frame).apply(frame)


def test_household_words_beside_others_are_not_the_household():
    size = np.random.default_rng(1).integers(1, 7, N)
    found = roles(pl.DataFrame({"household_size": size, "hhsize": size}))
    assert set(found.values()) == {"key"}


@pytest.mark.parametrize("name", ["id", "Nr", "record", "customer_id", "clientID"])
def test_names_that_may_be_numbers_of_units_are_judged_by_the_values(name):
    assert roles(pl.DataFrame({name: range(N)})) == {name: "identifier"}
    few = suggest_roles(pl.DataFrame({name: [i % 4 for i in range(N)]}))[name]
    assert few.role == Role.KEY
    repeated = suggest_roles(pl.DataFrame({name: [(i * 7) % 90 for i in range(N)]}))[name]
    assert repeated.confidence <= 0.5


def test_words_that_only_end_like_identifiers():
    values = [i % 2 for i in range(N)]
    found = roles(pl.DataFrame({"PAID": values, "valid": values, "COVID": values}))
    assert "identifier" not in found.values()


def test_the_name_of_a_place_is_a_place():
    towns = [f"town {i % 40}" for i in range(N)]
    found = roles(pl.DataFrame({"city_name": towns, "RegionName": towns}))
    assert set(found.values()) == {"key"}


def test_numbers_are_not_names():
    """In French, nombre counts; in Spanish, it names."""
    frame = pl.DataFrame({"nombre": np.random.default_rng(1).lognormal(3, 1, N)})
    assert roles(frame)["nombre"] != "identifier"


def test_codes_of_places_are_nominal_however_many():
    frame = pl.DataFrame({"zip": np.random.default_rng(1).integers(10_000, 99_999, N)})
    assert (roles(frame)["zip"], kinds(frame)["zip"]) == ("key", "nominal")


def test_tokens_cross_scripts_and_accents():
    assert tokens("DateOfBirth_2") == ["date", "of", "birth"]
    assert tokens("Größe") == ["grosse"]
    assert tokens("возраст") == ["возраст"]
    assert tokens("年龄") == ["年龄"]
    assert tokens("123") == tokens("") == []
    assert concepts_of("") == ()


# -- values ---------------------------------------------------------------------------------------

FORMS = {
    "e-mail": [f"user{i}@mail.example" for i in range(N)],
    "iban": [f"DE{i % 90 + 10}5001{i:04d}5407{i:04d}99" for i in range(N)],
    "ssn": [f"{i + 100:03d}-{i % 90 + 10}-{i + 1000:04d}" for i in range(N)],
    "phone": [f"+49 30 {i * 7919 % 10**6 + 10**6}" for i in range(N)],
    "card": [f"4000 0000 {i:04d} {i:04d}" for i in range(N)],
    "uuid": [f"{i:08x}-1111-2222-3333-{i:012x}" for i in range(N)],
    "ip": [f"10.0.{i // 250}.{i % 250}" for i in range(N)],
    "code": [f"AB-{i:05d}" for i in range(N)],
    "running": list(range(1, N + 1)),
    "digits": [100_000_000 + i * 7_654_321 % 800_000_000 for i in range(N)],
    "persons": [f"{a}na {b}son" for a in "ABCDEFGHIJKLMN" for b in "KLMNOPQRSTUVWXY"][:N],
    "free text": [f"the patient number {i} said that she would rather go home" for i in range(N)],
    "distinct": [f"{chr(97 + i % 26)}x{chr(97 + i // 26)}" for i in range(N)],
}


@pytest.mark.parametrize("form", FORMS)
def test_values_only_identifiers_have(form):
    found = suggest_roles(pl.DataFrame({"v": FORMS[form]}))["v"]
    assert found.role == Role.IDENTIFIER
    assert found.reason


@pytest.mark.parametrize("form", ["e-mail", "iban", "ssn", "phone", "card", "uuid", "ip", "code",
                                  "running", "digits"])  # fmt: skip
def test_undeclared_identifiers_are_noticed(form):
    frame = pl.DataFrame({"v": FORMS[form], "other": np.random.default_rng(1).normal(size=N)})
    assert looks_like_identifier(frame) == ["v"]
    data = tacit.Microdata.of(frame)
    assert looks_like_identifier(data.with_roles(keys=["v"])) == ["v"]
    assert looks_like_identifier(data.with_roles(identifiers=["v"])) == []


def test_amounts_and_dates_are_not_identifiers():
    rng = np.random.default_rng(1)
    frame = pl.DataFrame(
        {
            "a": rng.lognormal(10, 2, N),
            "b": rng.lognormal(12, 1, N).astype(int),
            "c": (rng.lognormal(10, 0.1, N) // 100 * 100).astype(int),
            "d": [f"2020-{i % 12 + 1:02d}-{i % 28 + 1:02d}" for i in range(N)],
            "e": [dt.date(2000, 1, 1) + dt.timedelta(days=i) for i in range(N)],
        }
    )
    found = roles(frame)
    assert found == dict.fromkeys("abc", "confidential") | dict.fromkeys("de", "key")
    assert kinds(frame)["e"] == "date"
    assert looks_like_identifier(frame) == []


def test_an_address_inside_some_texts_is_noticed():
    texts = ["nothing to see"] * 99 + ["write to jane@mail.example please"]
    assert looks_like_identifier(pl.DataFrame({"note": texts})) == ["note"]
    assert "query" in looks_like_identifier(query_log(100))


def test_declared_files_raise_no_alarm():
    for data in (patients(), patients(500), census(500), establishments(500)):
        assert looks_like_identifier(data) == []


def test_groups_without_a_telling_name_are_households():
    group = np.repeat(np.arange(100) * 3 + 7, 3)
    found = suggest_roles(pl.DataFrame({"g": group, "x": np.arange(300) % 7}))
    assert found["g"].role == Role.HOUSEHOLD
    assert found["g"].confidence <= 0.5


def test_codes_are_nominal_keys_and_schooling_is_ordered():
    codes = np.random.default_rng(1).integers(1, 6, N)
    frame = pl.DataFrame({"roof": codes, "educ": codes, "flag": codes > 2})
    assert set(roles(frame).values()) == {"key"}
    assert kinds(frame) == {"roof": "nominal", "educ": "ordinal", "flag": "nominal"}


def test_kinds_that_somebody_declared_stay():
    data = census(300)
    found = suggest_roles(data)
    assert found["education"].kind == Kind.ORDINAL
    applied = found.apply(data)
    assert applied.schema["education"].categories == data.schema["education"].categories
    assert applied.schema["region"].hierarchy == data.schema["region"].hierarchy
    assert applied.schema.constraints == data.schema.constraints


# -- edges ----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "frame",
    [
        pl.DataFrame(),
        pl.DataFrame(schema={"name": pl.String, "x": pl.Float64, "d": pl.Date, "b": pl.Boolean}),
        pl.DataFrame({"a": [None], "b": [None]}, schema={"a": pl.String, "b": pl.Int64}),
        pl.DataFrame({"null": [None, None]}),
        pl.DataFrame({"one": ["x"], "weight": [1.0], "id": [1], "hhid": [1]}),
        pl.DataFrame({"名前": ["山田", "鈴木"], "🙂": [1, 2], " ": ["", ""], "": [1.5, None]}),
        pl.DataFrame({"constant": [1] * 50, "inf": [float("inf")] * 50}),
        pl.DataFrame({"t": [dt.time(1)], "u": [dt.timedelta(1)], "v": [dt.datetime(2000, 1, 1)]}),
        pl.DataFrame({"dec": pl.Series([1, 2]).cast(pl.Decimal(10, 2))}),
        pl.DataFrame({"small": pl.Series([1, 2], dtype=pl.UInt8)}),
    ],
)  # fmt: skip
def test_odd_frames_do_not_crash(frame):
    found = suggest_roles(frame)
    assert [s.column for s in found] == frame.columns
    assert isinstance(looks_like_identifier(frame), list)
    assert found.apply(frame).columns == frame.columns
    assert str(found)


@given(
    st.lists(
        st.text(max_size=8).filter(lambda name: not re.fullmatch(r"\*|\^.*\$", name)),
        min_size=1,
        max_size=4,
        unique=True,
    ),
    st.lists(st.one_of(st.none(), st.text(max_size=12)), min_size=0, max_size=30),
)
@settings(max_examples=60, deadline=None)
def test_any_names_and_texts_are_classified(names, values):
    frame = pl.DataFrame({name: pl.Series(values, dtype=pl.String) for name in names})
    found = suggest_roles(frame)
    assert all(s.reason and 0 <= s.confidence <= 1 for s in found)
    found.apply(frame)


@pytest.mark.parametrize("engine", ["pandas", "arrow", "duckdb", "lazy"])
def test_every_engine_suggests_the_same(engine):
    frame = census(500, missing=0.1).frame
    make = {
        "pandas": frame.to_pandas,
        "arrow": frame.to_arrow,
        "duckdb": lambda: duckdb.from_arrow(frame.to_arrow()),
        "lazy": frame.lazy,
    }
    assert roles(make[engine]()) == roles(frame)
    assert looks_like_identifier(make[engine]()) == ["person_id"]


def test_a_million_records_are_counted_in_seconds():
    data = census(1_000_000)
    started = time.perf_counter()
    suggest_roles(data)
    assert time.perf_counter() - started < 60  # about 1 s; the machine may be busy


def test_pandas_whole_numbers_with_gaps_are_still_codes():
    frame = pd.DataFrame({"roof": [1.0, 2.0, None, 3.0] * 20})
    assert kinds(frame) == {"roof": "nominal"}


# -- the result -----------------------------------------------------------------------------------


def test_suggestions_print_as_a_table_and_as_plain_data():
    found = suggest_roles(patients().frame)
    lines = str(found).splitlines()
    assert lines[0].split() == ["column", "role", "kind", "sure", "reason"]
    assert len(lines) == len(found) + 1 == 8
    assert all(isinstance(s, Suggestion) for s in found)
    plain = json.loads(json.dumps(found.as_dict()))
    assert plain["SSN"]["role"] == "identifier"
    assert set(plain["SSN"]) == {"role", "kind", "reason", "confidence"}


def test_a_person_corrects_them():
    found = suggest_roles(patients().frame).but(Age="confidential", State=Role.STRATUM)
    data = found.apply(patients())
    assert data.schema.keys == []
    assert data.schema.strata == ["State"]
    assert found["Age"].confidence == 1.0
    with pytest.raises(SchemaError, match="did you mean 'Age'"):
        found.but(Agee="key")
    with pytest.raises(SchemaError, match="no role 'kee'"):
        found.but(Age="kee")
    with pytest.raises(SchemaError, match="no column"):
        found["nothing"]


def test_apply_needs_the_columns_and_leaves_the_input_alone():
    data = patients()
    before = data.schema
    found = suggest_roles(data).but(Age="confidential")
    found.apply(data)
    assert data.schema == before
    with pytest.raises(SchemaError, match="no column"):
        found.apply(data.drop(["Age"]))


@pytest.mark.parametrize(
    ("name", "values", "order"),
    [
        ("education", ["Master's degree", "High school", "Primary"],
         ["Primary", "High school", "Master's degree"]),
        ("agegroup", ["65+", "0-17", "18-64"], ["0-17", "18-64", "65+"]),
        ("satisfaction", ["good", "very good", "bad"], ["bad", "good", "very good"]),
    ],
)  # fmt: skip
def test_words_and_classes_with_a_known_order_are_ordinal(name, values, order):
    described = tacit.suggest_roles(pl.DataFrame({name: values * 20})).apply(
        pl.DataFrame({name: values * 20})
    )
    assert described.schema[name].kind == "ordinal"
    assert list(described.schema[name].categories) == order


@pytest.mark.parametrize(
    ("name", "values"),
    [
        ("colour", ["red", "green", "blue"]),
        ("income_class", ["low", "medium", "mittel"]),  # two words of one rank
        ("street", ["12 Oak", "7 Elm", "3 Ash"]),  # numbers that mean no order
        ("size", ["low", "medium", "purple"]),
    ],
)
def test_words_without_a_known_order_stay_nominal(name, values):
    frame = pl.DataFrame({name: values * 20})
    assert kinds(frame)[name] == "nominal"


def test_an_order_is_not_told_from_the_first_records_alone():
    late = ["low", "medium", "high"] * 4000 + ["purple"]
    assert kinds(pl.DataFrame({"level": late}))["level"] == "nominal"
