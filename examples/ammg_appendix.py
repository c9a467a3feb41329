"""Reproduce Appendix A and the three risks of section 4 of TFB (truta2003).

Ten patients; names and social security numbers are removed, Age is microaggregated in groups of 2,
and eight records are drawn. Methods are applied in order, so sampling may leave a group of one: the
risk report says so. Run with ``python examples/ammg_appendix.py``.
"""

from typing import Any

import tacit
from tacit import mask, risk

SEED = 1


def publish() -> tacit.Release:
    """Make the masked microdata of Appendix A."""
    patients = tacit.datasets.patients().with_roles(
        identifiers=["Name", "SSN"],
        keys=["Age", "State"],
        confidential=["Diagnosis", "Income", "Billing"],
    )
    plan = tacit.Plan([mask.Mdav(columns=["Age"], k=2), mask.Sample(fraction=0.8)])
    return plan.apply(patients, seed=SEED)


def section_4() -> dict[str, float]:
    """Return the probabilities of the example and of cases A and B, Eq. (4.10)."""
    ratios = {"example": 50_000, "case A": 10_000_000, "case B": 60_000_000}
    return {
        case: risk.identification_probability(inclusion=1e-4, n_released=20_000, ratio=ratio)
        for case, ratio in ratios.items()
    }


def show(title: str, frame: Any) -> None:
    """Print a frame as a plain table."""
    rows = [frame.columns, *(map(str, row) for row in frame.iter_rows())]
    cells = [list(row) for row in rows]
    widths = [max(len(row[c]) for row in cells) for c in range(len(cells[0]))]
    print(f"\n{title}")
    for row in cells:
        print("  " + "  ".join(cell.ljust(w) for cell, w in zip(row, widths, strict=True)).rstrip())


def main() -> None:
    """Print the tables and the risks."""
    release = publish()
    show("Table A.1: the initial microdata", release.original.frame)
    show("Masked microdata", release.frame)
    print("\nWhat was done")
    for number, step in enumerate(release.steps, 1):
        print(f"  {number}. {step.description}")
    found = risk.IdentificationRisk().measure(release.original, release)
    print(f"\nRisk: {found.explanation}")
    print(f"  sampling factor {found.details['sampling_factor']:.1f}")
    for warning in found.warnings:
        print(f"  note: {warning}")
    print("\nSection 4, Eq. (4.10): 20 000 records of a population of 200 000 000")
    for case, probability in section_4().items():
        print(f"  {case:8} {100 * probability:8.4f} %")


if __name__ == "__main__":
    main()
