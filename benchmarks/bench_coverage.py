"""Coverage of the intervals from synthetic releases, made and analysed as users do.

Run as ``python benchmarks/bench_coverage.py [repetitions [rule ...]]``.
"""

from __future__ import annotations

import sys
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path
from typing import Any

from measuring import markdown

_TESTS = Path(__file__).resolve().parents[1] / "tests"
DATA_SETS = {"simple": 3, "proper": 3, "partially": 5, "fully": 25}


def simulation() -> Any:
    """Return the module that the tests use too; by its path, as a package has its name."""
    spec = spec_from_file_location("simulation", _TESTS / "mask" / "synthesis" / "coverage.py")
    module = module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def main(repetitions: int, rules: list[str]) -> None:
    rows, simulated = [], simulation()
    for rule in rules:
        found = simulated.coverage_of_releases(rule, repetitions, m=DATA_SETS[rule], seed=11)
        rows.append([rule, str(DATA_SETS[rule]), *(f"{100 * share:.1f}" for share in found)])
    print(markdown(["rule", "data sets", *simulated.QUANTITIES], rows))


if __name__ == "__main__":
    main(int((sys.argv[1:] or ["1000"])[0]), sys.argv[2:] or list(DATA_SETS))
