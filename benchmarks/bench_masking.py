"""Masking methods at 10^4, 10^5 and 10^6 records beside sdcMicro's CPU seconds.

Each case runs in a process of its own, so that the peak memory is its own, and is warmed up on a
few records first. The peer's figures are quoted from shared/spec/peers-microdata.md, section 2.
"""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable
from typing import Any

from measuring import cpu_seconds, growth_exponent, markdown, peak_megabytes

SIZES = (10_000, 100_000, 1_000_000)
Work = Callable[[], Any]


def _plan(method: Any, data: Any) -> Work:
    import tacit

    return lambda: tacit.Plan([method]).apply(data, seed=1)


def mdav(n: int) -> Work:
    import recipes

    from tacit import mask

    return _plan(mask.Mdav(columns=[f"x{j}" for j in range(10)], k=3), recipes.normal(n, 10))


def refined(n: int) -> Work:
    import recipes

    from tacit import mask

    columns = [f"x{j}" for j in range(10)]
    return _plan(mask.RefinedMicroaggregation(columns=columns, k=3), recipes.normal(n, 10))


def suppression(n: int) -> Work:
    import recipes

    from tacit import mask

    data = recipes.survey(n)
    return _plan(mask.LocalSuppression(keys=data.schema.keys[:7], k=3), data)


def frequencies(n: int) -> Work:
    import recipes

    from tacit.core import keys

    codes = keys.encode(recipes.survey(n), recipes.survey(10).schema.keys[:7])
    return lambda: keys.frequencies(codes)


def frequencies_missing(n: int) -> Work:
    import numpy as np
    import recipes

    from tacit.core import keys

    codes = keys.encode(recipes.survey(n), recipes.survey(10).schema.keys[:7])
    codes[np.random.default_rng(7).random(codes.shape) < 0.01] = -1
    return lambda: keys.frequencies(codes, missing="wildcard")


def rank_swap(n: int) -> Work:
    import recipes

    from tacit import mask

    return _plan(mask.RankSwap(columns=[f"x{j}" for j in range(6)], p=5), recipes.normal(n))


def pram(n: int) -> Work:
    import recipes

    from tacit import mask

    keys = ["roof", "walls", "water"]
    data = recipes.survey(n).with_kinds(**dict.fromkeys(keys, "nominal"))
    return _plan(mask.Pram(columns=keys), data)


def noise(n: int) -> Work:
    import recipes

    from tacit import mask

    return _plan(mask.CorrelatedNoise(columns=[f"x{j}" for j in range(6)]), recipes.normal(n))


def shuffle(n: int) -> Work:
    import recipes

    from tacit import mask

    method = mask.Shuffle(columns=["x0", "x1", "x2"], given=["x3", "x4", "x5"])
    return _plan(method, recipes.normal(n))


def orthogonal(n: int) -> Work:
    import recipes

    from tacit import mask

    return _plan(mask.OrthogonalMasking(columns=[f"x{j}" for j in range(6)]), recipes.normal(n))


def record_swap(n: int) -> Work:
    import recipes

    from tacit import mask

    method = mask.RecordSwap(
        geography=["nuts1", "nuts2", "nuts3"], risk=["ageGroup", "gender", "national"],
        similar=(("hsize",),), k=3, rate=0.05,
    )  # fmt: skip
    return _plan(method, recipes.areas(n))


# Name, work, the peer's CPU seconds by size, sizes left out because the cost is quadratic.
CASES: list[tuple[str, Callable[[int], Work], dict[int, float], set[int]]] = [
    ("exact MDAV, 10 columns, k = 3", mdav, {10_000: 0.74, 100_000: 119.0}, {1_000_000}),
    ("refined microaggregation, 10 columns, k = 3", refined, {10_000: 0.74, 100_000: 119.0}, set()),
    ("local suppression, 7 keys, k = 3", suppression, {1_000_000: 30.4}, set()),
    ("frequencies, 7 keys", frequencies, {1_000_000: 2.2}, set()),
    ("frequencies, 7 keys, 1 % missing", frequencies_missing, {}, set()),
    ("rank swapping, 6 columns, 5 %", rank_swap, {100_000: 1.5}, set()),
    ("PRAM, 3 columns", pram, {100_000: 3.7}, set()),
    ("correlated noise, 6 columns", noise, {100_000: 0.13}, set()),
    ("shuffling, 3 given 3", shuffle, {100_000: 3.4}, set()),
    ("random orthogonal masking, 6 columns", orthogonal, {}, set()),
    ("record swapping, 3 levels", record_swap, {100_000: 1.3, 1_000_000: 12.6}, set()),
]


def measure_one(number: int, n: int) -> None:
    """Run one case in this process and print its seconds and peak memory as JSON."""
    build = CASES[number][1]
    build(1000)()  # compile
    work = build(n)
    print(json.dumps([cpu_seconds(work, 3 if n <= 100_000 else 1), peak_megabytes()]))


def main() -> None:
    rows = []
    for number, (name, _, peer, left_out) in enumerate(CASES):
        sizes = [n for n in SIZES if n not in left_out]
        found = []
        for n in sizes:
            command = [sys.executable, __file__, str(number), str(n)]
            done = subprocess.run(command, capture_output=True, text=True, check=True)
            found.append(json.loads(done.stdout.splitlines()[-1]))
        seconds = [s for s, _ in found]
        cells = [
            f"{s:.2f}" + (f" ({peer[n] / s:.0f}x)" if n in peer else "")
            for n, s in zip(sizes, seconds, strict=True)
        ]
        cells += [""] * (len(SIZES) - len(sizes))
        growth = growth_exponent(sizes[-2:], seconds[-2:])
        rows.append([name, *cells, f"{found[-1][1]:.0f}", f"{growth:.2f}"])
        print(rows[-1], file=sys.stderr)
    header = ["method", *(f"{n:,}" for n in SIZES), "peak MB", "growth"]
    print("CPU seconds, and how many times faster than sdcMicro where it was measured\n")
    print(markdown(header, rows))


if __name__ == "__main__":
    if len(sys.argv) == 3:
        measure_one(int(sys.argv[1]), int(sys.argv[2]))
    else:
        main()
