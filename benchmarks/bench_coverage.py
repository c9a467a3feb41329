"""Coverage of the intervals from synthetic releases, made and analysed as users do.

Run as ``python benchmarks/bench_coverage.py [repetitions]``; a thousand take about five minutes.
"""

from __future__ import annotations

import sys
from pathlib import Path

from measuring import markdown

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "tests" / "mask" / "synthesis"))

from coverage import QUANTITIES, coverage_of_releases


def main(repetitions: int) -> None:
    rows = []
    for rule, m in (("simple", 3), ("proper", 3), ("partially", 5), ("fully", 25)):
        found = coverage_of_releases(rule, repetitions, m=m, seed=11)
        rows.append([rule, str(m), *(f"{100 * share:.1f}" for share in found)])
        print(rows[-1], flush=True)
    print(markdown(["rule", "data sets", *QUANTITIES], rows))


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 1000)
