"""Known words for words that a taxonomy does not know: by spelling or by meaning."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any, Protocol

import numpy as np

from tacit.core.errors import ParameterError, optional

_AT_ONCE = 4096


class Matcher(Protocol):
    """Something that finds the nearest known word; a class of your own with this method will do."""

    def nearest(self, words: Sequence[str], known: Sequence[str]) -> np.ndarray:
        """Return for each word the place of the nearest known word, or -1 if none is near."""


@dataclass(frozen=True)
class SpellingMatcher:
    """Take words for known ones that are spelled alike: plurals, typing errors, compounds.

    Words are compared by the cosine of their counts of two to four letters in a row. Needs nothing
    but scikit-learn, which tacit always has.

    Examples
    --------
    >>> SpellingMatcher().nearest(["recipies", "xyzzy"], ["risotto", "recipes"]).tolist()
    [1, -1]
    """

    threshold: float = 0.6
    """Smallest cosine at which words are taken for the same."""

    def __post_init__(self) -> None:
        _check(self.threshold)

    def nearest(self, words: Sequence[str], known: Sequence[str]) -> np.ndarray:
        """Return for each word the place of the known word with the most similar spelling."""
        from sklearn.feature_extraction.text import TfidfVectorizer

        letters = TfidfVectorizer(analyzer="char_wb", ngram_range=(2, 4))
        right = letters.fit_transform(list(known)).T.tocsr()
        return _best(lambda part: letters.transform(part) @ right, words, self.threshold)


@dataclass(frozen=True)
class EmbeddingMatcher:
    """Take words for known ones of similar meaning: ``spaghetti`` for ``pasta``.

    Meanings are vectors of the model inside the package ``wordllama`` (16 MB, MIT licence), which
    ``pip install 'tacit[meaning]'`` brings; nothing is downloaded when it runs.
    """

    threshold: float = 0.42
    """Smallest cosine at which words are taken for the same."""

    def __post_init__(self) -> None:
        _check(self.threshold)

    def nearest(self, words: Sequence[str], known: Sequence[str]) -> np.ndarray:
        """Return for each word the place of the known word with the most similar meaning."""
        model = _model()
        right = np.asarray(model.embed(list(known), norm=True)).T
        return _best(
            lambda part: np.asarray(model.embed(part, norm=True)) @ right, words, self.threshold
        )


@lru_cache(maxsize=1)
def _model() -> Any:
    """Load the vectors that the package ships; a download is an error."""
    package = optional("wordllama", extra="meaning")
    # The package looks for its tokenizer in a folder that it names otherwise; told to look into
    # itself, it finds it.
    folder = Path(str(package.__file__)).parent
    return package.WordLlama.load(cache_dir=folder, disable_download=True)


def _best(similarity: Any, words: Sequence[str], threshold: float) -> np.ndarray:
    """Return the place of the largest similarity, or -1 where it is below the threshold."""
    places = []
    for start in range(0, len(words), _AT_ONCE):
        found = similarity(list(words[start : start + _AT_ONCE]))
        dense = found.toarray() if hasattr(found, "toarray") else found
        best = dense.argmax(axis=1)
        near = dense[np.arange(len(best)), best] >= threshold
        places.append(np.where(near, best, -1))
    return np.concatenate(places) if places else np.empty(0, dtype=np.int64)


def _check(threshold: float) -> None:
    if not 0 < threshold <= 1:
        raise ParameterError("a threshold is above 0 and at most 1", got=threshold)
