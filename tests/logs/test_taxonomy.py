"""Taxonomies."""

import dataclasses

import numpy as np
import pytest

from tacit.core.errors import DataError, ParameterError
from tacit.core.hierarchy import Tree
from tacit.logs import Taxonomy


def test_terms_have_ranked_categories_cut_at_a_level(taxonomy):
    assert taxonomy.categories_of("FLU") == ["Health/Infections/Influenza", "News/Health"]
    assert taxonomy.categories_of("flu", first=1, level=1) == ["Health"]
    assert taxonomy.categories_of("flu", level=3) == ["Health/Infections/Influenza"]
    assert taxonomy.categories_of("flu", level=9) == []
    assert taxonomy.categories_of("zebra") == []


def test_every_ancestor_is_a_category_at_its_level(taxonomy):
    paths = taxonomy.categories.to_list()
    assert paths == sorted(set(paths))
    for code, path in enumerate(paths):
        parts = path.split("/")
        assert taxonomy.depth[code] == len(parts)
        above = [paths[a] for a in taxonomy.ancestors[code] if a >= 0]
        assert above == ["/".join(parts[:n]) for n in range(1, len(parts) + 1)]


def test_incidence_counts_a_shared_ancestor_once():
    shared = Taxonomy.of({"x": ["A/B", "A/C"], "y": ["A"]})
    matrix = shared.incidence(2, 2).toarray()
    paths = shared.categories.to_list()
    assert dict(zip(paths, matrix[0], strict=True)) == {"A": 1, "A/B": 1, "A/C": 1}
    assert dict(zip(paths, shared.incidence(1, 2).toarray()[0], strict=True)) == {
        "A": 1, "A/B": 0, "A/C": 0,
    }  # fmt: skip
    assert shared.incidence(2, 1).toarray()[0].tolist() == [1, 1, 0]


def test_from_a_tree_of_the_core():
    tree = Tree(paths=[("flu help", "flu", "health", "*"), ("best flu", "flu", "health", "*")])
    taxonomy = Taxonomy.from_tree(tree)
    assert taxonomy.categories_of("Flu help") == ["health/flu"]


def test_a_taxonomy_is_a_frozen_value(taxonomy):
    with pytest.raises(dataclasses.FrozenInstanceError):
        taxonomy.title = "other"
    assert "7 terms" in repr(taxonomy)
    assert len(taxonomy) == 7


@pytest.mark.parametrize("pairs", [{}, {"": ["A"]}, {"x": [""]}, {"x": []}])
def test_nothing_is_no_taxonomy(pairs):
    with pytest.raises(DataError):
        Taxonomy.of(pairs)


def test_bad_levels_and_categories_are_refused(taxonomy):
    for bad in (0, -1, True, 1.5):
        with pytest.raises(ParameterError):
            taxonomy.incidence(bad, 1)
    with pytest.raises(ParameterError):
        taxonomy.incidence(1, 0)


def test_too_deep_paths_hint_at_the_separator():
    with pytest.raises(DataError, match="separator"):
        Taxonomy.of({"x": ["/".join("a" * 70)]})


def test_order_of_rank_is_kept_when_codes_are_not_sorted():
    taxonomy = Taxonomy.of({"x": ["Z", "A", "M"]})
    assert taxonomy.categories_of("x") == ["Z", "A", "M"]
    assert np.all(taxonomy.starts == [0, 3])
