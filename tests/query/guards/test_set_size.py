"""Small sets, and sets that leave few out, are refused; the limit varies from set to set."""

import numpy as np
import polars as pl

from tacit.query import SetSize

BY = {"method": "crosstab", "by": ["sex"]}


def test_sets_and_complements(serve, people):
    flagged = people.with_columns(
        region=pl.when(pl.col("id") < 12).then(pl.lit("X")).otherwise(pl.lit("N"))
    )
    for minimum, refused in ((12, False), (13, True)):
        server = serve(flagged, SetSize(minimum=minimum))
        for region in ("X", "N"):
            answer = server.ask({**BY, "universe": {"region": region}})
            assert answer.is_refusal == refused, (minimum, region)
    open_side = serve(flagged, SetSize(minimum=13, complement=False))
    assert not open_side.ask({**BY, "universe": {"region": "N"}}).is_refusal
    assert not open_side.ask(BY).is_refusal


def test_the_limit_varies_and_sticks(serve):
    frame = pl.DataFrame(
        {"id": np.arange(6000), "set": [f"s{v // 20:03}" for v in range(6000)],
         "sex": ["f", "m"] * 3000, "w": 1.0}
    )  # fmt: skip
    server = serve(frame, SetSize(minimum=10, spread=20))
    asked = [{**BY, "universe": {"set": f"s{v:03}"}} for v in range(300)]
    refused = [server.ask(request).is_refusal for request in asked]
    # A set of 20 passes if U, uniform on 0 to 20, is at most 10.
    assert 0.35 < 1 - np.mean(refused) < 0.7
    assert refused == [server.ask(request).is_refusal for request in asked]
