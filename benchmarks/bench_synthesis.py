"""Sequential synthesis: utility beside a peer, seconds, growth to a million records.

Run as ``python benchmarks/bench_synthesis.py [largest]``. The peer is SDV's Gaussian copula where
a Python with SDV is named in ``TACIT_SDV_PYTHON``; synthpop's CPU seconds are those of peers.md,
and trees drawn from as it does by default are those of `unpruned_trees`.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

import numpy as np
import polars as pl
import unpruned_trees
from measuring import cpu_seconds, growth_exponent, markdown, peak_megabytes

import tacit
from tacit import mask, risk, utility

_ADULT = Path(__file__).resolve().parents[2] / "shared" / "data" / "adult" / "adult.csv"
_PEER = """
import sys, time, types, pandas as pd
class Absent(types.ModuleType):  # SDV imports its neural networks always; the copula needs none
    __path__ = []
    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return type(name, (), {})
try:
    import ctgan, deepecho
except ImportError:
    for name in ("ctgan", "ctgan.synthesizers", "ctgan.synthesizers._utils",
                 "ctgan.synthesizers.ctgan", "ctgan.synthesizers.tvae",
                 "deepecho", "deepecho.sequences", "torch"):
        sys.modules[name] = Absent(name)
from sdv.metadata import Metadata
from sdv.single_table import GaussianCopulaSynthesizer
frame = pd.read_csv(sys.argv[1])
started = time.process_time()
tables = {"people": frame}
model = GaussianCopulaSynthesizer(Metadata.detect_from_dataframes(tables, infer_keys=None))
model.fit(tables)
made = model.sample(len(frame))
made = made["people"] if isinstance(made, dict) else made
made.to_csv(sys.argv[2], index=False)
print(time.process_time() - started)
"""


def files() -> dict[str, tuple[pl.DataFrame, utility.RegressionOverlap]]:
    census = tacit.datasets.census(20_000).frame.drop("person_id", "household", "weight")
    of_census = utility.RegressionOverlap(response="income", predictors=["age", "hours", "sex"])
    found = {"census(20 000)": (census, of_census)}
    if _ADULT.is_file():
        adult = pl.read_csv(_ADULT, separator=";", null_values="?")
        of_adult = utility.RegressionOverlap(response="age", predictors=["sex", "salary-class"])
        found["Adult"] = (adult, of_adult)
    return found


def row(name: str, how: str, before: pl.DataFrame, after: pl.DataFrame, overlap, seconds) -> list:
    pmse = [
        utility.Propensity(model=m, permutations=5, most_records=20_000).measure(before, after)
        for m in ("logistic", "tree")
    ]
    tables = utility.ContingencyLoss(distance="total-variation").measure(before, after).value
    return [
        name, how, f"{seconds:.2f}", *(f"{p.details['ratio']:.2f}" for p in pmse),
        f"{tables:.4f}", f"{overlap.measure(before, after).value:.2f}",
    ]  # fmt: skip


def peer(frame: pl.DataFrame) -> tuple[pl.DataFrame, float] | None:
    python = os.environ.get("TACIT_SDV_PYTHON")
    if not python:
        return None
    with tempfile.TemporaryDirectory() as folder:
        paths = [str(Path(folder) / name) for name in ("in.csv", "out.csv")]
        frame.write_csv(paths[0])
        done = subprocess.run(
            [python, "-c", _PEER, *paths], capture_output=True, text=True, check=True, timeout=600
        )
        made = pl.read_csv(paths[1], schema=frame.schema)
    return made, float(done.stdout.split()[-1])


def sampling_error(frame: pl.DataFrame) -> float:
    """Return how far the pairs of two halves lie apart: no honest draw is nearer."""
    halves = frame.sample(fraction=1, shuffle=True, seed=3)
    n = frame.height // 2
    loss = utility.ContingencyLoss(distance="total-variation")
    return loss.measure(halves.head(n), halves.tail(n)).value


def price() -> None:
    """Print what trees that follow the records farther gain, and who pays: half is held out."""
    rows = []
    for name, (frame, _) in files().items():
        shuffled = frame.sample(fraction=1, shuffle=True, seed=3)
        members = shuffled.head(frame.height // 2)
        everyone = shuffled.with_columns(member=pl.Series(np.arange(frame.height) < len(members)))
        attack = risk.MembershipInference(attributes=frame.columns, members="member")
        apart = f"{sampling_error(frame):.4f}"
        for how, made in {
            "tacit, trees": tacit.Plan([mask.Synthesise()]).apply(members, seed=1).frame,
            "unpruned trees": unpruned_trees.synthetic(members, seed=1),
        }.items():
            loss = utility.ContingencyLoss(distance="total-variation").measure(members, made).value
            same = made.join(members.unique(), on=made.columns, how="semi", nulls_equal=True)
            auc = attack.measure(everyone, made).value
            equal = f"{len(same) / len(made):.0%}"
            rows.append([name, how, f"{loss:.4f}", apart, f"{auc:.3f}", equal])
    header = ["file", "method", "pairs, TV", "of two halves", "membership, AUC", "equal a record"]
    print(markdown(header, rows), "\n")


def quality() -> None:
    rows = []
    for name, (frame, overlap) in files().items():
        for how, method in {
            "tacit, trees": mask.Synthesise(), "tacit, copula": mask.CopulaSynthesis()
        }.items():  # fmt: skip
            plan = tacit.Plan([method])
            plan.apply(frame, seed=1)
            seconds = cpu_seconds(lambda p=plan, f=frame: p.apply(f, seed=1))
            rows.append(row(name, how, frame, plan.apply(frame, seed=1).frame, overlap, seconds))
        unpruned = unpruned_trees.synthetic(frame, 1)
        seconds = cpu_seconds(lambda f=frame: unpruned_trees.synthetic(f, 1))
        rows.append(row(name, "unpruned trees", frame, unpruned, overlap, seconds))
        other = peer(frame)
        if other:
            rows.append(row(name, "SDV GaussianCopula", frame, other[0], overlap, other[1]))
    header = ["file", "method", "CPU s", "pMSE ratio, logistic", "tree", "pairs, TV", "CI overlap"]
    print(markdown(header, rows), "\n")


def adult_at(n: int) -> None:
    """Print the seconds of Adult, drawn with replacement to so many records, in any order."""
    frame = files()["Adult"][0].sample(n, with_replacement=True, seed=1)
    for order in (frame.columns, sorted(frame.columns)):
        plan = tacit.Plan([mask.Synthesise(visit=order)])
        seconds = cpu_seconds(lambda p=plan: p.apply(frame, seed=1))
        print(f"Adult, {n:,} records, {order[0]} first: {seconds:.1f} CPU s")


def growth(largest: int) -> None:
    sizes = [n for n in (10_000, 100_000, 1_000_000) if n <= largest]
    seconds = []
    tacit.Plan([mask.Synthesise()]).apply(tacit.datasets.census(1000), seed=1)  # compiles
    for n in sizes:
        data = tacit.datasets.census(n)
        seconds.append(cpu_seconds(lambda d=data: tacit.Plan([mask.Synthesise()]).apply(d, seed=1)))
    rows = [[f"{n:,}", f"{s:.1f}"] for n, s in zip(sizes, seconds, strict=True)]
    print(markdown(["records of census, households", "CPU s"], rows))
    last = growth_exponent(sizes[-2:], seconds[-2:])
    print(
        f"\ngrowth n^{growth_exponent(sizes, seconds):.2f}, of the last two n^{last:.2f}, ", end=""
    )
    print(f"peak {peak_megabytes():,.0f} MB")


if __name__ == "__main__":
    quality()
    price()
    adult_at(100_000)
    growth(int(sys.argv[1]) if len(sys.argv) > 1 else 100_000)
