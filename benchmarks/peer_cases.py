"""What the peers do, run by the Python of .venv-peers: one case per call, its figures as JSON.

    .venv-peers/bin/python benchmarks/peer_cases.py CASE FILE.parquet HIERARCHIES LIMIT
    .venv-peers/bin/python benchmarks/peer_cases.py CASE - HIERARCHIES LIMIT

The second reads names of files line by line and runs each when it comes, for the harness. CPU
seconds of the peer's own call, the file being in memory, which ends at the limit; nothing of tacit
is imported here.
"""

import contextlib
import io
import json
import resource
import sys
import time
from pathlib import Path

import pandas as pd
from measuring import peak_megabytes

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


def _two_files(data: pd.DataFrame) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Divide columns named a:key0, b:key0, ... into the file to link and the file it came from."""
    return tuple(
        data.filter(like=f"{side}:").rename(columns=lambda name: name[2:]) for side in "ab"
    )


def recordlinkage_em(data: pd.DataFrame, folder: Path):
    import recordlinkage

    left, right = _two_files(data)

    def work():
        index = recordlinkage.Index()
        index.full()
        compare = recordlinkage.Compare()
        for key in left.columns:
            compare.exact(key, key)
        vectors = compare.compute(index.index(left, right), left, right)
        linker = recordlinkage.ECMClassifier()
        linker.fit(vectors)
        best = linker.prob(vectors).groupby(level=0).idxmax()
        return float(best.map(lambda pair: pair[0] == pair[1]).mean())

    return work


def splink_em(data: pd.DataFrame, folder: Path):
    import splink.comparison_library as comparisons
    from splink import Linker, SettingsCreator
    from splink.backends.duckdb import DuckDBAPI

    files = [table.assign(unique_id=range(len(table))) for table in _two_files(data)]
    keys = [name for name in files[0].columns if name != "unique_id"]

    def work():
        engine = DuckDBAPI()
        tables = [engine.register(f, table_name=n) for f, n in zip(files, "ab", strict=True)]
        settings = SettingsCreator(
            link_type="link_only",
            comparisons=[comparisons.ExactMatch(key) for key in keys],
            blocking_rules_to_generate_predictions=["1=1"],
        )
        linker = Linker(tables, settings, log_level="ERROR")
        true_pairs = ["l.unique_id = r.unique_id"]
        linker.training.estimate_probability_two_random_records_match(true_pairs, recall=1.0)
        linker.training.estimate_u_using_random_sampling(max_pairs=1e6)
        linker.training.estimate_parameters_using_expectation_maximisation("1=1")
        pairs = linker.inference.predict().as_pandas_dataframe()
        best = pairs.loc[pairs.groupby("unique_id_l")["match_weight"].idxmax()]
        return float((best["unique_id_l"] == best["unique_id_r"]).mean())

    return work


CASES = {
    "anjana": anjana_k5,
    "anonypy": anonypy_k5,
    "pycanon": pycanon_klt,
    "recordlinkage": recordlinkage_em,
    "splink": splink_em,
}


def measured(case: str, path: Path, folder: Path, limit: int) -> dict:
    """Run one case; the process is ended by the system when it is over the limit."""
    soft = int(time.process_time()) + limit + 1
    resource.setrlimit(resource.RLIMIT_CPU, (soft, resource.RLIM_INFINITY))
    work = CASES[case](pd.read_parquet(path), folder)
    started = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):  # anjana talks
        answer = work()
    seconds = time.process_time() - started
    return {"seconds": seconds, "peak": peak_megabytes(), "answer": answer}


def main() -> None:
    case, path, folder, limit = sys.argv[1], sys.argv[2], Path(sys.argv[3]), int(sys.argv[4])
    for name in sys.stdin if path == "-" else [path]:
        print(json.dumps(measured(case, Path(name.strip()), folder, limit)), flush=True)


if __name__ == "__main__":
    main()
