"""Local suppression against sdcMicro (figures quoted from shared/spec/peers-microdata.md, 2.2).

The whole method is timed, from the frame to the verified release, in CPU seconds after a first run
that compiles. ``strict`` has no peer: there a missing value is a category of its own.
"""

from __future__ import annotations

import sys
from typing import Any

import polars as pl
import recipes
from measuring import cpu_seconds, markdown

import tacit
from tacit import mask

_TESTDATA = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex"]
_FREE1 = ["REGION", "SEX", "AGE", "MARSTAT", "ETNI"]
_PEER: dict[tuple[str, int, int], tuple[float | None, int | None]] = {
    ("testdata", 7, 2): (None, 157), ("testdata", 7, 3): (None, 293),
    ("testdata", 7, 5): (None, 500), ("testdata", 7, 10): (None, 911),
    ("free1", 5, 3): (None, 3916),
    ("cat_5000", 5, 3): (0.47, 136), ("cat_5000", 7, 3): (2.7, 646),
    ("cat_5000", 8, 3): (10.1, 1615),
    ("cat_50000", 5, 3): (0.88, 170), ("cat_50000", 7, 3): (10.9, 1313),
    ("cat_50000", 8, 3): (81.8, 5519),
    ("cat_500000", 5, 3): (1.3, 149), ("cat_500000", 7, 3): (26.2, 2155),
    ("cat_500000", 8, 3): (530.0, 12786),
    ("cat_1000000", 5, 3): (1.9, 108), ("cat_1000000", 7, 3): (30.4, 2163),
    ("cat_1000000", 8, 3): (None, None),
}  # fmt: skip


def table(name: str) -> pl.DataFrame:
    if name.startswith("cat_"):
        return recipes.survey(int(name.removeprefix("cat_"))).frame.select([*_TESTDATA, "ageg"])
    columns = _TESTDATA if name == "testdata" else _FREE1
    return pl.read_csv(recipes.SHARED / "casc" / f"{name}.csv", columns=columns)


def case(name: str, data: pl.DataFrame, n_keys: int, k: int, missing: str) -> list[Any]:
    keys = data.columns[:n_keys]
    plan = tacit.Plan([mask.LocalSuppression(keys=keys, k=k, missing=missing)])
    released: list[pl.DataFrame] = []
    seconds = cpu_seconds(lambda: released.append(plan.apply(data, seed=1).frame))
    cells = released[-1].select(pl.sum_horizontal(pl.all().null_count())).item()
    peer_seconds, peer_cells = _PEER[name, n_keys, k] if missing == "wildcard" else (None, None)
    faster = f"{peer_seconds / seconds:.0f}x" if peer_seconds else ""
    fewer = f"{cells / peer_cells:.0%}" if peer_cells else ""
    return [name, f"{data.height:,}", n_keys, k, missing, f"{seconds:.2f}", f"{cells:,}",
            peer_seconds or "", peer_cells or "", faster, fewer]  # fmt: skip


def main() -> None:
    names = sys.argv[1:] or list(dict.fromkeys(name for name, _, _ in _PEER))
    small = table("testdata")
    for missing in ("wildcard", "strict"):  # compile
        case("testdata", small, 7, 3, missing)
    rows = []
    for name in names:
        data = table(name)
        for _, n_keys, k in [key for key in _PEER if key[0] == name]:
            rows += [case(name, data, n_keys, k, missing) for missing in ("wildcard", "strict")]
    header = ["data", "n", "keys", "k", "missing", "tacit, CPU s", "cells", "sdcMicro, CPU s",
              "sdcMicro, cells", "faster", "cells / sdcMicro"]  # fmt: skip
    print(markdown(header, rows))


if __name__ == "__main__":
    main()
