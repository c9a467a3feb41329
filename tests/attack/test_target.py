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


def test_all_data_sets_of_a_release_are_attacked(data):
    step = mask.PartiallySynthetic(columns=["marital"], m=3)
    one, two = (tacit.Plan([step]).apply(data, seed=seed) for seed in (1, 2))
    assert [len(part) for part in (target_of(one).data_sets, target_of(one).others)] == [3, 0]
    both = target_of([one, two])
    assert [len(part) for part in (both.data_sets, both.others)] == [3, 3]


def test_averages_of_data_sets_by_hand():
    """Means of what is known, the category of most sets, and the first one in a tie."""
    frames = [
        {"n": [1.0, 2.0, None], "c": ["a", "b", None], "same": [1, 2, 3]},
        {"n": [3.0, None, None], "c": ["b", "c", "z"], "same": [1, 2, 3]},
        {"n": [5.0, 6.0, None], "c": ["b", "d", None], "same": [1, 2, 3]},
    ]
    sets = [tacit.Microdata.of(pl.DataFrame(f)).numbered() for f in frames]
    target = MicrodataTarget(sets[0], sets[0], copies=tuple(sets[1:]))
    (view,) = target.views
    assert view.local["n"].to_list() == [3.0, 4.0, None]
    assert view.local["c"].to_list() == ["b", "b", None]
    assert view.local["same"].to_list() == [1, 2, 3]
    assert sets[0].local["n"].to_list() == [1.0, 2.0, None]


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
