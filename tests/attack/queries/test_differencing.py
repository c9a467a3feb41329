"""Differencing: re-seeding beats Drop-q, whose own formula says otherwise; not the default."""

from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import attack, query
from tacit.attack.queries._asking import Asker, victims
from tacit.query import DropQ, Policy


def test_open_server(behind, kinds):
    assert (
        attack.QueryDifferencing(variants=1).run(behind(Policy(name="open"), kinds)).success.value
        == 1.0
    )


KINDS = ["k1", "k2", "k3", "k4"]


class Published(attack.QueryTarget):
    """Drop-q as published and nothing else: 2 to k records are dropped, anew each time."""

    def open(self):
        rng, k, table = np.random.default_rng(3), self.options["k"], self.data.local
        kind = np.searchsorted(KINDS, table["ill"].to_numpy().astype(str))
        kept = (table["flag"] == "no").to_numpy()
        groups = np.unique(table["group"].to_numpy().astype(str))
        members = dict(zip(groups, np.arange(len(table)).reshape(-1, len(groups)).T, strict=True))

        class Server:
            def describe(self):
                said = {"group": list(groups), "flag": ["no", "yes"], "ill": KINDS}
                return {"variables": [{"name": n, "categories": c} for n, c in said.items()]}

            def ask(self, request):
                (universe,) = request["universe"]
                inside = members[universe["group"]]
                inside = inside[kept[inside]] if "flag" in universe else inside
                left = rng.permutation(inside)[rng.integers(2, k + 1) :]
                counts = np.bincount(kind[left], minlength=4).tolist()
                return SimpleNamespace(is_refusal=False, columns={"ill": KINDS, "count": counts})

        return Server()


@pytest.mark.parametrize(("k", "printed"), [(3, 0.043), (5, 0.015)])
def test_formula_5_is_the_rate_of_the_attack_with_the_criterion_of_the_paper(k, printed):
    """Eq. (5) of lucero2011 for four equal cells: 0.043 and 0.015 (attacks.md, 2.3)."""
    n_groups, rounds = 50, 72
    n = 60 * n_groups
    frame = pl.DataFrame(
        {
            "group": [f"g{g:03}" for g in np.arange(n) % n_groups],
            "flag": np.where(np.arange(n) < n_groups, "yes", "no"),
            "ill": np.random.default_rng(9).choice(KINDS, n),
        }
    )
    data = tacit.Microdata.of(frame).with_roles(keys=["group", "flag"], confidential=["ill"])
    target = Published(data, Policy(name="published"), options={"k": k})
    people = victims(target, attack.Knowledge(), "ill", n_groups)
    assert len(people) == n_groups
    paper, server = attack.QueryDifferencing(variants=1, criterion="paper"), target.open()
    right = [
        paper.named(Asker(server), one, "ill", target) == one.truth
        for _ in range(rounds)
        for one in people
    ]
    expected = query.drop_q_disclosure([0.25] * 4, k=k)
    assert expected == pytest.approx(printed, abs=0.0006)
    # Three standard errors of a share of 3 600.
    assert np.mean(right) == pytest.approx(expected, abs=3 * np.sqrt(expected / len(right)))


def test_formula_5_is_what_its_own_criterion_gives():
    """The paper's criterion, one 1 and zeros, simulated against Eq. (5): 0.01521 for k = 5."""
    rng = np.random.default_rng(1)
    runs = 20_000
    drops = [rng.multinomial(rng.integers(2, 6, runs), [0.25] * 4) for _ in range(2)]
    change = drops[1] - drops[0]
    change[:, 0] += 1
    right = (change == np.array([1, 0, 0, 0])).all(axis=1)
    assert right.mean() == pytest.approx(query.drop_q_disclosure([0.25] * 4, k=5), abs=0.003)


def test_reseeding_beats_drop_q(behind, town):
    """Eight kinds, so that sixteen people suffice: 20 cells give 0.95 for 5 pairs, 4 give less."""
    rng = np.random.default_rng(9)
    kinds = town.with_columns(ill=pl.Series(rng.choice([f"k{k}" for k in range(8)], len(town))))
    drop = Policy(name="drop", guards=(DropQ(k=5),))
    found = attack.QueryDifferencing(variants=6, most=16).run(behind(drop, kinds))
    assert found.success.value > 0.6
    assert found.leaked


def test_default_policy(behind, strict, kinds):
    assert not attack.QueryDifferencing(most=30).run(behind(strict, kinds)).leaked
