"""Steps in words."""

import polars as pl

import tacit
from tacit.core.data import Microdata
from tacit.core.families import Mask
from tacit.report._steps import step_cards


class Shift(Mask):
    """Add a number to ``nothing``."""

    by: float = 1.0
    """How much."""
    on: tuple[str, ...] = ("a", "b")
    """Where."""
    names: dict[str, str] | None = None
    """Which."""
    loud: bool = False
    """Whether."""
    never: str | None = None
    """Not given."""

    def apply(self, data, rng):
        return data


def test_identifiers_come_first_and_parameters_are_explained():
    data = Microdata.of(pl.DataFrame({"id": ["a", "b"], "x": [1, 2]})).with_roles(
        identifiers=["id"]
    )
    release = tacit.Plan([Shift(by=2.0, names={"a": "b"}), tacit.mask.Sample(fraction=0.5)]).apply(
        data, seed=1
    )
    first, second, third = step_cards(release)
    assert (first.title, first.text, first.parameters) == ("Direct identifiers removed", "id", ())
    assert second.text == "Add a number to nothing."
    assert [(p.name, p.value, p.help) for p in second.parameters] == [
        ("by", "2", "How much."),
        ("on", "a, b", "Where."),
        ("names", "a → b", "Which."),
        ("loud", "no", "Whether."),
    ]
    assert third.n_records == 1


def test_a_method_that_describes_itself_is_quoted():
    data = Microdata.of(pl.DataFrame({"x": [1.0, 2.0, 3.0]}))
    release = tacit.Plan([tacit.mask.Mdav(columns=["x"], k=3)]).apply(data, seed=1)
    (card,) = step_cards(release)
    assert card.title == "Microaggregation (MDAV)"
    assert card.text.startswith("The values of x were replaced")
    assert card.text.endswith(".")
