"""Coverage of the intervals from synthetic releases, made and analysed as users do.

Run as ``python benchmarks/bench_coverage.py [rule ...]``; all four take about six minutes.
"""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from measuring import markdown

_TESTS = Path(__file__).resolve().parents[1] / "tests"


def simulation() -> Any:
    """Return the module that the tests use too; by its path, as a package has its name."""
    spec = spec_from_file_location("simulation", _TESTS / "mask" / "synthesis" / "coverage.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(rules: list[str]) -> None:
    simulated = simulation()
    rows = []
    for rule in rules or simulated.RUNS:
        found = simulated.measured_coverage(rule)
        rows.append([rule, f"{simulated.RUNS[rule][0]}", *(f"{100 * c:.1f}" for c in found)])
    print(markdown(["rule", "data sets", *simulated.QUANTITIES], rows))


if __name__ == "__main__":
    main(sys.argv[1:])
