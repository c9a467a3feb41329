"""Every method is declared once and completely, and is plain data."""

import inspect
import json
import re
from pathlib import Path

import pytest

import tacit
from tacit.core.errors import ParameterError

REPOSITORY = Path(__file__).resolve().parents[2]


def named(method):
    return f"{method.family}:{method.key}"


every_method = pytest.mark.parametrize("method", tacit.methods(), ids=named)
every_mask = pytest.mark.parametrize("method", tacit.methods("mask"), ids=named)


def bibliography():
    path = REPOSITORY / "docs" / "references.bib"
    return set(re.findall(r"^@\w+\{([^,\s]+),", path.read_text(encoding="utf-8"), re.MULTILINE))


@every_method
def test_has_a_title_and_a_key(method):
    assert method.title
    assert re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", method.key)
    assert method.__name__.isidentifier()


@every_method
def test_is_documented(method):
    text = inspect.getdoc(method) or ""
    assert method.summary().endswith(".")
    if method.family != "format":
        assert re.search(r"^Examples\n-+\n", text, re.MULTILINE), "needs a section Examples"
        assert ">>>" in text


@every_method
def test_says_what_it_does_with_missing_values_weights_and_households(method):
    text = (inspect.getdoc(method) or "").lower()
    words = ["missing"] if method.family == "format" else ["missing", "weight", "household"]
    for word in words:
        assert word in text, f"the docstring must speak of: {word}"


@pytest.mark.parametrize("method", tacit.methods("protection"), ids=named)
def test_protections_say_when_not_to_use_them(method):
    assert "when not to use it" in " ".join((inspect.getdoc(method) or "").lower().split())


@pytest.mark.parametrize("method", tacit.methods("rule"), ids=named)
def test_rules_are_written_and_read_as_text(method):
    rule = method(**method.example)
    assert tacit.tables.rule(rule.short()) == rule


@pytest.mark.parametrize("method", tacit.methods("protection"), ids=named)
def test_protections_survive_a_plan_for_tables(method):
    plan = tacit.tables.TablePlan(by=[["region"]], method=method(**method.example), rule="freq(3)")
    assert tacit.tables.TablePlan.from_toml(plan.to_toml()) == plan


@every_method
def test_explains_every_parameter(method):
    for name, field in method.model_fields.items():
        assert field.description, f"write a text under the field {name!r}"
        assert field.description.rstrip().endswith((".", ":")), name


@every_method
def test_cites_sources_that_exist(method):
    unknown = set(method.cites) - bibliography()
    assert not unknown, f"not in docs/references.bib: {', '.join(sorted(unknown))}"
    if method.family in ("mask", "risk", "utility"):
        assert method.cites, "say where the method comes from"


@every_method
def test_has_a_test_file(method):
    place = Path(inspect.getfile(method)).relative_to(REPOSITORY / "src" / "tacit")
    assert (REPOSITORY / "tests" / place.parent / f"test_{place.name}").is_file()


@every_method
def test_example_is_complete(method):
    assert isinstance(method(**method.example), method)


@every_mask
def test_search_space_holds_valid_values(method):
    for name, values in method.search_space().items():
        for value in values:
            others = {k: v for k, v in method.example.items() if k != name}
            tried = [dict(method.example) | {name: value}, others | {name: value}, {name: value}]
            assert any(_is_valid(method, parameters) for parameters in tried), (name, value)


def _is_valid(method, parameters):
    """Tell whether nothing is wrong with these values; a missing companion is not their fault."""
    try:
        method(**parameters)
    except ParameterError as error:
        return "needs" in str(error)
    return True


# -- plain data -----------------------------------------------------------------------------------


@every_method
def test_survives_json_and_toml(method):
    step = method(**method.example)
    assert method(**json.loads(json.dumps(step.as_dict(), allow_nan=False))) == step
    assert method.model_validate_json(step.model_dump_json()) == step
    if method.family == "mask":
        plan = tacit.Plan([step, step])
        assert tacit.Plan.from_toml(plan.to_toml()) == plan


@every_method
def test_json_schema_can_be_drawn_as_a_form(method):
    schema = method.model_json_schema()
    assert set(schema.get("properties", {})) == set(method.model_fields)
    json.dumps(schema, allow_nan=False)


@every_method
def test_is_frozen(method):
    step = method(**method.example)
    for name in method.model_fields:
        with pytest.raises(Exception, match="frozen"):
            setattr(step, name, getattr(step, name))


@every_method
def test_unknown_parameter_is_named(method):
    with pytest.raises(ParameterError, match="'surely_not_a_parameter'"):
        method(**method.example, surely_not_a_parameter=1)


@every_method
def test_misspelt_parameter_suggests_the_right_one(method):
    for name in method.model_fields:
        typo = f"{name}x"
        with pytest.raises(ParameterError, match=f"{typo!r}; did you mean") as caught:
            method(**method.example, **{typo: 1})
        assert "did you mean" in str(caught.value)


@every_method
def test_wrong_type_is_named(method):
    for name in method.model_fields:
        with pytest.raises(ParameterError, match=re.escape(f"'{name}")):
            method(**dict(method.example) | {name: object()})


@every_mask
def test_public_note_keeps_parameters_inside(method, census):
    step = method(**method.example)
    note = step.public_note()
    assert note
    assert "\n" not in note
    assert not re.search(r"\d", note.replace(method.title, ""))
    assert not [c for c in census().columns if re.search(rf"\b{c}\b", note)]
    assert step.describe().startswith(method.title)
