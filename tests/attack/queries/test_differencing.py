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
        cells = sorted(table["ill"].unique().to_list())
        counts = {
            key: np.bincount(np.searchsorted(cells, part["ill"].to_numpy()), minlength=len(cells))
            for key, part in table.group_by("group", "flag")
        }
        groups = sorted(table["group"].unique().to_list())

        class Server:
            def describe(self):
                said = {"group": groups, "flag": ["no", "yes"], "ill": cells}
                return {"variables": [{"name": n, "categories": c} for n, c in said.items()]}

            def ask(self, request):
                inside = np.zeros(len(cells), dtype=np.int64)
                for part in request["universe"]:
                    flags = ("no",) if "flag" in part else ("no", "yes")
                    inside = inside + sum(counts[part["group"], flag] for flag in flags)
                left = inside - rng.multivariate_hypergeometric(inside, rng.integers(2, k + 1))
                columns = {"ill": cells, "count": left.tolist()}
                return SimpleNamespace(is_refusal=False, columns=columns)

        return Server()


def published(cells, *, k, n_groups=50, size=60):
    """Return groups of equally many people in each cell but for chance, one of them apart."""
    n = size * n_groups
    frame = pl.DataFrame(
        {
            "group": [f"g{g:03}" for g in np.arange(n) % n_groups],
            "flag": np.where(np.arange(n) < n_groups, "yes", "no"),
            "ill": np.random.default_rng(9).choice(cells, n),
        }
    )
    data = tacit.Microdata.of(frame).with_roles(keys=["group", "flag"], confidential=["ill"])
    return Published(data, Policy(name="published", guards=(DropQ(k=k),)), options={"k": k})


def rates(target, differencing, rounds):
    """Return whether each name is right, with new random drops in each round."""
    people, server = victims(target, attack.Knowledge(), "ill", 50), target.open()
    assert len(people) == 50
    return np.array([
        differencing.named(Asker(server), one, "ill", target) == one.truth
        for _ in range(rounds)
        for one in people
    ])  # fmt: skip


@pytest.mark.parametrize(("k", "printed"), [(3, 0.043), (5, 0.015)])
def test_formula_5_is_the_rate_of_the_attack_with_the_criterion_of_the_paper(k, printed):
    """Eq. (5) of lucero2011 for four equal cells: 0.043 and 0.015 (attacks.md, 2.3)."""
    paper = attack.QueryDifferencing(variants=1, criterion="paper")
    right = rates(published(KINDS, k=k), paper, 72)
    expected = query.drop_q_disclosure([0.25] * 4, k=k)
    assert expected == pytest.approx(printed, abs=0.0006)
    # Three standard errors of a share of 3 600.
    assert np.mean(right) == pytest.approx(expected, abs=3 * np.sqrt(expected / len(right)))


@pytest.mark.parametrize(("pairs", "printed"), [(1, 0.32), (3, 0.82), (5, 0.95), (10, 0.999)])
def test_reseeding_succeeds_at_the_rates_of_the_likelihood_attacker(pairs, printed):
    """attacks.md, 2.3: 20 equal cells, k = 5, and 1, 3, 5 or 10 pairs of universes."""
    target = published([f"c{c:02}" for c in range(20)], k=5, size=200)
    found = attack.Rate.of(rates(target, attack.QueryDifferencing(variants=pairs), 8))
    assert found.low <= printed <= found.high
    if pairs == 3:  # who does not know k adds the differences up, and loses some
        summed = rates(target, attack.QueryDifferencing(variants=3, criterion="sum"), 8)
        assert 0.7 < summed.mean() < found.value


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
