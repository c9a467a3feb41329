"""What the harness measures: each capability with its data, its peers and its limit.

The limit is the least work that any program for the task must do, written as barely as we can: a
scan of memory, a group-by, a sort, a linear programme. A quoted figure is CPU seconds of a peer
that pip does not install, from shared/spec/peers-*.md, measured there on the same kind of machine.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import lru_cache
from typing import Any

import numpy as np
import sum_tasks
import synthesis_tasks
import table_tasks
from capability import Capability, Work

COLUMNS = [f"x{j}" for j in range(10)]
SIZES = (10_000, 100_000, 1_000_000)


def _group_by(keys: int) -> Callable[[int], Work]:
    def build(n: int) -> Work:
        import polars as pl

        data = _survey(n)
        table, names = data.frame, list(data.schema.keys[:keys])
        return lambda: table.group_by(names).agg(pl.len(), pl.col("w").sum())

    return build


@lru_cache(2)
def _survey(n: int) -> Any:
    import recipes

    return recipes.survey(n)


def _scans(n: int) -> Work:
    """Time the two scans of each pair of groups, from a sample of them."""
    import time

    from numba import njit

    @njit
    def scan(X, x, out):
        for i in range(out.size):
            out[i] = 0.0
        for j in range(X.shape[0]):
            for i in range(out.size):
                out[i] += (X[j, i] - x[j]) ** 2

    X = np.random.default_rng(1).standard_normal((10, n // 2))
    out, k, n_sample = np.empty(n // 2), 3, 40

    def work() -> float:
        scan(X, X[:, 0], out)
        started = time.process_time()
        for _ in range(n_sample):
            scan(X, X[:, 0], out)
        return (time.process_time() - started) / n_sample * 2 * n / (2 * k)

    return work


def _loss(release: Any) -> str:
    before = np.random.default_rng(1).standard_normal((release.frame.height, 10))
    residual = before - release.frame.select(COLUMNS).to_numpy()
    share = 100 * np.sum(residual**2) / np.sum((before - before.mean(axis=0)) ** 2)
    return f"100 SSE/SST {share:.2f}"


def _blanked(release: Any) -> str:
    keys = list(_survey(release.frame.height).schema.keys[:7])
    n_cells = sum(release.frame.select(keys).null_count().row(0))
    return f"{n_cells:,} cells suppressed"


def _masking(name: str) -> Callable[[int], Work]:
    def build(n: int) -> Work:
        import bench_masking

        return getattr(bench_masking, name)(n)

    return build


def _measure(name: str, keys: int) -> Callable[[int], Work]:
    def build(n: int) -> Work:
        from tacit import risk

        data = _survey(n)
        measure = getattr(risk, name)(keys=list(data.schema.keys[:keys]))
        return lambda: measure.measure(data)

    return build


def _on_adult(name: str) -> Callable[[int], Work]:
    def build(n: int) -> Work:
        import bench_peers

        return getattr(bench_peers, name)(bench_peers.mixed(n))

    return build


@lru_cache(1)
def _nine(n: int) -> Any:
    import bench_generalise

    return bench_generalise.described(bench_generalise.records(n))


def _generalise_nine(n: int) -> Work:
    import tacit
    from tacit import mask

    data = _nine(n)
    return lambda: tacit.Plan([mask.Generalise(k=5, max_suppression=0.05)]).apply(data, seed=1)


def _nine_group_by(n: int) -> Work:
    table = _nine(n).frame
    return lambda: table.group_by(list(_nine(n).schema.keys)).len()


def _adult(n: int) -> Any:
    import bench_peers

    return bench_peers.mixed(n)


def _adult_group_by(n: int) -> Work:
    import polars as pl

    table = _adult(n)
    keys = table.columns[:7]
    return lambda: table.group_by(keys).agg(pl.len(), pl.col("occupation").n_unique())


def _adult_sort(n: int) -> Work:
    import polars as pl

    table = _adult(n)
    coded = table.select(pl.col(name).rank("dense") for name in table.columns[:7])
    return lambda: coded.sort(coded.columns)


def _columns(work: Callable[[np.ndarray], Any], p: int = 6) -> Callable[[int], Work]:
    def build(n: int) -> Work:
        values = np.random.default_rng(1).standard_normal((p, n))
        return lambda: [work(column) for column in values]

    return build


def _linked(n: int) -> Work:
    import bench_linkage

    rng = np.random.default_rng(1)
    before = rng.standard_normal((n, 5))
    after = before + 0.1 * rng.standard_normal(before.shape)
    return lambda: bench_linkage.links(before, after)


def _tree_of_scipy(n: int) -> Work:
    from scipy.spatial import cKDTree

    rng = np.random.default_rng(1)
    before = rng.standard_normal((n, 5))
    after = before + 0.1 * rng.standard_normal(before.shape)
    return lambda: cKDTree(after).query(before)


@lru_cache(4)
def _pairs(n: int) -> Any:
    import bench_linkage

    return bench_linkage._two_files(n, np.random.default_rng(2))


def _linked_by_em(n: int) -> Work:
    from tacit import risk

    frames, names = _pairs(n)
    measure = risk.ProbabilisticLinkage(attributes=names, estimation="em")
    return lambda: measure.measure(*frames)


def _both_files(n: int) -> Any:
    import polars as pl

    frames, names = _pairs(n)
    sides = [
        f.rename({c: f"{side}:{c}" for c in names}) for f, side in zip(frames, "ab", strict=True)
    ]
    return pl.concat(sides, how="horizontal")


def _all_pairs(n: int) -> Work:
    frames, _ = _pairs(n)
    a, b = (np.array([s.to_physical().hash().to_numpy() for s in f]) for f in frames)
    return lambda: sum(
        (x[:, None] == y[None]).sum(dtype=np.int64) for x, y in zip(a, b, strict=True)
    )


_SAFE = ["region", "age", "occupation", "sex", "marital"]


def _safe(n: int) -> Work:
    import tacit
    from tacit import tables

    data = tacit.datasets.census(n, seed=3)
    return lambda: tacit.Plan([tables.Safe(columns=_SAFE)]).apply(data, seed=1)


def _controlled_tables(n: int) -> Work:
    from itertools import combinations

    import tacit

    frame = tacit.datasets.census(n, seed=3).frame.select(_SAFE)
    chosen = [c for size in (1, 2, 3) for c in combinations(_SAFE, size)]
    return lambda: [frame.group_by(names).len() for names in chosen]


def _key_sets(n: int) -> Work:
    """Count the combinations of every one and every two keys."""
    from itertools import combinations

    data = _survey(n)
    keys, table = data.schema.keys[:8], data.frame
    sets = [c for size in (1, 2) for c in combinations(keys, size)]
    return lambda: [table.group_by(names).len() for names in sets]


def _share(measurement: Any) -> str:
    return f"{100 * measurement.value:.1f} % linked"


_SDC, _R = "sdcMicro 5.8.1 (R)", "cellKey 1.0.3 (R)"
GROUP_BY = "one group-by of the keys"
_NORMALS = np.random.default_rng(1).standard_normal

CAPABILITIES = [
    Capability(
        "mdav", "exact MDAV, 10 columns, k = 3", (10_000, 30_000, 100_000), _masking("mdav"),
        ("bare scans", _scans), quoted={_SDC: {10_000: 0.74, 100_000: 119.0}}, quality=_loss,
    ),
    Capability(
        "refined", "refined microaggregation, 10 columns, k = 3", SIZES, _masking("refined"),
        ("one sort of each column", _columns(np.sort, 10)),
        quoted={f"{_SDC}, MDAV": {10_000: 0.74, 100_000: 119.0}}, quality=_loss,
    ),
    Capability(
        "local-suppression", "local suppression, 7 keys, k = 3", SIZES, _masking("suppression"),
        (GROUP_BY, _group_by(7)), quoted={_SDC: {1_000_000: 30.4}}, quality=_blanked,
    ),
    Capability(
        "frequencies", "frequencies of 7 coded keys", SIZES, _masking("frequencies"),
        (GROUP_BY, _group_by(7)), quoted={_SDC: {1_000_000: 2.2}},
    ),
    Capability(
        "individual-risk", "individual risk, 7 keys", SIZES, _measure("IndividualRisk", 7),
        (GROUP_BY, _group_by(7)), quoted={_SDC: {1_000_000: 2.7}},
    ),
    Capability(
        "household-risk", "household risk, 7 keys", SIZES, _measure("HouseholdRisk", 7),
        (GROUP_BY, _group_by(7)), quoted={_SDC: {1_000_000: 14.7}},
    ),
    Capability(
        "suda", "SUDA2, 8 keys", (10_000, 30_000, 100_000), _measure("Suda", 8),
        ("group-bys of one and two keys", _key_sets), quoted={_SDC: {100_000: 0.43}},
    ),
    Capability(
        "log-linear-risk", "log-linear risk (proportional fitting), 7 keys", SIZES,
        _measure("LogLinearRisk", 7), (GROUP_BY, _group_by(7)),
    ),
    Capability(
        "syntactic-models", "k, l and t measured, 7 keys", SIZES, _on_adult("models"),
        (GROUP_BY, _adult_group_by), peers=("pycanon",), peer_sizes=(1_000, 3_000, 10_000),
        data=_adult, quality=lambda found: "k, l, t = " + ", ".join(map(str, found)),
    ),
    Capability(
        "generalise", "optimal full-domain generalisation, k = 5, 5 %", SIZES,
        _on_adult("generalise"), (GROUP_BY, _adult_group_by), peers=("anjana",), data=_adult,
        quality=lambda _: "optimal; the peer is greedy",
    ),
    Capability(
        "generalise-nine", "optimal full-domain generalisation, 9 keys, k = 5, 5 %",
        (10_000, 30_162, 1_000_000), _generalise_nine, (GROUP_BY, _nine_group_by),
        quoted={"ARX 3.9.2 (Java)": {30_162: 1.3, 1_000_000: 56.9}},
        quality=lambda _: "both optimal, same score", tiny=3_000,
    ),
    Capability(
        "mondrian", "Mondrian, k = 5, 7 keys", SIZES, _on_adult("mondrian"),
        ("one sort by the keys", _adult_sort), peers=("anonypy",),
        peer_sizes=(1_000, 3_000, 10_000), data=_adult,
    ),
    Capability(
        "distance-linkage", "distance linkage, all pairs, 5 numbers", SIZES, _linked,
        ("k-d tree of SciPy, nearest only", _tree_of_scipy),
        quality=lambda share: f"{100 * share.mean():.1f} % linked",
    ),
    Capability(
        "probabilistic-linkage", "probabilistic linkage by EM, all pairs, 9 keys",
        (500, 1_000, 2_000), _linked_by_em, ("bare comparison of all pairs", _all_pairs),
        peers=("recordlinkage", "splink"), data=_both_files, quality=_share,
    ),
    Capability(
        "synthesis", "synthesis by trees, census", (10_000, 30_000, 100_000),
        synthesis_tasks.trees, ("one scikit-learn tree per column", synthesis_tasks.bare_trees),
        peers=("sdv",), data=synthesis_tasks.people, quality=synthesis_tasks.distance,
    ),
    Capability(
        "copula", "synthesis by a Gaussian copula, census", (10_000, 30_000, 100_000),
        synthesis_tasks.copula, ("one sort of each column", _columns(np.sort, 13)),
        peers=("sdv",), data=synthesis_tasks.people, quality=synthesis_tasks.distance,
    ),
    Capability(
        "suppression-of-cells", "cell suppression, modular, p % and frequency",
        (1_701, 2_646, 13_125), table_tasks.suppress,
        ("one linear programme", table_tasks.one_programme), peers=("pytauargus",),
        data=table_tasks.businesses, quality=table_tasks.value, judge=table_tasks.judged,
        tiny=1_701,
    ),
    Capability(
        "suppression-without-clean-up", "cell suppression, modular, without clean-up",
        (1_701, 2_646, 13_125), table_tasks.suppress_quickly,
        ("one linear programme", table_tasks.one_programme), peers=("pytauargus",),
        data=table_tasks.businesses, quality=table_tasks.value, judge=table_tasks.judged,
        tiny=1_701,
    ),
    Capability(
        "rules-of-cells", "table of sums, three rules of sensitive cells", SIZES,
        table_tasks.checked, ("one group-by of the cells", table_tasks.bare_sums),
        peers=("acro",), data=table_tasks.enterprises, quality=table_tasks.flagged,
    ),
    Capability(
        "secure-sum", "sum of vectors of three parties, unseen", SIZES, sum_tasks.masked_sum,
        ("bare sum of the vectors", sum_tasks.bare_sum), peers=("mpyc",),
        data=sum_tasks.lengths, quality=sum_tasks.exactness,
    ),
    Capability(
        "audit", "audit of all suppressed cells", (1_701, 2_646, 13_125), table_tasks.audit,
        ("one linear programme", table_tasks.one_programme), quality=table_tasks.verdict,
        tiny=1_701,
    ),
    Capability(
        "cell-key", "cell keys, totals, records to table", (1_701, 2_646, 13_125),
        table_tasks.cell_key, ("one group-by of the cells", table_tasks.table_group_by),
        quoted={_R: {2_646: 20.0, 13_125: 87.0}}, tiny=1_701,
    ),
    Capability(
        "safe", "SAFE, 5 variables, tables up to 3", (1_000, 3_000, 10_000), _safe,
        ("group-bys of the controlled tables", _controlled_tables),
    ),
    Capability(
        "rank-swap", "rank swapping, 6 columns, 5 %", SIZES, _masking("rank_swap"),
        ("one sort of each column", _columns(np.argsort)), quoted={_SDC: {100_000: 1.5}},
    ),
    Capability(
        "pram", "PRAM, 3 columns", SIZES, _masking("pram"),
        ("random numbers", _columns(lambda c: _NORMALS(len(c)), 3)), quoted={_SDC: {100_000: 3.7}},
    ),
    Capability(
        "noise", "correlated noise, 6 columns", SIZES, _masking("noise"),
        ("random numbers", _columns(lambda c: _NORMALS(len(c)))), quoted={_SDC: {100_000: 0.13}},
    ),
    Capability(
        "shuffle", "shuffling, 3 given 3", SIZES, _masking("shuffle"),
        ("one sort of each column", _columns(np.argsort)), quoted={_SDC: {100_000: 3.4}},
    ),
    Capability(
        "record-swap", "record swapping, 3 levels", SIZES, _masking("record_swap"),
        ("one sort of each column", _columns(np.argsort)),
        quoted={_SDC: {100_000: 1.3, 1_000_000: 12.6}},
    ),
]  # fmt: skip
BY_KEY = {one.key: one for one in CAPABILITIES}
