"""Run a plan on a local cluster of two executors, kill one while tasks run, print what came out.

A program of its own, because a process has one Spark. Used by test_executor_killed.py.
"""

import json
import os
import signal
import sys
import threading
import time
from pathlib import Path

import polars as pl
from pyspark.sql import SparkSession

import tacit
from tacit import mask

PLAN = tacit.Plan(
    [
        mask.LocalSuppression(keys=["region", "sex", "age"], k=3, missing="strict"),
        mask.Mdav(columns=["income", "taxes"], k=3),
        mask.Pram(columns=["marital"], stay=0.7),
    ]
)


def executors() -> list[int]:
    """Return the processes of this program's own executors."""
    mine, found = {os.getpid()}, []
    parents = {}
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            stat = (folder / "stat").read_text()
            command = (folder / "cmdline").read_bytes()
        except OSError:
            continue
        parents[int(folder.name)] = int(stat.rpartition(")")[2].split()[1])
        if b"CoarseGrainedExecutorBackend" in command and b"java" in command.split(b"\0")[0]:
            found.append(int(folder.name))

    def is_mine(process: int) -> bool:
        while process in parents:
            if process in mine:
                return True
            process = parents[process]
        return False

    return [p for p in found if is_mine(p)]


def kill_one(context, report: dict, done: threading.Event) -> None:
    """Wait until tasks run on two executors, then kill one of them."""
    tracker = context.statusTracker()
    while not done.is_set():
        active = [tracker.getStageInfo(s) for s in tracker.getActiveStageIds()]
        running = executors()
        if len(running) == 2 and sum(s.numActiveTasks for s in active if s) >= 2:
            os.kill(running[0], signal.SIGKILL)
            report["killed"] = running[0]
            return
        time.sleep(0.01)


def main() -> None:
    session = (
        SparkSession.builder.master("local-cluster[2,1,1024]")
        .config("spark.ui.enabled", "false")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.log.level", "OFF")
        .config("spark.sql.shuffle.partitions", "4")
        .config("spark.executor.memory", "512m")
        .config("spark.executorEnv.PYTHONPATH", os.pathsep.join(sys.path))
        .getOrCreate()
    )
    data = tacit.datasets.census(6000, missing=0.02)
    frame = session.createDataFrame(data.frame.to_arrow()).repartition(4)
    frame.count()
    report, done = {}, threading.Event()
    killer = threading.Thread(target=kill_one, args=(session.sparkContext, report, done))
    killer.start()
    original = tacit.Microdata.of(frame).with_schema(data.schema)
    release = PLAN.apply(original, seed=9, blocks=500)
    found = pl.from_arrow(release.frame.toArrow())
    done.set()
    killer.join()
    expected = PLAN.apply(data, seed=9, blocks=500).frame
    order = expected.columns
    numbers = pl.col("income", "taxes").round(6)
    found = found.select(order).with_columns(numbers).sort(order)
    report["records"] = found.height
    report["same"] = found.rows() == expected.with_columns(numbers).sort(order).rows()
    report["killed_is_gone"] = report.get("killed") not in executors()
    sys.stdout.write(json.dumps(report) + "\n")
    session.stop()


if __name__ == "__main__":
    main()
