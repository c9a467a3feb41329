"""Full-domain generalisation and Mondrian against ARX and the Python libraries.

The peers' figures are quoted from shared/spec/peers-anonymization.md, section 2 (CPU seconds; ARX
is the best of several runs in a warm JVM, search only, while ours includes encoding the data).
"boot 1M" is Adult resampled to a million records, "mix 1M" the same with 20 % of each column
redrawn.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
import polars as pl
from measuring import cpu_seconds, growth_exponent, markdown, peak_megabytes

import tacit
from tacit import mask
from tacit.io.hierarchies import read_hierarchy
from tacit.mask._generalise_domains import domains
from tacit.mask.generalise import generalisation

_ADULT = Path(__file__).resolve().parents[2] / "shared" / "data" / "adult"
_KEYS = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass",
         "occupation", "salary-class"]  # fmt: skip
_EIGHT = [key for key in _KEYS if key != "occupation"]
_L3 = {"keys": _EIGHT, "confidential": "occupation", "diversity": 3}
_T5 = {"keys": _EIGHT, "confidential": "occupation", "closeness": 0.5}
_T2 = {"keys": _EIGHT, "confidential": "occupation", "closeness": 0.2}
_ROWS = [  # file, setting, parameters, CPU seconds of ARX, its checks, of anjana
    ("Adult", "k=5, 0 %", {"k": 5, "max_suppression": 0.0}, 0.04, 181, 8.9),
    ("Adult", "k=5, 1 %", {"k": 5, "max_suppression": 0.01}, 0.9, 1160, 8.5),
    ("Adult", "k=5, 2 %", {"k": 5, "max_suppression": 0.02}, 1.2, 1245, ""),
    ("Adult", "k=5, 5 %", {"k": 5, "max_suppression": 0.05}, 1.3, 1217, 6.3),
    ("Adult", "k=5, 100 %", {"k": 5, "max_suppression": 1.0}, 4.7, 4749, ""),
    ("Adult", "k=10, 5 %", {"k": 10, "max_suppression": 0.05}, 1.3, 1288, 7.2),
    ("Adult", "k=5, l=3, 5 %", {"k": 5, **_L3}, 0.6, 450, 7.0),
    ("Adult", "k=5, t=0.5, 5 %", {"k": 5, **_T5}, 1.3, 1397, 10.9),
    ("Adult", "k=5, t=0.2, 5 %", {"k": 5, **_T2}, 1.4, 3051, ""),
    ("boot 1M", "k=200, 0 %", {"k": 200, "max_suppression": 0.0}, 0.7, 175, ""),
    ("boot 1M", "k=200, 5 %", {"k": 200, "max_suppression": 0.05}, 2.9, 1459, ""),
    ("mix 1M", "k=5, 0 %", {"k": 5, "max_suppression": 0.0}, 2.9, 264, ""),
    ("mix 1M", "k=5, 5 %", {"k": 5, "max_suppression": 0.05}, 56.9, 710, ""),
]


def described(table: pl.DataFrame) -> tacit.Microdata:
    trees = {key: read_hierarchy(_ADULT / f"adult_hierarchy_{key}.csv") for key in _KEYS}
    return tacit.Microdata.of(table).with_roles(keys=_KEYS).with_hierarchies(**trees)


def adult() -> pl.DataFrame:
    return pl.read_csv(_ADULT / "adult.csv", separator=";", infer_schema=False)


def resampled(n: int) -> tuple[pl.DataFrame, pl.DataFrame]:
    """Return n records of Adult drawn with replacement, and these with 20 % of each key redrawn."""
    table, rng = adult(), np.random.default_rng(1)
    boot = table[rng.integers(0, len(table), n)]
    redrawn = [
        pl.when(pl.Series(rng.random(n) < 0.2))
        .then(table[key][rng.integers(0, len(table), n)])
        .otherwise(boot[key])
        .alias(key)
        for key in _KEYS
    ]
    return boot, boot.with_columns(redrawn)


def records(n: int) -> pl.DataFrame:
    """Return Adult itself if n is its size, else n records that are more different."""
    table = adult()
    return table if n == table.height else resampled(n)[1]


def files() -> dict[str, tacit.Microdata]:
    boot, mix = resampled(1_000_000)
    tables = {"Adult": adult(), "boot 1M": boot, "mix 1M": mix}
    return {name: described(found) for name, found in tables.items()}


def searches() -> str:
    data, rows = files(), []
    for _, _, parameters, *_ in _ROWS[6:8]:
        generalisation(mask.Generalise(**parameters), data["Adult"])  # compile
    for name, setting, parameters, arx, checks, anjana in _ROWS:
        method = mask.Generalise(**parameters)
        seconds = cpu_seconds(lambda m=method, n=name: generalisation(m, data[n]), repeats=3)
        keys = list(method.keys or _KEYS)
        reading = cpu_seconds(lambda n=name, k=keys: domains(data[n], k), repeats=3)
        found = generalisation(method, data[name])
        levels = " ".join(map(str, found.levels.values()))
        rows.append([name, setting, f"{seconds:.3f}", f"{seconds - reading:.3f}", found.n_checked,
                     arx, checks, anjana,
                     levels, f"{found.score:.5f}", f"{found.n_suppressed:,}"])  # fmt: skip
    header = ["file", "setting", "tacit, CPU s", "without encoding", "checks", "ARX, CPU s",
              "its checks",
              "anjana, CPU s", "levels", "loss", "suppressed"]  # fmt: skip
    return markdown(header, rows)


def boxes() -> str:
    rows, sizes = [], (10_000, 100_000, 1_000_000)
    settings = {"strict": {}, "relaxed": {"strict": False},
                "l=3": {"diversity": 3, "confidential": "occupation"}}  # fmt: skip
    for title, parameters in settings.items():
        method = mask.Mondrian(k=5, **parameters)
        method.apply(tacit.datasets.census(1000), np.random.default_rng(1))  # compile
        seconds = []
        for n in sizes:
            data = tacit.datasets.census(n)
            work = lambda m=method, d=data: m.apply(d, np.random.default_rng(1))  # noqa: E731
            seconds.append(cpu_seconds(work))
        taken = [f"{s:.2f}" for s in seconds]
        rows.append([title, *taken, f"n^{growth_exponent(sizes, seconds):.2f}"])
    rows.append(["anonypy, Adult 30,162 x 8", "42", "", "", ""])
    return markdown(["Mondrian, census, 5 keys, k=5", "10^4", "10^5", "10^6", "growth"], rows)


def main() -> None:
    print(searches())
    print()
    print(boxes())
    print(f"\npeak memory {peak_megabytes():,.0f} MB", file=sys.stdout)


if __name__ == "__main__":
    main()
