"""Counts become multiples of the base, the nearest ones."""

from tacit.query import RoundCounts


def test_rounded(serve, people):
    request = {"method": "crosstab", "by": ["sex", "region"]}
    rounded = serve(people, RoundCounts(base=7)).ask(request).columns["count"]
    true = serve(people).ask(request).columns["count"]
    assert all(r % 7 == 0 and abs(r - t) <= 3 for r, t in zip(rounded, true, strict=True))
    assert rounded != true
