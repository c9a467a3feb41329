"""Compute the score of DF07 (domingoferrer2007) for its methods on the CASC Census file.

The file (1080 records, 13 numbers) comes with the CASC project's reference data. Run with
``python examples/score_census.py path/to/CASCrefmicrodata.csv``; the table goes to the screen in
Markdown, as it stands in ``docs/explanation/score.md``.
"""

import sys
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np

import tacit
from tacit import mask, risk, tradeoff, utility
from tacit.core.families import Mask

FILE = Path("../shared/data/casc/CASCrefmicrodata.csv")
SEEDS = (1, 2, 3)
"""Methods that draw at random are run once per seed, and their numbers averaged."""
HEADINGS = ("IL", "ID", "DLD all", "PLD all", "Score all", "DLD half", "PLD half", "Score half")
HALF = 7
"""The intruders of the columns called half know the first attribute, the first two, ... seven."""


def candidates(columns: Sequence[str]) -> Iterator[tuple[str, Mask, bool]]:
    """List name, method, and whether it draws at random."""
    names = list(columns)
    in_order = [names[i : i + 3] for i in range(0, len(names), 3)]
    for p in range(1, 21):
        yield f"rank swapping, p = {p}", mask.RankSwap(columns=names, p=p), True
    for k in range(3, 11):
        yield f"MDAV on all 13, k = {k}", mask.Mdav(columns=names, k=k), False
    for k in range(3, 11):
        by_three = mask.PartitionedMdav(columns=names, k=k, sets=in_order)
        yield f"MDAV on 3 in file order, k = {k}", by_three, False
    for k in range(3, 11):
        related = mask.PartitionedMdav(columns=names, k=k)
        yield f"MDAV on 3 related, k = {k}", related, False
    for percent in (1, 2, 4, 6, 8, 10, 12, 14, 16, 18, 20):
        noise = mask.UncorrelatedNoise(columns=names, level=percent / 100)
        yield f"noise, {percent} %", noise, True


def score(data: tacit.Microdata, method: Mask, seed: int) -> dict[str, float]:
    """Return the parts of the score, in percent, for one masked file."""
    release = tacit.Plan([method]).apply(data, seed=seed)
    names = data.columns
    found = {
        "IL": 100 * utility.InformationLoss().measure(data, release).value,
        "ID": 100 * risk.IntervalDisclosure(attributes=names).measure(data, release).value,
    }
    known = {"all": [names], "half": [names[: n + 1] for n in range(HALF)]}
    for knowledge, sets in known.items():
        dld = linked(risk.DistanceLinkage, sets, data, release)
        pld = linked(risk.ProbabilisticLinkage, sets, data, release)
        total = tradeoff.Score().combine(
            loss=found["IL"], distance=dld, probabilistic=pld, interval=found["ID"]
        )
        parts = {"DLD": dld, "PLD": pld, "Score": total}
        found |= {f"{part} {knowledge}": number for part, number in parts.items()}
    return found


def linked(
    linkage: type[risk.DistanceLinkage | risk.ProbabilisticLinkage],
    sets: Sequence[Sequence[str]],
    data: tacit.Microdata,
    release: tacit.Release,
) -> float:
    """Return the percentage of records linked, averaged over what intruders know."""
    shares = [linkage(attributes=known).measure(data, release).value for known in sets]
    return 100 * float(np.mean(shares))


def table(data: tacit.Microdata) -> list[tuple[str, dict[str, float]]]:
    """Score every candidate, best first."""
    rows = []
    for name, method, is_random in candidates(data.columns):
        runs = [score(data, method, seed) for seed in (SEEDS if is_random else SEEDS[:1])]
        rows.append((name, {h: float(np.mean([run[h] for run in runs])) for h in HEADINGS}))
    return sorted(rows, key=lambda row: row[1]["Score half"])


def main() -> None:
    """Print the table in Markdown."""
    path = Path(sys.argv[1]) if len(sys.argv) > 1 else FILE
    print(f"| method | {' | '.join(HEADINGS)} |")
    print(f"|---|{'---:|' * len(HEADINGS)}")
    for name, numbers in table(tacit.read(path)):
        print(f"| {name} | {' | '.join(f'{numbers[h]:.1f}' for h in HEADINGS)} |")


if __name__ == "__main__":
    main()
