"""What the peers do, run by the Python of .venv-peers: one case per call, its figures as JSON.

    .venv-peers/bin/python benchmarks/peer_cases.py CASE FILE.parquet HIERARCHIES LIMIT

CPU seconds of the peer's own call, the file being in memory, which ends at the limit; nothing of
ours is imported here.
"""

import contextlib
import io
import json
import resource
import sys
import time
from pathlib import Path

import pandas as pd

_KEYS = ["sex", "age", "race", "marital-status", "education", "native-country", "workclass"]
_CONFIDENTIAL = "occupation"


def _hierarchies(folder: Path) -> dict:
    """Levels of each key as anjana takes them: level number -> labels of all leaves."""
    found = {}
    for key in _KEYS:
        table = pd.read_csv(folder / f"adult_hierarchy_{key}.csv", sep=";", header=None, dtype=str)
        found[key] = {level: table[level].to_numpy() for level in table.columns}
    return found


def anjana_k5(data: pd.DataFrame, folder: Path):
    from anjana.anonymity import k_anonymity

    levels = _hierarchies(folder)
    return lambda: len(k_anonymity(data, [], _KEYS, 5, 5, levels))


def anonypy_k5(data: pd.DataFrame, folder: Path):
    import anonypy

    table = data.assign(age=data["age"].astype(int))
    for key in _KEYS:
        if key != "age":
            table[key] = table[key].astype("category")
    return lambda: len(anonypy.Preserver(table, _KEYS, _CONFIDENTIAL).anonymize_k_anonymity(5))


def pycanon_klt(data: pd.DataFrame, folder: Path):
    from pycanon import anonymity

    def work():
        k = anonymity.k_anonymity(data, _KEYS)
        diversity = anonymity.l_diversity(data, _KEYS, [_CONFIDENTIAL])
        return k, diversity, round(float(anonymity.t_closeness(data, _KEYS, [_CONFIDENTIAL])), 5)

    return work


CASES = {
    "anjana": anjana_k5,
    "anonypy": anonypy_k5,
    "pycanon": pycanon_klt,
}


def main() -> None:
    case, path, folder, limit = sys.argv[1], Path(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]
    resource.setrlimit(resource.RLIMIT_CPU, (int(limit), int(limit)))
    work = CASES[case](pd.read_parquet(path), folder)
    started = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):  # anjana talks
        answer = work()
    seconds = time.process_time() - started
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(json.dumps({"seconds": seconds, "peak": peak, "answer": answer}))


if __name__ == "__main__":
    main()
