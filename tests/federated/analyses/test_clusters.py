"""k-means: equal to the pooled one from the same first centres."""

import numpy as np
import polars as pl
import pytest
from sklearn.cluster import KMeans

from tacit.core.errors import ParameterError
from tacit.federated import Coordinator, Policy, StoppedError, simulate
from tacit.federated.analysis import analysis_from
from tacit.federated.simulator import InProcess, agencies


@pytest.fixture(scope="module")
def groups():
    rng = np.random.default_rng(1)
    centres = np.array([[0, 0], [8, 0], [0, 8]])
    return [
        pl.DataFrame(centres[rng.integers(0, 3, 90)] + rng.normal(size=(90, 2)), schema=["a", "b"])
        for _ in range(3)
    ]


FIRST = [[1.0, 1.0], [5.0, 1.0], [1.0, 5.0]]


def test_the_result_is_that_of_scikit_learn(groups):
    """Where single records may move."""
    first = FIRST
    given = {"variables": ["a", "b"], "k": 3, "centres": first, "min_moving": 1}
    answer = simulate(groups, "clusters", policy=Policy(min_cell=1), **given)
    pooled = pl.concat(groups).to_numpy()
    fit = KMeans(3, init=np.array(first), n_init=1, tol=0).fit(pooled)
    assert np.allclose(answer["centres"], fit.cluster_centers_, rtol=1e-10)
    assert answer["counts"] == np.bincount(fit.labels_).tolist()
    assert answer["sum_of_squares"] == pytest.approx(fit.inertia_, rel=1e-10)
    assert answer["converged"]


def lloyd_together(values, centres, fewest):
    """Move centres; records change groups only if as many as `fewest` make the same move."""
    k, group = len(centres), None
    while True:
        nearest = ((values[:, None] - centres) ** 2).sum(axis=2).argmin(axis=1)
        if group is None:
            group = nearest
        else:
            moves = [group == a for a in range(k)], [nearest == b for b in range(k)]
            flows = {(a, b): moves[0][a] & moves[1][b] for a in range(k) for b in range(k)}
            chosen = [(b, who) for (a, b), who in flows.items() if a != b and who.sum() >= fewest]
            if not chosen:
                return centres, np.bincount(group), ((values - centres[group]) ** 2).sum()
            group = group.copy()
            for b, who in chosen:
                group[who] = b
        centres = np.stack([values[group == a].mean(axis=0) for a in range(k)])


@pytest.fixture(scope="module")
def overlapping():
    rng = np.random.default_rng(5)
    return [pl.DataFrame(rng.normal(size=(60, 2)), schema=["a", "b"]) for _ in range(3)]


@pytest.mark.parametrize("fewest", [3, 6])
def test_the_result_is_that_of_the_same_rule_on_the_pooled_records(overlapping, fewest):
    given = {"variables": ["a", "b"], "k": 4, "centres": [[1, 1], [-1, 1], [1, -1], [-1, -1]]}
    answer = simulate(overlapping, "clusters", **given, min_moving=fewest)
    pooled = pl.concat(overlapping).to_numpy()
    centres, counts, squares = lloyd_together(pooled, np.array(given["centres"]), fewest)
    assert np.allclose(answer["centres"], centres, rtol=1e-10)
    assert answer["counts"] == counts.tolist()
    assert answer["sum_of_squares"] == pytest.approx(squares, rel=1e-10)


def watched_counts(monkeypatch, kind):
    """Return a list that fills with what agencies see: the pooled counts of every step."""
    seen, absorb = [], kind.absorb

    def watching(analysis, total, state, policy):
        if state and not state["moving"]:
            seen.append(np.rint(total[: analysis.k]))
        return absorb(analysis, total, state, policy)

    monkeypatch.setattr(kind, "absorb", watching)
    return seen


@pytest.mark.parametrize(("fewest", "single"), [(1, True), (4, False)])
def test_attack_no_two_steps_differ_by_a_single_record(overlapping, monkeypatch, fewest, single):
    """An agency subtracts the totals of a step from those of the next."""
    given = {"variables": ["a", "b"], "k": 2, "centres": [[3.0, 1.0], [-1.0, 0.0]]}
    wanted = analysis_from({"analysis": "clusters", **given, "min_moving": fewest})
    members = agencies(overlapping, Policy(min_cell=fewest))
    seen = watched_counts(monkeypatch, type(wanted))
    Coordinator({a.name: InProcess(a) for a in members}, workers=1).run(wanted)
    steps = np.array(seen)[:: len(members)]
    changes = np.abs(np.diff(steps, axis=0)).ravel()
    assert len(steps) > 3
    assert bool(((changes > 0) & (changes < 3)).any()) is single


def test_single_moves_are_refused_by_the_usual_policy(groups):
    with pytest.raises(StoppedError, match="could move between groups"):
        simulate(groups, "clusters", variables=["a", "b"], k=3, centres=FIRST, min_moving=2)


def test_attack_steps_on_the_way_are_not_released(overlapping):
    """The totals of two steps differ by the records that moved."""
    given = {"variables": ["a", "b"], "k": 2, "centres": [[3.0, 1.0], [-1.0, 0.0]]}
    with pytest.raises(StoppedError, match="still change"):
        simulate(overlapping, "clusters", **given, max_iterations=1)
    assert simulate(overlapping, "clusters", **given, max_iterations=50)["converged"]


def test_drawn_centres_are_the_same_for_the_same_seed(groups):
    one, other = (simulate(groups, "clusters", variables=["a", "b"], k=2, seed=4) for _ in "ab")
    assert one["centres"] == other["centres"]


def test_a_group_of_one_record_is_refused(groups):
    lonely = [groups[0].with_columns(a=pl.when(pl.int_range(90) == 0).then(1e6).otherwise("a"))]
    first = [[0.0, 0.0], [1e6, 0.0]]
    given = {"variables": ["a", "b"], "k": 2, "centres": first}
    lax = {"agency-1": Policy(min_cell=1)}
    with pytest.raises(StoppedError, match="a pooled group has a cell"):
        simulate([*lonely, *groups[1:]], "clusters", **given, policy=lax)
    # Two partners with one record each there could find it by subtracting their own.
    far = [g.with_columns(a=pl.when(pl.int_range(pl.len()) == 0).then(1e6).otherwise("a"))
           for g in groups]  # fmt: skip
    with pytest.raises(StoppedError, match="a group of this agency has a cell"):
        simulate(far, "clusters", **given)


@pytest.mark.parametrize("given_", [{"k": 2, "centres": [[1.0, 1.0]]}, {"variables": []}], ids=str)
def test_bad_requests_are_refused(groups, given_):
    with pytest.raises(ParameterError):
        simulate(groups, "clusters", **{"variables": ["a", "b"], **given_})


def test_more_groups_than_records_are_refused(groups):
    with pytest.raises(StoppedError, match="no more records than groups"):
        simulate(groups, "clusters", variables=["a"], k=90)
