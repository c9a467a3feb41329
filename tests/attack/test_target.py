"""What can be attacked, and what cannot."""

import polars as pl
import pytest

import tacit
from tacit import mask, query, tables
from tacit.attack.target import MicrodataTarget, QueryTarget, TableTarget, target_of
from tacit.core.errors import DataError, ParameterError


@pytest.fixture(scope="module")
def data():
    return tacit.datasets.census(200)


def test_every_kind_is_recognised(data):
    release = tacit.Plan([mask.Mdav(columns=["age"], k=3)]).apply(data, seed=1)
    table = tacit.tabulate(data, "sex", weights=None)
    bare = tables.ProtectedTable(table, table.sensitive(), table.value)
    assert isinstance(target_of(release), MicrodataTarget)
    assert target_of(release).steps == release.plan.methods
    assert isinstance(target_of((data, data)), MicrodataTarget)
    assert len(target_of([release, release]).others) == 1
    assert isinstance(target_of(bare), TableTarget)
    assert len(target_of([bare, bare]).tables) == 2
    assert isinstance(target_of((data, query.Policy(name="open"))), QueryTarget)


@pytest.mark.parametrize("wrong", [3, None, [], [1, 2, 3]])
def test_anything_else_is_refused(wrong):
    with pytest.raises(ParameterError, match="cannot be attacked"):
        target_of(wrong)


def test_releases_of_other_data_are_refused(data):
    one = tacit.Plan([]).apply(data, seed=1)
    two = tacit.Plan([]).apply(tacit.datasets.census(100), seed=1)
    with pytest.raises(DataError, match="different data"):
        target_of([one, two])


def test_labels_are_those_of_the_server():
    frame = pl.DataFrame({"a": ["x", "y", None] * 40, "n": [1.0, 5.0, None] * 40})
    target = QueryTarget(tacit.Microdata.of(frame), query.Policy(name="open"))
    assert list(target.labels("a")[:3]) == ["x", "y", "missing"]
    answer = target.open().ask({"method": "crosstab", "by": ["n"]})
    assert {str(v) for v in target.labels("n")} <= {str(v) for v in answer.columns["n"]}
