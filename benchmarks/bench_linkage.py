"""Record linkage: DLD of 100,000 records in under a minute, PLD of 30,000 in under 20 seconds.

Standard normal data with 10 attributes and noise of several levels: small noise makes small balls
that the index prunes, large noise makes balls in which a nearer record is found at once, and the
hard case lies between. The brute-force column is what all pairs would take, from a sample of
targets. PLD uses nine categorical keys, 15 % of the cells redrawn, as in shared/spec/peers-*.md.
"""

from __future__ import annotations

import tempfile
from pathlib import Path

import numpy as np
import peers
import polars as pl
from measuring import cpu_seconds, growth_exponent, markdown, peak_megabytes

from tacit import risk
from tacit.risk._linkage_space import Space
from tacit.risk.distance_linkage import nearest_own

_LIMIT = 200
_CATEGORIES = (2, 40, 5, 7, 16, 30, 7, 14, 2)
"""Sizes of nine keys like those of the Adult file."""


def brute_force_seconds(before: np.ndarray, after: np.ndarray, n_sample: int = 50) -> float:
    """CPU time of all distances, from a few targets."""
    rows = before[:n_sample]
    taken = cpu_seconds(lambda: [((row - after) ** 2).sum(axis=1).argmin() for row in rows])
    return taken / n_sample * len(before)


def links(before: np.ndarray, after: np.ndarray) -> np.ndarray:
    at = np.arange(len(before))
    return nearest_own(Space(before, after, before.shape[1], np.zeros(before.shape[1])), at, at)


def distance_rows() -> list[list[str]]:
    rng = np.random.default_rng(1)
    links(rng.normal(size=(100, 10)), rng.normal(size=(100, 10)))  # compile
    rows = []
    for level in (0.05, 0.2, 0.3, 0.5, 1.0):
        sizes, seconds = (10_000, 30_000, 100_000), []
        for n in sizes:
            before = rng.standard_normal((n, 10))
            after = before + level * rng.standard_normal(before.shape)
            found: list[np.ndarray] = []
            seconds.append(cpu_seconds(lambda b=before, a=after, f=found: f.append(links(b, a))))
            sample = rng.choice(n, 50, replace=False)
            nearest = [((before[i] - after) ** 2).sum(axis=1).argmin() for i in sample]
            assert np.array_equal(found[0][sample], np.array(nearest) == sample)
            brute = brute_force_seconds(before, after)
            rows.append([f"{level:g}", f"{n:,}", f"{seconds[-1]:.2f}", f"{brute:.0f}",
                         f"{100 * found[0].mean():.2f} %"])  # fmt: skip
        rows.append([f"{level:g}", "growth", f"n^{growth_exponent(sizes, seconds):.2f}", "", ""])
    return rows


def probabilistic_rows() -> list[list[str]]:
    rng = np.random.default_rng(2)
    rows = []
    for estimation in ("known", "em"):
        for n in (100, 2_000, 10_000, 30_000):
            frames, names = _two_files(n, rng)
            measure = risk.ProbabilisticLinkage(attributes=names, estimation=estimation)
            found: list[float] = []
            taken = cpu_seconds(lambda m=measure, f=frames, o=found: o.append(m.measure(*f).value))
            if n > 100:  # the first compiles
                rows.append([estimation, f"{n:,}", f"{taken:.2f}", f"{100 * found[0]:.2f} %"])
    return rows


def live_rows() -> list[list[str]]:
    """Link all pairs of two small files with the peers too, which need hours for large ones."""
    rng, rows = np.random.default_rng(2), []
    for n in (500, 1_000, 2_000):
        frames, names = _two_files(n, rng)
        measure = risk.ProbabilisticLinkage(attributes=names, estimation="em")
        measure.measure(*(frame.head(100) for frame in frames))  # compile
        found: list[float] = []
        ours = cpu_seconds(lambda m=measure, f=frames, o=found: o.append(m.measure(*f).value))
        sides = [
            f.rename({c: f"{side}:{c}" for c in names})
            for f, side in zip(frames, "ab", strict=True)
        ]
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "pairs.parquet"
            pl.concat(sides, how="horizontal").write_parquet(path)
            for peer in ("recordlinkage", "splink"):
                theirs = peers.run(peer, path, path.parent, _LIMIT)
                faster = f"{theirs.seconds / ours:,.0f}x" if theirs.seconds else ""
                linked = "" if theirs.answer is None else f"{100 * theirs.answer:.1f} %"
                rows.append([f"{n:,}", f"{ours:.3f}", f"{100 * found[0]:.1f} %",
                             f"{peer} {peers.version(peer)}", str(theirs), faster,
                             linked])  # fmt: skip
    return rows


def _two_files(n: int, rng: np.random.Generator) -> tuple[list[pl.DataFrame], list[str]]:
    """Return a file of nine keys and the same with 15 % of the cells redrawn."""
    before = np.column_stack([rng.zipf(1.5, n) % size for size in _CATEGORIES])
    redrawn = rng.random(before.shape) < 0.15
    after = np.where(redrawn, rng.permuted(before, axis=0), before)
    names = [f"key{c}" for c in range(len(_CATEGORIES))]
    return [pl.DataFrame(x, schema=names).cast(pl.String) for x in (before, after)], names


def main() -> None:
    header = ["noise", "n", "index, CPU s", "all pairs in NumPy, CPU s", "linked"]
    print(markdown(header, distance_rows()))
    print()
    print(markdown(["m from", "n", "CPU s", "linked"], probabilistic_rows()))
    print()
    live = ["n", "tacit, CPU s", "linked", "peer", "peer, CPU s", "faster", "linked by it"]
    print(markdown(live, live_rows()))
    print(f"\npeak memory: {peak_megabytes():,.0f} MB")


if __name__ == "__main__":
    main()
