"""Correct attribution and replicated uniques by hand; see source.md."""

import polars as pl
import pytest

from tacit import Microdata, risk

ORIGINAL = pl.DataFrame({"q": [1, 1, 1, 2, 3], "t": list("aabbc")})
SYNTHETIC = pl.DataFrame({"q": [1, 1, 2, 2, 4, 1], "t": list("abbbca")})


def test_by_hand():
    data = Microdata.of(ORIGINAL).with_roles(keys=["q"], confidential=["t"])
    found = risk.CorrectAttribution().measure(data, SYNTHETIC)
    assert found.per_unit == pytest.approx([2 / 3, 2 / 3, 1 / 3, 1, 0])
    assert found.value == pytest.approx(8 / 15)
    numbers = found.details["by_target"]["t"]
    assert numbers == pytest.approx(
        {
            "dcap": 8 / 15,
            "baseline": 11 / 30,
            "matched": 4 / 5,
            "cap_among_matched": 2 / 3,
            "tcap": 1,
            "disco": 1 / 5,
        }
    )
    assert risk.ReplicatedUniques().measure(data, SYNTHETIC).value == 0
