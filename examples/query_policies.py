"""Put the policies of a query server on a map: what an attacker gains, what honest users lose.

Made-up people in 120 groups; one of each group is known to stand out and is the target. Attackers
ask for tables with and without the target, in two ways; honest users ask for ordinary tables. With
a file name, the map is written there as a picture.
"""

import sys
from itertools import combinations
from typing import Any

import numpy as np
import polars as pl

from tacit import query, report, tradeoff

SECRET = "a phrase for demonstrations"  # noqa: S105
POLICIES = ("no rules", "mas", "blocks", "exact", "strict")


def people(n: int = 18_000, groups: int = 120) -> pl.DataFrame:
    """Make up people; the first of each group stands out."""
    rng = np.random.default_rng(1)
    group = np.arange(n) % groups
    return pl.DataFrame(
        {
            "region": [f"r{g // 10}" for g in group],
            "job": [f"j{g % 10}" for g in group],
            "stands out": np.where(np.arange(n) < groups, "yes", "no"),
            "ill": rng.choice(["no", "yes"], n),
            "sex": rng.choice(["f", "m"], n),
        }
    )


def ill(server: query.Server, universe: dict[str, str], **cell: str) -> int | None:
    """Return the released number of ill people, of one cell where one is named."""
    answer = server.ask({"method": "crosstab", "by": ["ill", *cell], "universe": universe})
    if answer.is_refusal:
        return None
    table = answer.frame.filter(pl.col("ill") == "yes", *(pl.col(n) == v for n, v in cell.items()))
    return table["count"].to_list()[0] if table.height else None


def gained(policy: query.Policy) -> float:
    """Return how much better than a coin the better of two trackers names the targets' state."""
    data, coin = people(), np.random.default_rng(2)
    right: dict[str, list[bool]] = {"universes": [], "cells": []}
    for way, found in right.items():
        server = query.Server(data, policy, secret=SECRET)
        for row in data.head(120).rows(named=True):
            known = {"region": row["region"], "job": row["job"]}
            cell = {} if way == "universes" else known
            universe = known if way == "universes" else {}
            whole = ill(server, universe, **cell)
            rest = ill(server, {**universe, "stands out": "no"}, **cell)
            guess = coin.random() < 0.5 if None in (whole, rest) else whole > rest
            found.append(guess == (row["ill"] == "yes"))
    return max(max(np.mean(found) - 0.5, 0.0) for found in right.values())


def kept(policy: query.Policy) -> float:
    """Return the share of ordinary tables that is left: 1 less the relative error of cells."""
    data = people()
    server, truth = (query.Server(data, p, secret=SECRET) for p in (policy, query.Policy(name="o")))
    left = []
    names = ("region", "job", "ill", "sex", "stands out")
    for by in (*combinations(names[:4], 2), *combinations(names, 3)):
        request = {"method": "crosstab", "by": list(by)}
        true, answer = truth.ask(request).columns["count"], server.ask(request)
        shown = [None] * len(true) if answer.is_refusal else answer.columns["count"]
        left += [0.0 if s is None else max(0.0, 1 - abs(s - t) / t)
                 for s, t in zip(shown, true, strict=True) if t]  # fmt: skip
    return float(np.mean(left))


def drawn(points: list[tuple[str, float, float]]) -> Any:
    """Draw the map with the name of each policy beside its point."""
    import altair as alt

    names = ("policy", "gained", "kept")
    chart = alt.Chart(pl.DataFrame(points, schema=names, orient="row")).encode(
        alt.X("gained", title="accuracy an attacker gains over a coin").scale(domain=[-0.05, 0.6]),
        alt.Y("kept", title="share of ordinary tables that is left, %").scale(
            zero=False, padding=25
        ),
    )
    label = chart.mark_text(align="left", dx=9, fontSize=13).encode(text="policy")
    return (chart.mark_circle(size=90) + label).properties(width=460, height=300)


def main() -> None:
    """Measure each policy, print the map, and draw it where asked."""
    points = []
    for name in POLICIES:
        made = query.Policy(name=name) if name == "no rules" else query.Policy.named(name)
        guards = tuple(g for g in made.guards if g.key != "rate-limit")
        policy = made.replace(guards=guards)
        points.append((name, gained(policy), 100 * kept(policy)))
        print("{:10} gained {:.2f}   kept {:5.1f} %".format(*points[-1]))
    front = tradeoff.frontier_of_policies(
        points,
        risk_title="accuracy an attacker gains over a coin",
        utility_title="share of ordinary tables that is left, %",
    )
    print("not dominated:", ", ".join(point.label for point in front))
    if len(sys.argv) > 1:
        report.save_png(drawn(points), sys.argv[1], scale=1.0)


if __name__ == "__main__":
    main()
