"""One category, one bin or one node at a time."""

import pytest

import tacit
from tacit.query import Policy, WholeCategories
from tacit.query.policy import CutpointRule

BY = {"method": "crosstab", "by": ["sex"]}


@pytest.fixture
def server(serve, people):
    tree = tacit.Tree(paths=(("N", "mainland"), ("S", "mainland"), ("W", "islands")))
    cut = CutpointRule(minimum=50, most=8)
    policy = Policy(name="whole", guards=(WholeCategories(pieces=2),), cutpoints=cut)
    return serve(people, policy=policy, hierarchies={"region": tree})


def test_categories_and_nodes_pass(server):
    for value in ("N", "mainland", "islands", ["N", "S", "W"]):
        assert not server.ask({**BY, "universe": {"region": value}}).is_refusal
    assert not server.ask({**BY, "universe": [{"region": "N"}, {"ill": "yes"}]}).is_refusal


def test_free_lists_and_many_pieces_are_refused(server):
    for universe in ({"region": ["N", "W"]}, [{"region": r} for r in "NSW"]):
        assert server.ask({**BY, "universe": universe}).rule == "whole-categories"


def test_ranges_are_bins_or_nodes_of_the_tree(server):
    age = server.schema.variable("age")
    for low, high in [*sorted(age.spans), (0, 1), (2, 3)]:
        ends = {}
        if low:
            ends["from"] = age.edges[low - 1]
        if high <= len(age.edges):
            ends["to"] = age.edges[high - 1]
        if ends:
            assert not server.ask({**BY, "universe": {"age": [ends]}}).is_refusal
    odd = {"from": age.edges[0], "to": age.edges[2]}
    assert (1, 3) not in age.spans
    assert server.ask({**BY, "universe": {"age": [odd]}}).rule == "whole-categories"
