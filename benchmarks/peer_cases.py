"""What the peers do, run by the Python of .venv-peers: one case per call, its figures as JSON.

    .venv-peers/bin/python benchmarks/peer_cases.py CASE FILE.parquet HIERARCHIES LIMIT
    .venv-peers/bin/python benchmarks/peer_cases.py CASE - HIERARCHIES LIMIT

The second reads names of files line by line and runs each when it comes, for the harness. CPU
seconds of the peer's own call, the file being in memory, which ends at the limit; nothing of tacit
is imported here. A case returns its work, and may return with it what is to be said of the result.
"""

import contextlib
import io
import json
import logging
import os
import resource
import subprocess
import sys
import tempfile
import time
import types
from pathlib import Path

import pandas as pd
from measuring import pairs_distance, peak_megabytes

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


def sdv_copula(data: pd.DataFrame, folder: Path):
    _without_networks()
    from sdv.metadata import Metadata
    from sdv.single_table import GaussianCopulaSynthesizer

    tables = {"people": data}

    def work():
        metadata = Metadata.detect_from_dataframes(tables, infer_keys=None)
        model = GaussianCopulaSynthesizer(metadata)
        model.fit(tables)
        made = model.sample(len(data))
        return made["people"] if isinstance(made, dict) else made

    def told(made):
        sides = [{c: t[c].tolist() for c in data.columns} for t in (data, made)]
        return f"pairs differ by {pairs_distance(*sides):.3f}"

    return work, told


def _without_networks() -> None:
    """Let SDV start without its neural networks, which the copula does not use."""

    class Absent(types.ModuleType):
        __path__ = ()

        def __getattr__(self, name):
            if name.startswith("__"):
                raise AttributeError(name)
            return type(name, (), {})

    names = ("ctgan", "ctgan.synthesizers", "ctgan.synthesizers._utils", "torch",
             "ctgan.synthesizers.ctgan", "ctgan.synthesizers.tvae", "deepecho",
             "deepecho.sequences")  # fmt: skip
    try:
        import ctgan  # noqa: F401
    except ImportError:
        sys.modules.update({name: Absent(name) for name in names})


def acro_table(data: pd.DataFrame, folder: Path):
    from acro import ACRO

    logging.disable(logging.CRITICAL)
    session = ACRO(suppress=True)

    def work():
        return session.crosstab(
            data["region"], data["branch"], values=data["turnover"], aggfunc="sum"
        )

    def told(table):
        n_cells = len(data[["region", "branch"]].drop_duplicates())
        return f"{n_cells - int(table.notna().sum().sum()):,} cells sensitive"

    return work, told


def pytauargus_modular(data: pd.DataFrame, folder: Path):
    from pytauargus import protect

    place = Path(tempfile.mkdtemp())  # the engine leaves its logs where it runs
    os.chdir(place)
    by = [c for c in data.columns if "/" not in c and c != "turnover"]
    above = {c: [a for a in data.columns if a.startswith(f"{c}/")] for c in by}
    trees = {c: _hierarchy_file(data, [*above[c], c], place / f"{c}.hrc") for c in by if above[c]}
    columns = {c: data[c].astype(str).tolist() for c in by}
    columns["turnover"] = data["turnover"].tolist()

    def work():
        return protect(
            columns, tables=[by], response="turnover", safety_rules="P(10,1)|FREQ(3,10)",
            suppress="MOD(1)", totcode="Total", hrc=trees or None, hierleadstring="@",
        )  # fmt: skip

    def told(found):
        hidden = [r for r in found.tables[0].rows if r["status"] in ("U", "M")]
        return [[str(r[c]).strip() for c in by] for r in hidden]

    return work, told


def _hierarchy_file(data: pd.DataFrame, levels: list[str], path: Path) -> str:
    """Write the codes of nested levels as the engine reads them, children below their parents."""
    lines, before = [], [None] * len(levels)
    for row in data[levels].drop_duplicates().sort_values(levels).itertuples(index=False):
        for depth, code in enumerate(row):
            if code != before[depth]:
                lines.append("@" * depth + str(code))
                before[depth:] = [code, *[None] * (len(levels) - depth - 1)]
    path.write_text("\n".join(lines) + "\n", encoding="ascii")
    return str(path)


_PARTY = """
import sys, time, logging
logging.disable(logging.WARNING)
import numpy as np
from mpyc.runtime import mpc
n = int(sys.argv[-1])
async def main():
    await mpc.start()
    m = len(mpc.parties)
    x = np.arange(n) + mpc.pid
    busy = time.process_time()
    shares = mpc.input(mpc.SecInt(64).array(x))
    total = shares[0]
    for other in shares[1:]:
        total = total + other
    out = await mpc.output(total)
    busy = time.process_time() - busy
    right = bool((np.asarray(out).astype(np.int64) == m * np.arange(n) + m * (m - 1) // 2).all())
    with open(sys.argv[-2] + str(mpc.pid), "w") as file:
        print(busy, right, file=file)
    await mpc.shutdown()
mpc.run(main())
"""


def mpyc_sum(data: pd.DataFrame, folder: Path):
    """Let three processes add vectors that they do not show each other."""

    def work():
        with tempfile.TemporaryDirectory() as place:
            script = Path(place) / "sum.py"
            script.write_text(_PARTY, encoding="ascii")
            line = [sys.executable, "-W", "ignore", str(script), "-M3", f"{place}/out-"]
            subprocess.run([*line, str(len(data))], capture_output=True, check=True)
            return _said(Path(place), 3)

    return work, lambda said: said


def _said(place: Path, n_parties: int) -> dict:
    """Wait for what all parties wrote, and bring it together: CPU seconds are of all of them."""
    end = time.monotonic() + 60
    while time.monotonic() < end:
        lines = [path.read_text(encoding="ascii").split() for path in place.glob("out-*")]
        if len(lines) == n_parties and all(len(line) == 2 for line in lines):
            right = all(line[1] == "True" for line in lines)
            seconds = sum(float(line[0]) for line in lines)
            answer = "exact" if right else "WRONG"
            return {"seconds": seconds, "peak": None, "answer": answer}
        time.sleep(0.05)
    raise TimeoutError("a party did not end")


CASES = {
    "acro": acro_table,
    "mpyc": mpyc_sum,
    "pytauargus": pytauargus_modular,
    "sdv": sdv_copula,
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
    case_found = CASES[case](pd.read_parquet(path), folder)
    work, told = case_found if isinstance(case_found, tuple) else (case_found, None)
    started = time.process_time()
    with contextlib.redirect_stdout(io.StringIO()):  # anjana talks
        answer = work()
    seconds = time.process_time() - started
    found = {"seconds": seconds, "peak": peak_megabytes(), "answer": answer}
    if told is not None:
        said = told(answer)
        found |= said if isinstance(said, dict) else {"answer": said}
    return found


def main() -> None:
    case, path, folder, limit = sys.argv[1], sys.argv[2], Path(sys.argv[3]), int(sys.argv[4])
    for name in sys.stdin if path == "-" else [path]:
        print(json.dumps(measured(case, Path(name.strip()), folder, limit)), flush=True)


if __name__ == "__main__":
    main()
