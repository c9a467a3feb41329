"""From a confidential file to a release: the example of the README, ready to run.

It works in a scratch folder and prints the scorecard and the files of the release.
"""

import os
import tempfile
from pathlib import Path

import tacit
from tacit.mask import LocalSuppression, Recode


def make_release() -> None:
    """Protect the ten patients of Truta, Fotouhi and Barth-Jones (2003)."""
    data = tacit.read("patients.csv").with_roles(
        identifiers=["Name", "SSN"], keys=["Age", "State"], confidential=["Diagnosis", "Income"]
    )
    plan = tacit.Plan([Recode(column="Age", width=10), LocalSuppression(k=2, missing="strict")])
    release = plan.apply(data)  # identifiers are removed first; a secret seed is drawn and kept
    print(release.measure())  # risk and utility, the original beside the release
    release.save("release")  # public/ is for users, dossier/ stays inside


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        tacit.datasets.patients().frame.write_csv("patients.csv")
        make_release()
        for path in sorted(Path("release").rglob("*.*")):
            print(path)
