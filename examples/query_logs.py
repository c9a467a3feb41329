"""Protect a query log: a made-up one in AOL's format, from the file to the attack on the release.

It works in a scratch folder and prints what a publisher and an intruder would see.
"""

import os
import tempfile

import tacit
from tacit import logs
from tacit.logs.saving import write_frame


def protect() -> None:
    """Give users with similar interests one common log, so that at least three look alike."""
    write_frame(tacit.datasets.query_log(300).frame, "log.txt.gz")
    log = logs.read("log.txt.gz")
    print(log)
    release = logs.anonymize(log, logs.demonstration(), k=3, levels=5)
    print(release)
    for reason, (queries, lines) in release.cleaned.removed.items():
        print(f"  removed, {reason}: {queries:,} queries, {lines:,} lines")
    for measurement in release.measure():
        print(f"  {measurement.title}: {measurement.text}")
    attack = logs.known_queries_risk(release, known=5).details
    print(
        f"  five known queries find {100 * attack['original']:.0f} % of users in the original log,"
    )
    print(f"  {100 * attack['after']:.0f} % in the released one")
    release.save("release")


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as scratch:
        os.chdir(scratch)
        protect()
