"""Records that change between two answers: found, and refused unless the operator allows it."""

import polars as pl
import pytest

from tacit.core.data import Microdata
from tacit.federated import Agency, Ledger, Policy, StoppedError
from tacit.federated.analysis import analysis_from
from tacit.federated.coordinator import Coordinator
from tacit.federated.record_digest import column_digests
from tacit.federated.simulator import InProcess, agencies

MEAN = analysis_from({"analysis": "mean", "variables": ["age"]})


def digest(values, key=b"key"):
    return column_digests(Microdata.of(pl.DataFrame({"x": values})), ["x"], key)["x"]


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ([1.0, 2.0, 3.0], [1.0, 2.0, 4.0]),
        ([1.0, 2.0, 3.0], [1.0, 2.0, None]),
        ([1, 2], [1, 2, 2]),
        (["a", "b"], ["a", "c"]),
        (["a", "b", None], ["a", "b", "b"]),
        (["ü"], ["u"]),
    ],
    ids=["value", "missing", "added", "text", "missing text", "accent"],
)
def test_a_change_is_found_and_an_order_is_none(one, other):
    assert digest(one) != digest(other)
    assert digest(one) == digest(one[::-1])
    assert digest(one) != digest(one, b"another agency's")


def again(agency, frame, policy=None):
    """Start an agency again, with the same log and perhaps other records."""
    return Agency(agency.identity, frame, agency.roster, policy=policy, ledger=agency.ledger)


def asked(members):
    return Coordinator({a.name: InProcess(a) for a in members}, workers=1).run(MEAN)


def test_attack_the_same_question_before_and_after_a_new_patient(parts):
    """The same question is free: the difference of both sums would be the new patient's age."""
    first, *others = agencies(parts)
    before = asked([first, *others])
    frame = parts[first.name]
    more = pl.concat([frame, frame.head(1).with_columns(age=pl.lit(93.0))])
    grown = asked([again(first, more, Policy(unchanged_records=False)), *others])
    sums = [a["means"]["age"] * a["n"] for a in (before, grown)]
    assert sums[1] - sums[0] == pytest.approx(93.0)  # what the rule is for
    first, *others = agencies(parts)
    asked([first, *others])
    with pytest.raises(StoppedError, match="'age' changed at this agency"):
        asked([again(first, more), *others])
    assert asked([again(first, frame.reverse()), *others])["n"] == before["n"]


def test_other_columns_may_change(parts):
    first, *others = agencies(parts)
    asked([first, *others])
    changed = parts[first.name].with_columns(income=pl.col("income") + 1)
    assert asked([again(first, changed), *others])["n"] == sum(map(len, parts.values()))


def test_the_log_holds_no_value(parts):
    members = agencies(parts)
    asked(members)
    assert isinstance(members[0].ledger, Ledger)
    told = str(members[0].ledger.entries())
    assert not any(f"{value:.6g}" in told for value in parts["agency-00"]["age"])
