"""Roles, kinds, hierarchies and constraints of the columns of a file."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core.constraints import AtLeast, NonNegative, ZeroWhen
from tacit.core.errors import ParameterError, SchemaError, WriteError
from tacit.core.hierarchy import Intervals, Prefixes, Tree
from tacit.core.schema import Kind, Role, Schema, Variable


def schema(*names, kind=Kind.NUMERIC):
    return Schema(variables=tuple(Variable(name=n, kind=kind) for n in names))


@pytest.fixture
def full():
    variables = (
        Variable(name="id", kind=Kind.TEXT, roles={Role.IDENTIFIER}),
        Variable(name="Größe", kind=Kind.NUMERIC, roles={Role.KEY, Role.CONFIDENTIAL},
                 hierarchy=Intervals(widths=(5, 10), origin=2.5)),
        Variable(name="region", kind=Kind.NOMINAL, roles={Role.KEY, Role.STRATUM},
                 hierarchy=Tree(paths=[("a", "x", "*"), ("b", "x", "*")])),
        Variable(name="zip", kind=Kind.NOMINAL, roles={Role.LINKED}, linked_to="region",
                 hierarchy=Prefixes(length=5, keep=(3, 0))),
        Variable(name="school", kind=Kind.ORDINAL, categories=("low", "high")),
        Variable(name="job", kind=Kind.NOMINAL),
        Variable(name="w", kind=Kind.NUMERIC, roles={Role.WEIGHT}),
        Variable(name="hh", kind=Kind.NOMINAL, roles={Role.HOUSEHOLD}),
        Variable(name="born", kind=Kind.DATE, roles={Role.NON_CONFIDENTIAL}),
    )  # fmt: skip
    rules = (
        NonNegative(column="w"),
        AtLeast(larger="Größe", smaller="w"),
        ZeroWhen(column="Größe", indicator="job", equals="none"),
        ZeroWhen(column="Größe", indicator="job", equals=True),
        ZeroWhen(column="Größe", indicator="job", equals=0),
    )
    return Schema(variables=variables, constraints=rules)


# -- looking --------------------------------------------------------------------------------------


def test_columns_by_role(full):
    assert full.identifiers == ["id"]
    assert full.keys == ["Größe", "region"]
    assert full.confidential == ["Größe"]
    assert full.strata == ["region"]
    assert (full.weight, full.household) == ("w", "hh")
    assert full.linked == {"zip": "region"}
    assert full.has_roles
    assert not schema("a").has_roles
    assert schema("a").weight is None
    assert schema("a").household is None


def test_columns_by_role_and_kind(full):
    assert full.names(kind=Kind.DATE) == ["born"]
    assert full.names(Role.KEY, kind=Kind.NUMERIC) == ["Größe"]
    assert full.names(Role.KEY, Role.WEIGHT) == ["Größe", "region", "w"]
    assert full.names() == full.columns


def test_looking_up_a_column(full):
    assert full["zip"].linked_to == "region"
    assert "zip" in full
    assert "zap" not in full
    with pytest.raises(SchemaError, match="no column 'zpi'; did you mean 'zip'"):
        full["zpi"]
    with pytest.raises(SchemaError, match="none is known"):
        schema()["a"]


def test_require(full):
    full.require(["w", "Größe"], kinds=[Kind.NUMERIC])
    full.require([])
    with pytest.raises(
        SchemaError, match=r"Mdav needs numeric or ordinal columns .*'job'.*nominal"
    ):
        full.require(["job"], kinds=[Kind.NUMERIC, Kind.ORDINAL], by="Mdav")
    with pytest.raises(SchemaError, match="no column"):
        full.require(["nothing"])


# -- rules of a schema ----------------------------------------------------------------------------


@pytest.mark.parametrize("alone", [Role.IDENTIFIER, Role.WEIGHT])
def test_some_roles_stand_alone(alone):
    with pytest.raises(ParameterError, match=f"cannot be {alone} and key at once"):
        Variable(name="a", kind=Kind.NUMERIC, roles={alone, Role.KEY})


def test_a_column_may_be_key_and_confidential():
    both = {Role.KEY, Role.CONFIDENTIAL}
    assert Variable(name="a", kind=Kind.NUMERIC, roles=both).roles == both


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: schema("a", "b", "a"), "names columns twice: a"),
        (lambda: schema("a", "b").with_roles({Role.WEIGHT: ["a", "b"]}), "one weight column"),
        (lambda: schema("a", "b").with_roles({Role.HOUSEHOLD: ["a", "b"]}), "one household"),
        (lambda: schema("a").with_roles({Role.KEY: ["b"]}), "no column 'b'"),
        (lambda: schema("a").with_kinds({"a": "numbr"}), "did you mean 'numeric'"),
        (lambda: schema("a").with_kinds({"b": "numeric"}), "no column 'b'"),
        (lambda: schema("a").with_linked({"a": "b"}), "no column 'b'"),
        (lambda: schema("a").with_linked({"b": "a"}), "no column 'b'"),
        (lambda: schema("a").with_linked({"a": "a"}), "link 'a' to itself"),
        (lambda: schema("a").replace(constraints=(NonNegative(column="b"),)), "no column 'b'"),
        (lambda: schema("a").with_categories({"b": ["x"]}), "no column 'b'"),
    ],
)
def test_schemas_that_make_no_sense_are_refused(make, message):
    with pytest.raises(SchemaError, match=message):
        make()


# -- new schemas ----------------------------------------------------------------------------------


def test_roles_that_are_given_replace_their_former_columns(full):
    changed = full.with_roles({Role.KEY: ["job"]})
    assert changed.keys == ["job"]
    assert changed.confidential == ["Größe"]
    assert changed.weight == "w"
    assert full.keys == ["Größe", "region"]
    assert full.with_roles({Role.KEY: []}).keys == []


def test_kinds_categories_hierarchies_and_links(full):
    changed = full.with_kinds({"job": "text", "w": Kind.NUMERIC})
    assert changed["job"].kind == Kind.TEXT
    ordered = full.with_categories({"job": ["none", "some"]})
    assert ordered["job"].kind == Kind.ORDINAL
    assert ordered["job"].categories == ("none", "some")
    attached = full.with_hierarchies({"job": Tree(paths=[("x", "*")])})
    assert attached["job"].hierarchy.n_levels == 2
    linked = full.with_linked({"job": "region"})
    assert linked.linked == {"zip": "region", "job": "region"}
    assert Role.LINKED in linked["job"].roles


def test_selection_keeps_order_and_the_rules_that_still_speak(full):
    part = full.select(["w", "Größe", "zip"])
    assert part.columns == ["Größe", "zip", "w"]
    assert [str(c) for c in part.constraints] == ["w >= 0", "Größe >= w"]
    assert part.linked == {}
    assert full.select([]).columns == []


def test_schemas_are_values(full):
    assert full == Schema(variables=full.variables, constraints=full.constraints)
    assert full != full.with_kinds({"job": "text"})
    with pytest.raises(ValueError, match="frozen"):
        full.variables = ()


# -- TOML -----------------------------------------------------------------------------------------


def test_toml_round_trip(full):
    again = Schema.from_toml(full.to_toml())
    assert again == full
    assert [type(c.equals) for c in again.constraints[2:]] == [str, bool, int]


def test_toml_is_readable(full):
    text = full.to_toml()
    assert "[[column]]" in text
    assert 'roles = [\n    "identifier",\n]' in text
    assert "None" not in text


def test_files(full, tmp_path):
    path = tmp_path / "deep" / "schema.toml"
    full.save(path)
    assert Schema.load(path) == full
    assert Schema.load(str(path)) == full
    with pytest.raises(SchemaError, match="no schema file"):
        Schema.load(tmp_path / "none.toml")
    (tmp_path / "latin.toml").write_bytes("[[column]]\nname='Größe'".encode("latin-1"))
    with pytest.raises(SchemaError, match="not UTF-8"):
        Schema.load(tmp_path / "latin.toml")
    with pytest.raises(WriteError):
        full.save(tmp_path)


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("[[column", "not valid TOML"),
        ("[[colum]]\nname = 'a'", "no table 'colum'; did you mean 'column'"),
        ("[[column]]\nname = 'a'", "needs the parameter 'kind'"),
        ("[[column]]\nname = 'a'\nkind = 'numbers'", "'kind'"),
        ("[[column]]\nname = 'a'\nkind = 'text'\nroles = ['kee']", "roles"),
        ("[[column]]\nname = 'a'\nkind = 'text'\nrols = []", "did you mean 'roles'"),
        ("[[column]]\nname = 'a'\nkind = 'text'\nroles = ['weight', 'key']", "at once"),
        ("[[column]]\nname = 'a'\nkind = 'text'\nlinked_to = 'b'", "no column 'b'"),
        ("[[column]]\nname='a'\nkind='text'\n[[column]]\nname='a'\nkind='text'", "twice: a"),
        ("[[constraint]]\nrule = 'nonnegative'\ncolumn = 'a'", "no column 'a'"),
        ("[[constraint]]\nrule = 'positive'\ncolumn = 'a'", "positive"),
        ("[[column]]\nname='a'\nkind='text'\nhierarchy={form='tree', paths=[]}", "one leaf"),
        ("[[column]]\nname='a'\nkind='text'\nhierarchy={form='shrub'}", "shrub"),
        ("column = 3", "column"),
        ("column = [3]", "column"),
        ("constraint = 3", "constraint"),
    ],
)
def test_bad_toml_gives_one_line_that_helps(text, message):
    with pytest.raises(SchemaError, match=message) as caught:
        Schema.from_toml(text)
    assert "\n" not in str(caught.value).strip() or "not valid TOML" in str(caught.value)


def test_an_empty_file_is_an_empty_schema():
    assert Schema.from_toml("").columns == []


NAMES = st.text(st.characters(exclude_categories=["Cs"]), max_size=12)
LABELS = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)
TREES = st.lists(LABELS, min_size=1, max_size=4, unique=True).map(
    lambda leaves: Tree(paths=[(leaf, "group", "*") for leaf in leaves])
)
INTERVALS = st.tuples(st.floats(1e-3, 1e6), st.integers(2, 9), st.floats(-1e6, 1e6)).map(
    lambda t: Intervals(widths=(t[0], t[0] * t[1]), origin=t[2])
)
PREFIXES = st.integers(1, 12).map(lambda n: Prefixes(length=n))


@st.composite
def schemas(draw):
    names = draw(st.lists(NAMES, min_size=1, max_size=5, unique=True))
    free = [Role.KEY, Role.CONFIDENTIAL, Role.NON_CONFIDENTIAL, Role.STRATUM]
    variables = []
    for name in names:
        alone = st.just(frozenset({Role.IDENTIFIER}))
        roles = draw(st.one_of(st.frozensets(st.sampled_from(free)), alone))
        target = draw(st.one_of(st.none(), st.sampled_from(names)))
        variables.append(
            Variable(
                name=name,
                kind=draw(st.sampled_from(Kind)),
                roles=roles,
                categories=draw(st.one_of(st.none(), st.lists(LABELS, max_size=3).map(tuple))),
                hierarchy=draw(st.one_of(st.none(), TREES, INTERVALS, PREFIXES)),
                linked_to=None if target == name else target,
            )
        )
    name = st.sampled_from(names)
    value = st.one_of(st.booleans(), st.integers(-(2**62), 2**62), LABELS,
                      st.floats(allow_nan=False, allow_infinity=False))  # fmt: skip
    rule = st.one_of(
        st.builds(NonNegative, column=name),
        st.builds(AtLeast, larger=name, smaller=name),
        st.builds(ZeroWhen, column=name, indicator=name, equals=value),
    )
    return Schema(variables=tuple(variables), constraints=tuple(draw(st.lists(rule, max_size=3))))


@given(schemas())
@settings(max_examples=100, deadline=None)
def test_every_schema_survives_toml(given_schema):
    assert Schema.from_toml(given_schema.to_toml()) == given_schema
