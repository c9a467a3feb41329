"""Pieces may overlap in many units or in none."""

import polars as pl

from tacit.query import UniverseGammaStar

BY = {"method": "crosstab", "by": ["sex"]}


def test_small_overlaps_are_refused(serve, people):
    overlap = people.filter((pl.col("region") == "W") & (pl.col("ill") == "yes")).height
    pieces = [{"region": "W"}, {"ill": "yes"}]
    for minimum, refused in ((overlap, False), (overlap + 1, True)):
        server = serve(people, UniverseGammaStar(minimum=minimum))
        assert server.ask({**BY, "universe": pieces}).is_refusal == refused


def test_disjoint_pieces_pass(serve, people):
    server = serve(people, UniverseGammaStar(minimum=10_000))
    assert server.ask({**BY, "universe": [{"region": "W"}, {"region": "S"}]}).is_refusal is True
    server = serve(people, UniverseGammaStar(minimum=100))
    assert not server.ask({**BY, "universe": [{"region": "W"}, {"region": "S"}]}).is_refusal


def test_intersections_of_three_are_looked_at(serve, people):
    pieces = [{"region": "W"}, {"ill": "yes"}, {"sex": "f"}]
    three = people.filter(
        (pl.col("region") == "W") & (pl.col("ill") == "yes") & (pl.col("sex") == "f")
    ).height
    assert (
        serve(people, UniverseGammaStar(minimum=three + 1))
        .ask({**BY, "universe": pieces})
        .is_refusal
    )
    assert (
        not serve(people, UniverseGammaStar(minimum=three))
        .ask({**BY, "universe": pieces})
        .is_refusal
    )


def test_too_many_pieces(serve, people):
    server = serve(people, UniverseGammaStar(minimum=1))
    assert server.ask({**BY, "universe": [{"region": "W"}] * 13}).is_refusal
