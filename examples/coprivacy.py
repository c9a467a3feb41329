"""Coprivacy from the two-user dilemma to ten thousand searchers, with pictures.

Run ``python examples/coprivacy.py [FOLDER]``; results go to the screen, and pictures to the folder
if one is given (``docs/images`` for those of the tutorial).
"""

import sys
from pathlib import Path
from typing import Any

import altair as alt
import numpy as np

from tacit import coprivacy
from tacit.report import save_png

PEERS, SEED = 10_000, 1
EXCHANGE, DIRECT, WARN = "#0f6674", "#a3adb8", "#b4552d"
SENSITIVITIES = np.array([0.2, 0.5, 1.0])


def dilemma() -> None:
    """Show Example 2 of the paper and its generalisation to many users."""
    example_2 = coprivacy.publication_game(2).game()
    print(example_2.equilibria(), "\n")
    print(coprivacy.explain(example_2, ["publish", "publish"]), "\n")
    for n in (3, 100, 100_000):
        game = coprivacy.publication_game(n)
        counts = [found.count for found in game.equilibria()]
        lost = game.payoffs[1, n - 1] - game.payoffs[0, 0]
        print(f"{n:>7,} users: {counts} publish; publishing by all would give each {lost:g} more")


def tor() -> None:
    """Show that relaying for one another is coprivate."""
    print("\n" + str(coprivacy.coprivacy(coprivacy.relay_game(4).game())))


def search() -> list[tuple[str, Any]]:
    """Let ten thousand peers search, with and without defectors."""
    queries = coprivacy.draw_queries(PEERS, seed=SEED)
    result = coprivacy.simulate_search(queries, seed=SEED)
    print("\n" + str(result) + "\n")
    rows = []
    for share in (0.0, 0.2, 0.4, 0.6, 0.8, 0.95):
        mixed = coprivacy.simulate_search(queries, behaviour={"defector": share}, seed=SEED)
        for name in ("rational", "defector"):
            some = mixed.of(name)
            if some.any():
                worth = float(mixed.entropy[some].mean())
                rows.append({"share": share, "peers": name, "entropy": worth})
                print(f"{share:4.0%} defectors: {name:8} {worth:.2f} bits")
    return [("coprivacy-search", gains(result)), ("coprivacy-defectors", defectors(rows))]


def network() -> list[tuple[str, Any]]:
    """Compare selfish disclosure with tit-for-tat and reputation."""
    users = coprivacy.random_network(2_000, degree=10, seed=SEED)
    rows = []
    for protocol in ("independent", "tit-for-tat", "reputation"):
        result = coprivacy.simulate_disclosure(
            users, SENSITIVITIES, protocol, rounds=12, free_riders=0.1, seed=SEED
        )
        kept, ridden = result.mean_utility[-1], result.free_rider_utility[-1]
        shown = f"{result.disclosed[-1]:5.0%} disclosed, utility {kept:.2f}"
        print(f"{protocol:12} {shown}, free riders {ridden:.2f}")
        shares = enumerate(result.disclosed.tolist(), start=1)
        rows += [{"round": t, "disclosed": share, "protocol": protocol} for t, share in shares]
    return [("coprivacy-network", disclosure(rows)), ("coprivacy-epsilon", incentives())]


# -- pictures ----------------------------------------------------------------------------------


def themed(chart: Any, title: str, height: int = 190) -> Any:
    """Give a chart its size and title."""
    sized = chart.properties(width=380, height=height, title=title)
    return sized.configure_view(stroke=None).configure_axis(gridOpacity=0.3)


def gains(result: coprivacy.SearchResult) -> Any:
    """Draw how many peers have which entropy, by direct submission and by exchange."""
    edges = np.arange(0, 8.01, 0.25)
    rows = []
    for name, values in (
        ("direct submission", result.direct_entropy),
        ("exchange", result.entropy),
    ):
        counts, _ = np.histogram(values, edges)
        bins = zip(edges[:-1].tolist(), edges[1:].tolist(), counts.tolist(), strict=True)
        rows += [{"from": a, "to": b, "peers": n, "queries": name} for a, b, n in bins]
    bars = alt.Chart(alt.InlineData(values=rows)).mark_bar(opacity=0.85).encode(
        x=alt.X("from:Q", title="entropy H(Y) of what the database sees, bits"),
        x2="to:Q",
        y2=alt.datum(0),
        y=alt.Y("peers:Q", title="peers", stack=None),
        color=colours("queries", {"direct submission": DIRECT, "exchange": EXCHANGE}),
    )  # fmt: skip
    return themed(bars, "Every peer hides better by submitting for others")


def defectors(rows: list[dict[str, Any]]) -> Any:
    """Draw what defectors and the others have."""
    lines = alt.Chart(alt.InlineData(values=rows)).mark_line(point=True).encode(
        x=alt.X("share:Q", axis=alt.Axis(format="%"), title="share of defectors"),
        y=alt.Y("entropy:Q", title="mean entropy H(Y), bits"),
        color=colours("peers", {"rational": EXCHANGE, "defector": WARN}),
    )  # fmt: skip
    return themed(lines, "Peers who never help do not gain by it")


def disclosure(rows: list[dict[str, Any]]) -> Any:
    """Draw how much is disclosed, round by round."""
    looks = {"independent": WARN, "tit-for-tat": EXCHANGE, "reputation": "#6a7fb0"}
    lines = alt.Chart(alt.InlineData(values=rows)).mark_line(point=True).encode(
        x=alt.X("round:Q", title="round"),
        y=alt.Y("disclosed:Q", axis=alt.Axis(format="%"), title="disclosed"),
        color=colours("protocol", looks),
    )  # fmt: skip
    return themed(lines, "Selfish play ends in silence, reciprocity does not")


def incentives() -> Any:
    """Draw what cheating brings against those who repay."""
    example_2 = coprivacy.publication_game(2).game()
    rows = []
    for memory in (1, 2):
        for discount in np.linspace(0, 0.98, 50).tolist():
            found = coprivacy.reciprocity_incentive(example_2, discount=discount, memory=memory)
            name = "tit-for-tat" if memory == 1 else "two good rounds"
            rows.append({"discount": discount, "epsilon": found.epsilon, "memory": name})
    lines = alt.Chart(alt.InlineData(values=rows)).mark_line().encode(
        x=alt.X("discount:Q", title="what the next round is worth now"),
        y=alt.Y("epsilon:Q", title="gain by cheating, per round"),
        color=colours("memory", {"tit-for-tat": EXCHANGE, "two good rounds": "#6a7fb0"}),
    )  # fmt: skip
    return themed(lines, "The more the future counts, the less cheating pays")


def colours(field: str, looks: dict[str, str]) -> alt.Color:
    """Name the colours of a legend."""
    scale = alt.Scale(domain=list(looks), range=list(looks.values()))
    return alt.Color(f"{field}:N", scale=scale, legend=alt.Legend(title=None, orient="top"))


def main() -> None:
    """Show everything; write the pictures if a folder is given."""
    dilemma()
    tor()
    for name, chart in [*search(), *network()]:
        if len(sys.argv) > 1:
            print(save_png(chart, Path(sys.argv[1]) / f"{name}.png", scale=1.5))


if __name__ == "__main__":
    main()
