"""Exact MDAV against sdcMicro's C++ (figures quoted from shared/spec/peers-microdata.md).

Standard normal data, n x 10, as in the peers' recipe; CPU seconds. The bare scan is the limit that
an exact MDAV cannot pass without an index: reading the free records twice per pair of groups.
"""

from __future__ import annotations

import numpy as np
from measuring import cpu_seconds, growth_exponent, markdown

from tacit.mask._grouped import group_means
from tacit.mask.mdav import mdav_groups

_PEER = {(10_000, 3): 0.74, (10_000, 10): 0.25, (50_000, 3): 24.5, (50_000, 10): 7.8,
         (100_000, 3): 119.0, (100_000, 10): 35.5}  # fmt: skip


def bare_scan_seconds(values: np.ndarray, k: int) -> float:
    """CPU time of the two scans per pair of groups and nothing else, from one NumPy pass."""
    columns = np.ascontiguousarray(values.T)
    one = cpu_seconds(lambda: ((columns - columns[:, :1]) ** 2).sum(axis=0), repeats=5)
    n_pairs = len(values) / (2 * k)
    return 2 * n_pairs * one / 2  # on average half of the records are free


def main() -> None:
    mdav_groups(np.zeros((100, 10)), 3)  # compile
    rows = []
    for k in (3, 10):
        seconds = []
        sizes = (10_000, 50_000, 100_000)
        for n in sizes:
            values = np.random.default_rng(1).standard_normal((n, 10))
            seconds.append(cpu_seconds(lambda v=values, k=k: mdav_groups(v, k, standardise=False)))
            groups = mdav_groups(values, k, standardise=False)
            residual = values - group_means(values, groups)
            loss = 100 * np.sum(residual**2) / np.sum((values - values.mean(axis=0)) ** 2)
            peer, limit = _PEER[n, k], bare_scan_seconds(values, k)
            rows.append([f"{n:,}", k, f"{seconds[-1]:.2f}", peer, f"{peer / seconds[-1]:.0f}x",
                         f"{limit:.2f}", f"{loss:.4f}"])  # fmt: skip
        rows.append(["growth", k, f"n^{growth_exponent(sizes, seconds):.2f}", "", "", "", ""])
    header = ["n", "k", "tacit, CPU s", "sdcMicro, CPU s", "ratio", "bare NumPy scans, s",
              "100 SSE/SST"]  # fmt: skip
    print(markdown(header, rows))


if __name__ == "__main__":
    main()
