"""Matchers for unknown words."""

import sys
from types import SimpleNamespace

import numpy as np
import polars as pl
import pytest

from tacit import logs
from tacit.core.errors import MissingExtraError, ParameterError
from tacit.logs import matching
from tacit.logs.classification import terms_of

KNOWN = ["recipe", "garden", "mortgage"]


def test_spelling_finds_plurals_and_typing_errors_and_nothing_else():
    words = ["recipes", "gardn", "mortgages", "zebra", "kovacs"]
    assert logs.SpellingMatcher().nearest(words, KNOWN).tolist() == [0, 1, 2, -1, -1]
    assert logs.SpellingMatcher().nearest([], KNOWN).tolist() == []


def test_spelling_in_a_taxonomy():
    taxonomy = logs.Taxonomy.of({word: ["A"] for word in KNOWN})
    queries = pl.Series(["best recipes", "zebra"])
    assert terms_of(queries, taxonomy).sum() == 0
    helped = taxonomy.with_matcher(logs.SpellingMatcher())
    assert terms_of(queries, helped).sum(axis=1).tolist() == [1, 0]


@pytest.mark.parametrize("matcher", [logs.SpellingMatcher, logs.EmbeddingMatcher])
@pytest.mark.parametrize("threshold", [0, -1, 1.5, float("nan")])
def test_bad_thresholds_are_refused(matcher, threshold):
    with pytest.raises(ParameterError):
        matcher(threshold)


def test_meaning_without_the_extra_says_what_to_install(monkeypatch):
    matching._model.cache_clear()
    monkeypatch.setitem(sys.modules, "wordllama", None)
    with pytest.raises((MissingExtraError, ImportError), match="wordllama"):
        logs.EmbeddingMatcher().nearest(["pasta"], ["risotto"])


def test_meaning_never_downloads_and_takes_the_nearest(monkeypatch, tmp_path):
    """The model is asked to load from its own package; vectors of a stand-in show the choice."""
    vectors = {"pasta": (1, 0), "bank": (0, 1), "spaghetti": (0.9, np.sqrt(0.19)), "zebra": (-1, 0)}
    loaded = {}

    class WordLlama:
        @staticmethod
        def load(**options):
            loaded.update(options)
            return SimpleNamespace(embed=lambda words, norm: np.array([vectors[w] for w in words]))

    package = SimpleNamespace(__file__=str(tmp_path / "__init__.py"), WordLlama=WordLlama)
    matching._model.cache_clear()
    monkeypatch.setitem(sys.modules, "wordllama", package)
    found = logs.EmbeddingMatcher().nearest(["spaghetti", "zebra"], ["bank", "pasta"])
    matching._model.cache_clear()
    assert found.tolist() == [1, -1]
    assert loaded == {"cache_dir": tmp_path, "disable_download": True}


def test_meaning_with_the_real_model():
    pytest.importorskip("wordllama")
    matching._model.cache_clear()
    words = ["mortgages", "orthodontist", "kovacs"]
    found = logs.EmbeddingMatcher().nearest(words, ["mortgage", "dentist", "pasta"])
    assert found.tolist() == [0, 1, -1]
