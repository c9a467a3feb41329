"""Sources decide which columns may be asked about, and how."""

import pytest

from tacit.core.errors import TacitError
from tacit.query.answer import Refused
from tacit.query.source import Registered, Source, Variable
from tacit.query.universe import Condition, Universe


def used(source):
    return source.microdata, source.categorical, source.numeric


def test_columns_by_their_part(people):
    source = Source(people, unit="id", weight="w")
    assert source.categorical == ("sex", "region", "ill")
    assert source.numeric == ("age", "income")
    assert Source(people, categories=["age"], numbers=["income"]).categorical == ("age",)
    for parts in ({"categories": "sex"}, {"categories": ["id"], "unit": "id"}, {"numbers": ["sex"]},
                  {"bins": {"none": [1]}}):  # fmt: skip
        with pytest.raises(TacitError):
            used(Source(people, **parts))


def test_conditions_become_codes():
    region = Variable("region", ("N", "S", "W"), nodes={"land": (0, 1)})
    age = Variable("age", ("below 18", "18 to below 65", "65 and above"), (18.0, 65.0), True)
    schema = Registered({"region": region, "age": age}, ("age",), False, "v")
    universe = Universe.where(region=["land", "W"], age=(None, 65))
    assert schema.pieces(universe) == [{"age": (0, 1), "region": (0, 1, 2)}]
    assert schema.pieces(Universe()) == [{}]
    for bad in (
        {"region": "X"},
        {"region": (1, 2)},
        {"age": (17, None)},
        {"age": "17"},
        {"x": "y"},
    ):
        with pytest.raises(Refused):
            schema.pieces(Universe.of([{k: Condition.of(k, v).plain() for k, v in bad.items()}]))
    assert age.codes(Condition.of("age", "below 18")) == (0,)
