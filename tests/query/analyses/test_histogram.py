"""Counts by bin; outer bins are open."""


def test_counts_by_bin(serve, people):
    server = serve(people)
    answer = server.ask({"method": "histogram", "number": "income"})
    assert sum(answer.columns["count"]) == 2000
    assert answer.columns["income"][0].startswith("below")
    assert answer.columns["income"][-1].endswith("and above")
    parts = server.ask({"method": "histogram", "number": "income", "by": "sex"})
    assert len(parts.columns["count"]) == 2 * len(answer.columns["count"])
    assert server.ask({"method": "histogram", "number": "sex"}).is_refusal
