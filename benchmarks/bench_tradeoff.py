"""The frontier that a search finds, against single methods run by hand and against random search.

``python benchmarks/bench_tradeoff.py [--files census,tarragona,eia,made-up] [--plans 100]
[--seeds 3] [--figures docs/images]`` prints Markdown. The curves are those of the literature: rank
swapping p = 1..20, MDAV k = 3..20, noise of 1..20 %. Risk and loss are the halves of the score of
DF07. ``--large N`` instead searches a file of N records on samples and confirms it on all.
"""

import argparse
import resource
import tempfile
import time
from pathlib import Path

import numpy as np

import tacit
from tacit import mask, report, tradeoff
from tacit.tradeoff.candidates import fitting_candidates
from tacit.tradeoff.ru_map import ru_map

DATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "casc"
CORNER = {"max_risk": 100.0, "min_utility": -60.0}
"""Corner of the map from which dominated area is measured, in percent."""


def files():
    """Return functions that read the numeric columns of each file."""
    return {
        "census": lambda: tacit.read(DATA / "CASCrefmicrodata.csv"),
        "tarragona": lambda: tacit.read(DATA / "Tarragona.csv"),
        "eia": lambda: _numbers(tacit.read(DATA / "EIA.csv"), 5),
        "made-up": lambda: tacit.Microdata.of(
            tacit.datasets.census(10_000).local.select("age", "hours", "income", "taxes")
        ),
    }


def _numbers(data, first):
    return tacit.Microdata.of(data.local.select(data.columns[first:]))


def curves(names):
    """Return the plans of the literature, by method."""
    return {
        "rank swapping, p = 1..20": [mask.RankSwap(columns=names, p=p) for p in range(1, 21)],
        "MDAV, k = 3..20": [mask.Mdav(columns=names, k=k) for k in range(3, 21)],
        "noise, 1..20 %": [
            mask.UncorrelatedNoise(columns=names, level=p / 100) for p in range(1, 21)
        ],
    }


def searched(data, candidates, evaluations, seed, **options):
    """Search with the two halves of the score."""
    score = tradeoff.Score()
    start = options.pop("start", ())
    storage = options.pop("storage", None)
    effort = tradeoff.Effort(
        evaluations=evaluations, replicates=1, sample=1_000_000, workers=1, **options
    )
    return tradeoff.search(
        data, candidates, risk=score.risk, utility=score.loss, budget=effort, seed=seed,
        start=start, storage=storage,
    )  # fmt: skip


def by_hand(data, plans, storage):
    """Evaluate the curves of the literature."""
    points = []
    for group, methods in plans.items():
        front = searched(data, methods, len(methods), 1, storage=storage)
        known = {p.plan.methods[0].model_dump_json(): p for p in front.tried}
        points += [
            tradeoff.Point(p.label, p.risk, p.utility, p.plan, group=group)
            for p in (known[m.model_dump_json()] for m in methods if m.model_dump_json() in known)
        ]
    return points


def compare(name, data, n_plans, n_seeds, figures):
    """Print one file's lines."""
    candidates = fitting_candidates(data)
    plans = curves(data.columns)
    with tempfile.TemporaryDirectory() as folder:
        storage = Path(folder) / "search.jsonl"
        hand = by_hand(data, plans, storage)
        start = [p.plan for p in hand]
        front = searched(data, candidates, len(hand) + n_plans, 1, start=start, storage=storage)
    for group in plans:
        own = [p for p in hand if p.group == group]
        reached, surpassed = front.covers(own)
        alone = tradeoff.Frontier.of(own)
        gain = front.hypervolume(**CORNER) / max(alone.hypervolume(**CORNER), 1e-9) - 1
        print(f"| {name} | {group} | {reached} | {surpassed} | {100 * gain:.1f} % |", flush=True)
    best = min(front.points, key=lambda p: 0.5 * p.risk - 0.5 * p.utility)
    by = min(hand, key=lambda p: 0.5 * p.risk - 0.5 * p.utility)
    print(
        f"<!-- {name}: best score {0.5 * best.risk - 0.5 * best.utility:.2f} by {best.group}; by "
        f"hand {0.5 * by.risk - 0.5 * by.utility:.2f} by {by.label.split(':')[0]} -->"
    )
    if figures:
        chart = ru_map(front, curves=hand, lowest=CORNER["min_utility"], clickable=False)
        report.save_png(chart, Path(figures) / f"frontier-{name}.png", scale=1.0)
    return [_areas(data, candidates, n_plans, seed) for seed in range(1, n_seeds + 1)]


def _areas(data, candidates, n_plans, seed):
    return [
        searched(data, candidates, n_plans, seed, sampler=s).hypervolume(**CORNER)
        for s in ("auto", "random")
    ]


def large(n):
    """Search a large file on samples and confirm on all records."""
    data = tacit.datasets.census(n)
    started, spent = time.perf_counter(), time.process_time()
    front = tradeoff.search(data, budget=tradeoff.Effort(evaluations=40, replicates=1), seed=1)
    wall, busy = time.perf_counter() - started, time.process_time() - spent
    own, others = (
        resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)
    )
    print(
        f"{n:,} records: {wall:.0f} s, processor {busy:.0f} s here and "
        f"{others.ru_utime + others.ru_stime:.0f} s in workers; frontier of {len(front)}; "
        f"most memory {own.ru_maxrss / 2**20:.2f} GB here, {others.ru_maxrss / 2**20:.2f} GB in "
        "the largest worker"
    )
    print("\n".join(front.notes))
    print(front)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--files", default=",".join(files()))
    parser.add_argument("--plans", type=int, default=100)
    parser.add_argument("--seeds", type=int, default=3)
    parser.add_argument("--figures")
    parser.add_argument("--large", type=int)
    options = parser.parse_args()
    if options.large:
        large(options.large)
        return
    print("| file | curve run by hand | reached everywhere | surpassed somewhere | area gained |")
    print("|---|---|---|---|---:|")
    areas = {}
    for name in options.files.split(","):
        data = files()[name]()
        areas[name] = compare(name, data, options.plans, options.seeds, options.figures)
    print(f"\n| file | search, area after {options.plans} plans | random search | better in |")
    print("|---|---:|---:|---:|")
    for name, found in areas.items():
        if not found:
            continue
        ours, random = np.mean(found, axis=0)
        wins = sum(a > b for a, b in found)
        print(f"| {name} | {ours:.0f} | {random:.0f} | {wins} of {len(found)} seeds |")


if __name__ == "__main__":
    main()
