"""Data beyond memory: risk of Parquet files in DuckDB, plans in blocks, a plan on Spark.

``python benchmarks/bench_scale.py`` measures up to 10^7 records; ``--largest 100000000`` goes to
10^8 (about 1 GB of Parquet in the folder of TMPDIR, deleted afterwards). Each case is a process
of its own, so that its peak of memory is its own. ``--only spark --records N`` runs the realistic
plan on N records.
"""

# ruff: noqa: S608 - the statements hold nothing but our own names
from __future__ import annotations

import argparse
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from measuring import growth_exponent, markdown, peak_megabytes

MEMORY = "3GB"
KEYS = ["region", "sex", "age", "education", "occupation"]


def make(path: Path, n_records: int) -> None:
    """Write a file of persons with five keys, three amounts and a weight."""
    import duckdb

    connection = duckdb.connect(config={"memory_limit": "1GB", "threads": 2})
    connection.execute("SELECT setseed(0.5)")
    connection.execute(
        f"""COPY (SELECT i AS person_id,
        (hash(i) % 200)::SMALLINT AS region,
        (hash(i + 1) % 2)::TINYINT AS sex,
        (18 + (hash(i + 2) % 36) + (hash(i + 3) % 36))::TINYINT AS age,
        ['none', 'primary', 'secondary', 'bachelor', 'master'][(1 + hash(i + 4) % 5)::BIGINT]
        AS education,
        (hash(i + 5) % 12 * (hash(i + 6) % 3 > 0)::INT)::TINYINT AS occupation,
        ['single', 'married', 'divorced', 'widowed'][(1 + hash(i + 11) % 4)::BIGINT] AS marital,
        round(exp(9 + (hash(i + 7) % 1000) / 400.0), 0) AS income,
        round(exp(6 + (hash(i + 7) % 1000) / 400.0 + (hash(i + 8) % 1000) / 900.0), 0) AS taxes,
        (hash(i + 9) % 61)::DOUBLE AS hours,
        (1 + hash(i + 10) % 20)::DOUBLE AS weight
        FROM range({n_records}) t(i)) TO '{path}' (FORMAT parquet)"""
    )


def case_risk(path: str, memory: str) -> dict[str, Any]:
    """Measure k-anonymity and individual risk of all records."""
    from tacit import risk
    from tacit.core.engine import collecting_at_most
    from tacit.io.beyond_memory import open_parquet, values_within

    started, cpu = time.perf_counter(), time.process_time()
    with collecting_at_most(values_within(memory)):
        data = open_parquet(path, memory=memory).with_roles(keys=KEYS, weight="weight")
        anonymity = risk.KAnonymity().measure(data)
        risks = risk.IndividualRisk().measure(data)
    return {
        "records": data.n_records,
        "classes": anonymity.details["classes"],
        "k": anonymity.value,
        "expected": risks.details["expected_reidentifications"],
        **_spent(started, cpu),
    }


def case_limit(path: str, memory: str) -> dict[str, Any]:
    """Run the bare group-by that both measures rest on; it also checks what they say."""
    import duckdb

    started, cpu = time.perf_counter(), time.process_time()
    connection = duckdb.connect(config={"memory_limit": "1GB"})
    grouped = f"SELECT count(*) AS n, sum(weight) FROM '{path}' GROUP BY {', '.join(KEYS)}"
    classes, k = connection.sql(f"SELECT count(*), min(n) FROM ({grouped})").fetchall()[0]
    return {"classes": classes, "k": k, **_spent(started, cpu)}


def realistic_plan() -> Any:
    import tacit
    from tacit import mask

    return tacit.Plan(
        [
            mask.Recode(column="age", width=10),
            mask.TopCode(column="hours", quantile=0.95, replacement="mean"),
            mask.LocalSuppression(
                keys=["region", "sex", "age", "education"], k=3, missing="strict"
            ),
            mask.Mdav(columns=["income", "taxes"], k=3),
            mask.Pram(columns=["marital"], stay=0.8),
        ]
    )


def case_plan(path: str, memory: str) -> dict[str, Any]:
    """Apply the realistic plan in blocks through DuckDB and save the release."""
    from tacit.core.engine import collecting_at_most
    from tacit.io.beyond_memory import open_parquet, values_within

    started, cpu = time.perf_counter(), time.process_time()
    with collecting_at_most(values_within(memory)), tempfile.TemporaryDirectory() as folder:
        data = open_parquet(path, memory=memory).with_roles(
            identifiers=["person_id"], keys=["region", "sex", "age", "education"], weight="weight"
        )
        release = realistic_plan().apply(data, seed=1, blocks=10_000)
        steps = {s.public_note.split(":")[0]: round(s.seconds, 1) for s in release.steps[1:]}
        release.save(Path(folder) / "out", format="parquet")
        found = _attacked(f"{folder}/out/public/data.parquet")
    return {"records": data.n_records, **found, "steps": steps, **_spent(started, cpu)}


def _attacked(files: str) -> dict[str, Any]:
    """Attack the released files: the smallest classes of keys and of microaggregated values.

    The fingerprint is of all records in any order, so that two engines can be compared.
    """
    import duckdb

    connection = duckdb.connect(config={"memory_limit": "1GB"})
    classes = "SELECT min(n) FROM (SELECT count(*) n FROM read_parquet('{}') GROUP BY {})"
    columns = ("region", "sex", "age", "education", "marital", "weight::BIGINT")
    exact = ", ".join(f"{name}::VARCHAR" for name in columns)
    rounded = ", ".join(f"round({name}, 4)" for name in ("income", "taxes", "hours"))
    whole = f"SELECT sum(hash({exact}, {rounded}) % 1000000007) FROM read_parquet('{files}')"
    return {
        "smallest": [
            connection.sql(classes.format(files, columns)).fetchall()[0][0]
            for columns in ("region, sex, age, education", "income, taxes")
        ],
        "fingerprint": str(connection.sql(whole).fetchall()[0][0]),
    }


def case_spark(path: str, memory: str) -> dict[str, Any]:
    """Apply the realistic plan on Spark in local mode and measure the result there."""
    from pyspark.sql import SparkSession

    import tacit
    from tacit import risk

    os.environ.setdefault("PYSPARK_PYTHON", sys.executable)  # workers need tacit too
    session = (
        SparkSession.builder.master("local[2]").config("spark.driver.memory", "4g")
        .config("spark.ui.enabled", "false").config("spark.ui.showConsoleProgress", "false")
        .config("spark.log.level", "ERROR")
        .config("spark.sql.shuffle.partitions", "32").config("spark.driver.host", "127.0.0.1")
        .getOrCreate()
    )  # fmt: skip
    started, cpu = time.perf_counter(), time.process_time()
    keys = ["region", "sex", "age", "education"]
    data = tacit.Microdata.of(session.read.parquet(path)).with_roles(
        identifiers=["person_id"], keys=keys, weight="weight"
    )
    release = realistic_plan().apply(data, seed=1, blocks=10_000)
    out = tempfile.mkdtemp(prefix="tacit-spark-")
    release.frame.write.mode("overwrite").parquet(f"{out}/released")
    applied = time.perf_counter() - started
    anonymity = risk.KAnonymity().measure(data, release).value
    expected = risk.IndividualRisk().measure(data, release).details["expected_reidentifications"]
    steps = {s.public_note.split(":")[0]: round(s.seconds, 1) for s in release.steps[1:]}
    n_records = session.read.parquet(f"{out}/released").count()
    spent = _spent(started, cpu) | _family()
    session.stop()
    found = _attacked(f"{out}/released/*.parquet")
    shutil.rmtree(out, ignore_errors=True)
    return {"records": n_records, "k": anonymity, "expected": expected, **found,
            "steps": steps, "applied": round(applied, 1), **spent}  # fmt: skip


def _family() -> dict[str, float]:
    """CPU seconds of this process and all below it, ended ones too, and the sum of their peaks."""
    parents, ticks, peaks = {}, {}, {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            fields = (folder / "stat").read_text().rpartition(")")[2].split()
            status = (folder / "status").read_text().splitlines()
        except OSError:
            continue
        one = int(folder.name)
        parents[one] = int(fields[1])
        ticks[one] = sum(map(int, fields[11:15]))
        peaks[one] = sum(int(x.split()[1]) for x in status if x.startswith("VmHWM"))
    mine = {os.getpid()}
    while more := {one for one, parent in parents.items() if parent in mine} - mine:
        mine |= more
    seconds = sum(ticks[one] for one in mine) / os.sysconf("SC_CLK_TCK")
    return {"cpu": round(seconds, 1), "megabytes": round(sum(peaks[one] for one in mine) / 1024)}


def case_loss(path: str, memory: str) -> dict[str, Any]:
    """Compare the sum of squared errors of MDAV on the whole file and in two kinds of blocks."""
    import numpy as np

    import tacit
    from tacit import mask
    from tacit.mask._blocks import split_into_blocks
    from tacit.mask._grouped import group_means, standardised
    from tacit.mask.mdav import mdav_groups

    data = tacit.datasets.census(20_000, seed=1)
    columns = ["income", "taxes", "age", "hours"]
    values = standardised(data.numeric(columns))
    total = ((values - values.mean(axis=0)) ** 2).sum()

    def loss(parts: Any) -> float:
        error = 0.0
        for part in parts:
            means = group_means(values[part], mdav_groups(values[part], 5, standardise=False))
            error += ((values[part] - means) ** 2).sum()
        return round(100 * error / total, 3)

    rng, everyone, found = np.random.default_rng(1), np.arange(len(values)), {}
    found["whole file"] = loss([everyone])
    for size in (500, 2_000, 10_000):
        shuffled = np.array_split(rng.permutation(everyone), len(values) // size)
        spaced = split_into_blocks(values, size)
        plan = tacit.Plan([mask.Mdav(columns=columns, k=5)])
        released = plan.apply(data, seed=1, blocks=size).data.numeric(columns)
        scaled = (released - data.numeric(columns)) / data.numeric(columns).std(axis=0, ddof=1)
        found[f"{size:,}"] = [
            loss(shuffled), loss(spaced), round(100 * float((scaled**2).sum() / total), 3)
        ]  # fmt: skip
    return found


def _spent(started: float, cpu: float) -> dict[str, float]:
    return {
        "seconds": round(time.perf_counter() - started, 1),
        "cpu": round(time.process_time() - cpu, 1),
        "megabytes": round(peak_megabytes()),
    }


def run(case: str, path: str = "-", memory: str = MEMORY) -> dict[str, Any]:
    """Run a case in a process of its own."""
    done = subprocess.run(
        [sys.executable, __file__, "--case", case, path, memory],
        capture_output=True, text=True, check=False,
    )  # fmt: skip
    if done.returncode:
        raise SystemExit(done.stderr[-2000:])
    return dict(json.loads(done.stdout.strip().splitlines()[-1]))


def risk_table(largest: int) -> None:
    sizes = [n for n in (10**6, 10**7, 10**8) if n <= largest]
    rows, cpus = [], []
    with tempfile.TemporaryDirectory(prefix="tacit-scale-") as folder:
        for n in sizes:
            path = Path(folder) / "persons.parquet"
            make(path, n)
            found, bare = run("risk", str(path)), run("limit", str(path))
            if (found["classes"], found["k"]) != (bare["classes"], bare["k"]):
                raise SystemExit(f"not what SQL counts: {found}, {bare}")
            nanoseconds = round(1e9 * found["cpu"] / n)
            spent = (found["seconds"], found["cpu"], nanoseconds, found["megabytes"], bare["cpu"])
            rows.append((f"{n:,}", f"{found['classes']:,}", *spent))
            cpus.append(found["cpu"])
            path.unlink()
            print(rows[-1], file=sys.stderr)
    header = ("records", "classes", "s", "CPU s", "ns a record", "peak MB", "bare group-by, CPU s")
    print(markdown(header, rows))
    if len(sizes) > 1:
        print(f"\ngrowth exponent {growth_exponent(sizes, cpus):.2f}\n")


def main() -> None:
    """Print the tables."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--case", nargs=3)
    parser.add_argument("--largest", type=int, default=10**7)
    parser.add_argument("--only", choices=["risk", "loss", "plan", "spark"])
    parser.add_argument("--records", type=int, default=10**6)
    given = parser.parse_args()
    if given.case:
        case, path, memory = given.case
        print(json.dumps(globals()[f"case_{case}"](path, memory)))
        return
    if given.only in (None, "risk"):
        risk_table(given.largest)
    if given.only in (None, "loss"):
        found = run("loss")
        rows = [(size, *losses) for size, losses in found.items() if size != "whole file"]
        print(markdown(("records in a block", "random", "halves", "as plans do it"), rows))
        print(f"\nwhole file: {found['whole file']} (percent of the sum of squares)\n")
    for case in ("plan", "spark"):
        if given.only in (None, case):
            with tempfile.TemporaryDirectory(prefix="tacit-scale-") as folder:
                path = Path(folder) / "persons.parquet"
                make(path, given.records)
                print(case, json.dumps(run(case, str(path)), indent=1))


if __name__ == "__main__":
    main()
