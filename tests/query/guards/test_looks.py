"""New ways to divide a small group are withheld once its size is known well enough."""

import dataclasses
from itertools import combinations, product

import numpy as np
import polars as pl
import pytest

from tacit import query
from tacit.query import CellKeyNoise, LimitedLooks, NearCells

SECRET = "a long and secret phrase"  # noqa: S105
NOISE = CellKeyNoise(max_change=24, variance=16.0)
STRICT = next(g for g in query.Policy.of("strict").guards if g.key == "looks")
SIZES = {"a": 2, "b": 2, "c": 3, "d": 2, "e": 4}


def made(n=1200, seed=3, sizes=SIZES):
    rng = np.random.default_rng(seed)
    columns = {v: rng.choice([f"{v}{i}" for i in range(k)], n) for v, k in sizes.items()}
    return pl.DataFrame(
        {"id": np.arange(n), **columns, "y": rng.lognormal(3, 0.3, n), "w": rng.uniform(1, 3, n)}
    )


def served(frame, most=2.25, largest=1000, folder=None, **parts):
    guards = (NearCells(), NOISE, LimitedLooks(most=most, largest=largest))
    source = query.Source(
        frame, **{"unit": "id", "weight": "w", "categories": list(SIZES), "numbers": ["y"]} | parts
    )
    policy = query.Policy(name="looks", guards=guards)
    return query.Server(source, policy, secret=SECRET, folder=folder)


def table(*by, where=None, margins=False, **more):
    request = {"method": "crosstab", "by": list(by), "margins": margins, **more}
    return request | ({"universe": where} if where else {})


def shown(answer, column="count"):
    return [] if answer.is_refusal else [c for c in answer.columns[column] if c is not None]


def test_a_third_way_to_halve_a_small_group_is_withheld():
    server, group = served(made()), {"e": "e1"}
    for name in "ab":  # one look at the group and twice two halves: 1 + 1/2 + 1/2
        assert len(shown(server.ask(table(name, where=group, margins=True)))) == 3
    third = server.ask(table("d", where=group, margins=True))
    assert len(shown(third)) == 1  # the group itself, which was shown before
    assert any("enough is known" in note for note in third.notes)
    assert len(shown(server.ask(table("c", where=group)))) == 0


def test_a_table_with_nothing_left_is_refused():
    server = served(made())
    for name in "ab":
        server.ask(table(name, where={"e": "e1"}, margins=True))
    refused = server.ask(table("d", where={"e": "e1"}))
    assert refused.rule == "looks"


def test_what_was_shown_stays():
    server = served(made())
    requests = [table(*by, margins=m) for by in combinations("abcde", 2) for m in (False, True)]
    first = [server.ask(r) for r in requests]
    for before, request in zip(first, requests, strict=True):
        again = server.ask(request)
        if not before.is_refusal:
            assert again.columns == before.columns
    assert any(None in a.columns["count"] for a in first if not a.is_refusal)


def test_large_groups_are_free():
    server = served(made(), largest=100)
    for by in combinations("abc", 2):
        assert None not in server.ask(table(*by, margins=True)).columns["count"]
    every = served(made(), largest=0)
    first = [shown(every.ask(table(*by, margins=True))) for by in combinations("abc", 2)]
    assert [len(cells) for cells in first] != [9, 12, 12]
    assert all(first)


def test_without_noise_there_is_nothing_to_average(serve, people):
    server = serve(people, LimitedLooks())
    for name in ("sex", "region", "ill", "age"):
        assert None not in server.ask({"method": "crosstab", "by": [name]}).columns["count"]


def test_margins_count_where_they_are_released():
    plain, full = served(made()), served(made())
    for name in "abd":
        answers = [s.ask(table(name, "e", margins=m)) for s, m in ((plain, False), (full, True))]
    assert None not in answers[0].columns["count"]  # three times two halves: 1.5
    assert None in answers[1].columns["count"]


def test_slices_that_make_up_a_group_add_up():
    """The halves of a group asked for one by one are as good as a table of them."""
    server = served(made())
    server.ask(table("e"))
    for name in "ab":
        for half in "01":
            answer = server.ask(table("e", where={name: f"{name}{half}"}))
            assert None not in answer.columns["count"]
    last = [server.ask(table("e", where={"d": half})) for half in ("d0", "d1")]
    assert all(len(shown(answer)) < 4 for answer in last)


def test_other_words_for_the_same_units_do_not_help():
    frame = made().with_columns(top=pl.col("e").replace_strict({"e0": "t", "e1": "u"}, default="v"))
    server = served(frame, categories=[*SIZES, "top"])
    server.ask(table("a", where={"e": "e1"}, margins=True))
    server.ask(table("b", where={"top": "u"}, margins=True))
    third = server.ask(table("d", where={"e": "e1", "top": "u"}, margins=True))
    assert len(shown(third)) == 1


def test_totals_have_looks_of_their_own():
    server = served(made())
    for name in "ab":
        server.ask(table(name, where={"e": "e1"}, margins=True))
    answers = [
        server.ask(table(name, where={"e": "e1"}, margins=True, totals=["y"], weighted=True))
        for name in "abd"
    ]
    assert len(shown(answers[0], "total y")) == 3
    assert len(shown(answers[2], "total y")) == 1
    # Noise on totals is that of the largest unit, so that two halves tell a little more.
    assert server._state.kept["looks"].told["y"].counted


def test_several_records_of_a_unit_are_scanned():
    frame = pl.concat([made(), made(300, seed=4)])
    server = served(frame)
    assert len(shown(server.ask(table("a", where={"e": "e1"}, margins=True)))) == 3
    for name in "bd":
        last = server.ask(table(name, where={"e": "e1"}, margins=True))
    assert len(shown(last)) == 1


def test_a_server_that_starts_again_remembers(tmp_path):
    for name in "ab":
        with served(made(), folder=tmp_path) as server:
            server.ask(table(name, where={"e": "e1"}, margins=True))
    with served(made(), folder=tmp_path) as server:
        assert len(shown(server.ask(table("d", where={"e": "e1"}, margins=True)))) == 1


@pytest.mark.parametrize("analysis", ["histogram", "quantiles", "summary", "chi2", "survival"])
def test_every_analysis_of_tables_passes(analysis):
    given = {
        "histogram": {"number": "y"}, "quantiles": {"number": "y"}, "chi2": {"by": ["a", "b"]},
        "summary": {"numbers": ["y"], "by": ["a"]},
        "survival": {"time": "y", "status": "a", "event": "a1"},
    }  # fmt: skip
    server = served(made().with_columns(pl.when(pl.col("id") > 9).then(pl.col("y")).alias("y")))
    answer = server.ask({"method": analysis, **given[analysis]})
    assert not answer.is_refusal
    assert server._state.kept["looks"].told["count"].squares


# -- what withholding itself tells -----------------------------------------------------------------


def withheld_by_set(server, requests):
    """Return how many cells of each set are withheld in all answers together."""
    found = 0
    for request in requests:
        rows = server.ask(request).frame.filter(pl.col("set") != "total")
        found = found + rows.group_by("set").agg(
            pl.col("count").is_null().sum()
        ).sort("set")["count"].to_numpy()  # fmt: skip
    return found


def gained(requests, size, trials=3000):
    """Return what somebody who knows all but one unit of every set gains by what is withheld.

    Half of the sets have one unit more. They know how often each number of withheld cells comes
    with and without it, and guess the likelier for each set.
    """
    rng = np.random.default_rng(3)
    has_one_more = rng.random(trials) < 0.5
    sets = np.repeat(np.arange(trials), size + has_one_more)
    halves = {v: rng.choice([f"{v}0", f"{v}1"], len(sets)) for v in "abd"}
    frame = pl.DataFrame({"id": np.arange(len(sets)), "set": [f"s{s:04}" for s in sets], **halves})
    server = served(frame, STRICT.most, size, weight=None, categories=["set", *"abd"], numbers=[])
    seen = withheld_by_set(server, requests)
    most = seen.max() + 1
    share = [
        np.bincount(seen[has_one_more == more], minlength=most) / (has_one_more == more).sum()
        for more in (False, True)
    ]
    return float(np.abs(share[0] - share[1]).sum() / 4)


BY_TABLE = [table("set", v, margins=True) for v in "abd"]
BY_SLICE = [table("set"), *(table("set", where={v: f"{v}{h}"}) for v in "abd" for h in (0, 1))]


@pytest.mark.parametrize("size", [30, 60])
@pytest.mark.parametrize("requests", [BY_TABLE, BY_SLICE], ids=["tables", "slices"])
def test_d5_what_is_withheld_is_no_oracle(requests, size):
    """Sets lie at the size from which they are free: one unit decides whether they are limited."""
    assert gained(requests, size) <= 0.05 + 0.016


def test_d5_true_sizes_would_be_an_oracle(monkeypatch):
    noisy = LimitedLooks._telling

    def exact(guard, name, table):
        cells = dataclasses.replace(table.cells, change=np.zeros(len(table.cells), dtype=int))
        return noisy(guard, name, dataclasses.replace(table, cells=cells))

    monkeypatch.setattr(LimitedLooks, "_telling", exact)
    assert gained(BY_TABLE, 30) == 0.5


# -- against generalised least squares -------------------------------------------------------------


def precise(rows, groups):
    """Return how many looks at each group the cells are worth; 0 where they do not tell it."""
    x, sizes = np.array(rows, dtype=float), np.array(groups, dtype=float).T
    weights = np.linalg.lstsq(x @ x.T, x @ sizes, rcond=1e-9)[0]  # of all groups at once
    is_told = np.abs(x.T @ weights - sizes).max(axis=0) <= 1e-6
    return np.where(is_told, 1 / (weights**2).sum(axis=0), 0.0)


def at_random(rng):
    """Return a request with up to three dimensions and two conditions."""
    names = [str(v) for v in rng.permutation(list(SIZES))]
    n_by, n_where = rng.integers(1, 4), rng.integers(0, 3)
    where = {v: f"{v}{rng.integers(SIZES[v])}" for v in names[n_by : n_by + n_where]}
    return names[:n_by], where, bool(rng.random() < 0.5)


@pytest.mark.parametrize(
    "seed", [0, *(pytest.param(s, marks=pytest.mark.slow) for s in range(1, 13))]
)
def test_random_requests_leave_no_small_group_known_too_precisely(seed):
    """The exact precision of all groups of up to three conditions, after 50 requests.

    The formula of the guard leaves out what a margin of a margin tells, so that a few groups exceed
    the limit; that of `strict` leaves room for it below 2.25, where the gain is 0.05.
    """
    rng, frame = np.random.default_rng(seed), made(1500, seed)
    server = served(frame, most=STRICT.most)
    atoms = pl.DataFrame(
        list(product(*([f"{v}{i}" for i in range(k)] for v, k in SIZES.items()))),
        schema=list(SIZES), orient="row",
    )  # fmt: skip

    def members(cell, of=atoms):
        inside = np.ones(of.height, dtype=bool)
        for name, value in cell.items():
            inside &= (value == "total") | (of[name] == value).to_numpy()
        return inside

    rows = {}
    for _ in range(50):
        by, where, margins = at_random(rng)
        answer = server.ask(table(*by, where=where, margins=margins))
        for row in [] if answer.is_refusal else answer.frame.iter_rows(named=True):
            if row.pop("count") is not None:
                inside = members(row | where)
                rows[inside.tobytes()] = inside
    groups = []
    for size in (1, 2, 3):
        for names in combinations(SIZES, size):
            for cell in product(*([(v, f"{v}{i}") for i in range(SIZES[v])] for v in names)):
                if members(dict(cell), frame).sum() <= 900:
                    groups.append(members(dict(cell)))
    found = precise(list(rows.values()), groups)
    assert np.count_nonzero(found) > 20
    assert found.max() <= 2.25
