"""Memory and time of a worker that takes in a large CSV file: what an upload costs."""

from __future__ import annotations

import argparse
import json
import resource
import subprocess
import sys
import tempfile
from pathlib import Path

PART = 200_000
"""Records that are made at a time."""


def made(path: Path, gigabytes: float) -> int:
    """Write made-up people until the file has its size, and return their number."""
    import numpy as np
    import polars as pl

    rng, n = np.random.default_rng(1), 0
    with path.open("wb") as file:
        while file.tell() < gigabytes * 1e9:
            part = pl.DataFrame(
                {
                    "id": np.arange(n, n + PART),
                    "name": pl.Series(rng.integers(0, 9**9, PART)).cast(pl.String) + " Müller",
                    "born": pl.Series(rng.integers(0, 20_000, PART)).cast(pl.Int32).cast(pl.Date),
                    "sex": rng.choice(["f", "m"], PART),
                    "region": rng.choice([f"Region {i}" for i in range(40)], PART),
                    "education": rng.integers(1, 9, PART),
                    "income": np.round(rng.lognormal(10, 1, PART), 2),
                    "taxes": np.round(rng.lognormal(8, 1, PART), 2),
                    "weight": np.round(rng.uniform(1, 3, PART), 4),
                }
            )
            missing = pl.when(pl.Series(rng.random(PART) < 0.02)).then(None)
            part = part.with_columns(missing.otherwise(pl.col("income")).alias("income"))
            file.write(part.write_csv(include_header=n == 0, null_value="NA").encode())
            n += PART
    return n


def taken_in(path: Path, folder: Path) -> None:
    """Take the file in as a worker does and print what it cost this process."""
    from tacit.app.tasks.import_task import _kept

    incoming = folder / "incoming"
    incoming.mkdir(parents=True)
    (incoming / "data.csv").symlink_to(path)
    _digest, described = _kept(folder, {"file": "data.csv"})
    used = resource.getrusage(resource.RUSAGE_SELF)
    print(json.dumps({
        "records": len(described), "peak MB": round(used.ru_maxrss / 1024),
        "CPU s": round(used.ru_utime + used.ru_stime, 1),
        "keys": described.schema.keys,
        "types": [str(t) for t in described.lazy.collect_schema().values()],
    }))  # fmt: skip


def main() -> None:
    """Make the file, take it in within a process of its own, print a line of a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--gigabytes", type=float, default=1.0)
    parser.add_argument("--file", type=Path, help="used by the process that is measured")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tacit-import-") as folder:
        if given.file is not None:
            taken_in(given.file, Path(folder))
            return
        path = Path(folder, "people.csv")
        made(path, given.gigabytes)
        ran = subprocess.run(
            [sys.executable, __file__, "--file", str(path)],
            check=True, capture_output=True, text=True,
        )  # fmt: skip
        found = json.loads(ran.stdout)
        print("| file GB | records | peak memory MB | CPU s |\n|---|---|---|---|")
        print(
            f"| {path.stat().st_size / 1e9:.2f} | {found['records']:,} | {found['peak MB']:,} "
            f"| {found['CPU s']} |"
        )
        print(found["types"])


if __name__ == "__main__":
    main()
