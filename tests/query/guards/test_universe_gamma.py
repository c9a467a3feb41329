"""Pieces of a universe must be large enough, each of them."""

from tacit.query import Policy, UniverseGamma

BY = {"method": "crosstab", "by": ["sex"]}


def test_each_piece_counts(serve, people):
    n_west = int((people["region"] == "W").sum())
    for minimum, refused in ((n_west, False), (n_west + 1, True)):
        server = serve(people, UniverseGamma(minimum=minimum))
        pieces = [{"region": "N"}, {"region": "W"}]
        assert server.ask({**BY, "universe": pieces}).is_refusal == refused
        assert not server.ask({**BY, "universe": {"region": "N"}}).is_refusal


def test_bins_of_a_condition_are_joined_first(serve, people):
    server = serve(people, policy=Policy(name="p", guards=(UniverseGamma(minimum=300),)))
    edges = server.schema.variable("age").edges
    assert server.ask({**BY, "universe": {"age": [{"to": edges[0]}]}}).rule == "universe-gamma"
    assert not server.ask({**BY, "universe": {"age": [{"to": edges[4]}]}}).is_refusal
