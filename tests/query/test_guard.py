"""Guards pass, amend or refuse; their words can be told."""

import importlib.util
from pathlib import Path

from tacit import methods
from tacit.query.guard import STAGES, Context, Guard


def test_every_guard_has_a_stage_and_words():
    found = methods("guard")
    assert len(found) >= 20
    for guard in found:
        assert guard.stage in STAGES
        assert guard.title
        assert guard.summary()


def test_contexts_are_amended_not_changed():
    context = Context(schema=None, selection=None, sticky=None, state=None)
    after = context.amended("a note", user="x").and_then(lambda: None)
    assert (context.notes, context.user, context.remember) == ((), "", ())
    assert after.notes == ("a note",)
    assert len(after.remember) == 1
    assert context.cells is None
    assert context.moments is None


def test_a_refusal_bears_the_key_of_its_guard():
    class Some(Guard):
        def check(self, request, context):
            raise self.refuse("no", "less")

    Some.key = "some"
    assert Some().refuse("no").rule == "some"


def test_the_page_for_custodians_is_made_from_the_guards():
    """What each guard stops and costs is said once, beside its code."""
    place = Path(__file__).parents[2] / "docs" / "guard_table.py"
    spec = importlib.util.spec_from_file_location("guard_table", place)
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    text = made.PAGE.read_text(encoding="utf-8")
    assert made.page(text) == text, "run python docs/guard_table.py"
    for guard in methods("guard"):
        assert guard.stops, guard.key
        assert guard.misses, guard.key
        assert guard.costs, guard.key
