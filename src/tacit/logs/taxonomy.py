"""Taxonomies: which categories a term belongs to, best first, from the general to the special."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.core.errors import DataError, ParameterError
from tacit.core.hierarchy import ANY, Tree
from tacit.logs.words import in_one_spelling

if TYPE_CHECKING:
    from tacit.logs.matching import Matcher

SEPARATOR = "/"
"""Between the levels of a category's path."""
_LONGEST_PATH = 64


@dataclass(frozen=True, eq=False)
class Taxonomy:
    """A tree of categories and the terms that belong to them, best category first.

    A category is a path such as ``Sports/Soccer/UEFA/Spain``; its level is the number of its parts.
    A term is a word or a phrase in small letters. Readers make taxonomies from files; `of` makes
    one from pairs.

    Examples
    --------
    >>> taxonomy = Taxonomy.of({"barcelona fc": ["Sports/Soccer/Clubs", "Regional/Europe/Spain"]})
    >>> taxonomy.categories_of("Barcelona FC", level=2)
    ['Sports/Soccer', 'Regional/Europe']
    """

    categories: Any
    """Paths of the categories, sorted, with every ancestor; a Polars series of text."""
    ancestors: np.ndarray
    """For each category (row) the code of its ancestor at level 1, 2, ...; -1 below its own."""
    terms: Any
    """The terms, sorted; a Polars series of text."""
    starts: np.ndarray
    """Where the categories of each term start in `ranked`; one entry more than terms."""
    ranked: np.ndarray
    """Codes of the categories of the terms, term by term, best first."""
    title: str = "taxonomy"
    """Its name, for reports."""
    matcher: Matcher | None = None
    """Finds a known word for one that the taxonomy does not know; without it, such words say
    nothing."""

    @classmethod
    def of(
        cls,
        pairs: Mapping[str, Iterable[str]] | Iterable[tuple[str, str]],
        *,
        separator: str = SEPARATOR,
        title: str = "taxonomy",
    ) -> Taxonomy:
        """Make a taxonomy from terms and the paths of their categories, best first."""
        import polars as pl

        if isinstance(pairs, Mapping):
            pairs = [(term, path) for term, paths in pairs.items() for path in _listed(paths)]
        table = pl.DataFrame(
            list(pairs), schema={"term": pl.String, "category": pl.String}, orient="row"
        )
        return cls.from_frame(table, separator=separator, title=title)

    @classmethod
    def from_frame(
        cls, pairs: Any, *, separator: str = SEPARATOR, title: str = "taxonomy"
    ) -> Taxonomy:
        """Make a taxonomy from a Polars frame of ``term`` and ``category``, best first."""
        import polars as pl

        parts = pl.col("category").str.split(separator)
        trimmed = parts.list.eval(pl.element().str.strip_chars()).list.eval(
            pl.element().filter(pl.element() != "")
        )
        clean = (
            pairs.select(in_one_spelling(pl.col("term")), parts=trimmed)
            .filter(pl.col("term") != "", pl.col("parts").list.len() > 0)
            .with_columns(category=pl.col("parts").list.join(SEPARATOR))
            .unique(["term", "category"], keep="first", maintain_order=True)
        )
        if clean.is_empty():
            raise DataError("a taxonomy needs at least one term with a category", got="none")
        categories, ancestors = _tree(clean)
        codes = pl.DataFrame({"category": categories}).with_row_index("code")
        coded = clean.join(codes, on="category", how="left", maintain_order="left").sort(
            "term", maintain_order=True
        )
        sizes = coded.group_by("term", maintain_order=True).len()
        starts = np.concatenate([[0], np.cumsum(sizes["len"].to_numpy())]).astype(np.int64)
        ranked = coded["code"].to_numpy().astype(np.int32)
        return cls(categories, ancestors, sizes["term"], starts, ranked, title)

    @classmethod
    def from_tree(cls, tree: Tree, *, title: str = "hierarchy") -> Taxonomy:
        """Take a value hierarchy: leaves are terms, the levels above them categories."""
        pairs = []
        for leaf, *above in tree.paths:
            path = [label for label in reversed(above) if label != ANY]
            pairs.append((leaf, "\0".join(path)))
        return cls.of(pairs, separator="\0", title=title)

    @property
    def n_levels(self) -> int:
        """Depth of the deepest category."""
        return int(self.ancestors.shape[1])

    def __len__(self) -> int:
        return len(self.terms)

    def __repr__(self) -> str:
        return (
            f"Taxonomy({self.title}: {len(self.terms):,} terms, {len(self.categories):,} "
            f"categories, {self.n_levels} levels)"
        )

    def with_matcher(self, matcher: Matcher | None) -> Taxonomy:
        """Return the taxonomy with a matcher for words it does not know."""
        return replace(self, matcher=matcher)

    def categories_of(
        self, term: str, *, level: int | None = None, first: int | None = None
    ) -> list[str]:
        """Return the categories of a term, best first, cut at a level; none if it is unknown."""
        import polars as pl

        spelled = pl.select(in_one_spelling(pl.lit(term))).item()
        place = int(self.terms.search_sorted(spelled))
        if place == len(self.terms) or self.terms[place] != spelled:
            return []
        codes = self.ranked[self.starts[place] : self.starts[place + 1]][:first]
        if level is not None:
            check_levels(level)
            codes = self._at(codes, level)
        return [self.categories[int(code)] for code in codes]

    def _at(self, codes: np.ndarray, level: int) -> np.ndarray:
        """Return the distinct ancestors at a level, in order of rank."""
        if level > self.n_levels:
            return codes[:0]
        above = self.ancestors[codes, level - 1]
        _, first = np.unique(above, return_index=True)
        above = above[np.sort(first)]
        return np.asarray(above[above >= 0])

    def incidence(self, levels: int, categories: int) -> Any:
        """Return which category of level 1 to `levels` each term belongs to, as a sparse matrix.

        Rows are terms, columns are categories. Only the first `categories` of each term count;
        two that share an ancestor count once at its level.
        """
        from scipy.sparse import coo_array

        check_levels(levels)
        if isinstance(categories, bool) or categories < 1:
            raise ParameterError("at least one category counts", got=categories)
        sizes = np.diff(self.starts)
        rank = np.arange(len(self.ranked)) - np.repeat(self.starts[:-1], sizes)
        term = np.repeat(np.arange(len(sizes)), sizes)[rank < categories]
        above = self.ancestors[self.ranked[rank < categories], :levels]
        rows = np.repeat(term, above.shape[1])[above.ravel() >= 0]
        columns = above.ravel()[above.ravel() >= 0]
        shape = (len(self.terms), len(self.categories))
        matrix = coo_array((np.ones(len(rows), dtype=np.int32), (rows, columns)), shape=shape)
        matrix = matrix.tocsr()
        matrix.data[:] = 1
        return matrix

    @property
    def depth(self) -> np.ndarray:
        """Level of each category."""
        return np.asarray((self.ancestors >= 0).sum(axis=1))


def check_levels(levels: int) -> None:
    """Refuse a level below 1."""
    if isinstance(levels, bool) or not isinstance(levels, int | np.integer) or levels < 1:
        raise ParameterError("levels are counted from 1", got=levels)


def _listed(paths: Iterable[str]) -> Iterable[str]:
    return [paths] if isinstance(paths, str) else paths


def _tree(clean: Any) -> tuple[Any, np.ndarray]:
    """Return all categories with their ancestors, sorted, and the code of each ancestor."""
    import polars as pl

    paths = clean.select("category", "parts").unique("category")
    depth = int(paths["parts"].list.len().max())
    if depth > _LONGEST_PATH:
        raise DataError("a category has too many levels", got=depth, do="check the separator")
    levels = range(1, depth + 1)
    cut = [
        pl.when(pl.col("parts").list.len() >= level)
        .then(pl.col("parts").list.head(level).list.join(SEPARATOR))
        .alias(str(level))
        for level in levels
    ]
    above = paths.select(cut)
    categories = pl.concat([above[str(level)] for level in levels]).drop_nulls().unique().sort()
    every = pl.DataFrame({"path": categories}).with_columns(
        parts=pl.col("path").str.split(SEPARATOR)
    )
    codes = pl.DataFrame({"cut": categories}).with_row_index("code")
    columns = []
    for level in levels:
        cut_here = every.select(
            cut=pl.when(pl.col("parts").list.len() >= level).then(
                pl.col("parts").list.head(level).list.join(SEPARATOR)
            )
        )
        joined = cut_here.join(codes, on="cut", how="left", maintain_order="left")
        columns.append(joined["code"].cast(pl.Int32).fill_null(-1).to_numpy())
    return categories.alias("category"), np.column_stack(columns).astype(np.int32)
