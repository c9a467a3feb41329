"""Risk by frequencies and models, and SUDA2, against sdcMicro (peers-microdata.md, 2.2-2.3).

The people are those of the peers' recipe ``cat_n``: households of testdata drawn again, with
errors. CPU seconds of the whole measure, reading of the keys included; the frame is in memory.
"""

from __future__ import annotations

import argparse
from pathlib import Path

import numpy as np
import polars as pl
from measuring import cpu_seconds, growth_exponent, markdown, peak_megabytes

from tacit import Microdata, risk

KEYS = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "ageg"]
_TESTDATA = Path(__file__).resolve().parents[2] / "shared" / "data" / "casc" / "testdata.csv"
_PEER = {
    ("individual-risk", 7): {500_000: 1.7, 1_000_000: 2.7},
    ("household-risk", 7): {50_000: 0.71, 500_000: 7.2, 1_000_000: 14.7},
    ("suda", 5): {100_000: 0.15},
    ("suda", 7): {100_000: 0.24},
    ("suda", 8): {100_000: 0.43},
    ("log-linear-risk", 7): {100_000: "0.19, NaN"},
}


def people(n: int) -> Microdata:
    """Draw households of testdata until there are n people, then misread 5 % of each key."""
    frame = pl.read_csv(_TESTDATA)
    rng = np.random.default_rng(1)
    ids, start, sizes = np.unique(
        frame["ori_hid"].to_numpy(), return_index=True, return_counts=True
    )
    drawn = rng.integers(0, len(ids), n)
    ends = np.cumsum(sizes[drawn])
    n_households = int(np.searchsorted(ends, n)) + 1
    drawn = drawn[:n_households]
    household = np.repeat(np.arange(n_households), sizes[drawn])[:n]
    within = np.arange(n) - np.concatenate([[0], ends])[household]
    taken = frame[start[drawn][household] + within]
    columns = {}
    for name in KEYS[:7]:
        values = taken[name].to_numpy()
        known = np.unique(frame[name].to_numpy())
        misread = rng.random(n) < 0.05
        columns[name] = np.where(misread, known[rng.integers(0, len(known), n)], values)
    columns["ageg"] = taken["age"].to_numpy() // 5
    table = pl.DataFrame({**columns, "household": household, "w": rng.integers(20, 201, n) * 1.0})
    return Microdata.of(table).with_roles(keys=KEYS, weight="w", household="household")


CASES = {
    "individual-risk": ([7, 8], lambda keys: risk.IndividualRisk(keys=keys)),
    "household-risk": ([7], lambda keys: risk.HouseholdRisk(keys=keys)),
    "suda": ([5, 7, 8], lambda keys: risk.Suda(keys=keys)),
    "population-uniques": ([7], lambda keys: risk.PopulationUniques(keys=keys)),
    "log-linear-risk": ([7, 8], lambda keys: risk.LogLinearRisk(keys=keys)),
}


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--sizes", type=int, nargs="+", default=[10_000, 100_000, 1_000_000])
    sizes = parser.parse_args().sizes
    files = {n: people(n) for n in sizes}
    rows = []
    for name, (numbers, make) in CASES.items():
        for k in numbers:
            measure, seconds = make(KEYS[:k]), []
            measure.measure(people(2000))  # compile
            for n, data in files.items():
                seconds.append(cpu_seconds(lambda m=measure, d=data: m.measure(d), repeats=3))
                peer = _PEER.get((name, k), {}).get(n, "")
                rows.append([name, k, f"{n:,}", f"{seconds[-1]:.3f}", peer])
            rows.append([name, k, "growth", f"n^{growth_exponent(sizes, seconds):.2f}", ""])
    print(markdown(["measure", "keys", "n", "tacit, CPU s", "sdcMicro, CPU s"], rows))
    print(f"\npeak memory {peak_megabytes():.0f} MB")


if __name__ == "__main__":
    main()
