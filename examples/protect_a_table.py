"""Publish a table of business data: rules, suppression, attack, workbook and dossier.

It works in a scratch folder and prints what the house and an intruder would see.
"""

import os
import tempfile

import tacit
from tacit import tables
from tacit.report import TableRelease


def protect() -> None:
    """Protect turnover by district and legal form, and attack the result."""
    data = tacit.datasets.establishments(800)
    plan = tables.TablePlan(
        by=[["district", "legal_form"]],
        value="turnover",
        rule="freq(3)|p(10)",
        method=tables.SuppressModular(),
    )
    safe = plan.apply(data)
    print(safe.summary())
    naive = tables.ProtectedTable.suppressing(
        safe.original, safe.sensitive, safe.sensitive.cells, "the sensitive cells only"
    )
    print("\nWith the sensitive cells left out and no others:")
    print(naive.audit().summary())
    print("\nProtected:")
    checked = safe.verify()
    print(checked.summary())
    TableRelease(plan, safe, checked).save("turnover")
    print("\nFor readers:", ", ".join(sorted(os.listdir("turnover/public"))))  # noqa: PTH208


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        protect()
