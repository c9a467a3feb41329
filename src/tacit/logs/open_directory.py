"""The Open Directory (ODP, DMOZ): categories of web pages from its RDF dump."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tacit.core.errors import ReadError
from tacit.core.progress import track
from tacit.logs.taxonomy import SEPARATOR, Taxonomy
from tacit.logs.tree_files import explaining_failure, labelled_paths, read_lines
from tacit.logs.words import STOP_WORDS, in_one_spelling

_ENTITIES = {"&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": '"', "&apos;": "'", "&#39;": "'"}


def read_open_directory(
    content: str | Path,
    structure: str | Path | None = None,
    *,
    most: int = 10,
    without: tuple[str, ...] = ("World", "Kids_and_Teens/International"),
) -> Taxonomy:
    """Read a taxonomy from the RDF dump of the Open Directory (DMOZ or a successor).

    A term is a word of a page's title or of a category's label. Its categories are ranked by the
    number of pages whose title holds it, a label counting as much as all of them, which is the
    order in which the directory's own search shows them. The files are read line by line, as they
    are written; they need not be valid XML.

    Parameters
    ----------
    content
        ``content.rdf.u8``, plain or gzip: pages with their titles and categories.
    structure
        ``structure.rdf.u8``, where categories without pages are also wanted.
    most
        Most categories kept for a term.
    without
        Branches left out; by default those in other languages.
    """
    import polars as pl

    with track("reading the directory", None), explaining_failure(content):
        pages = _pages(read_lines(content), without)
        topics = _topics(read_lines(content if structure is None else structure), without)
        labels = labelled_paths(topics.rename({"topic": "line"}).lazy())
        counted = _words_of_titles(pages)
        weights = labels.select("term", "category", n=pl.lit(2**31, dtype=pl.Int64))
        weights = weights.with_columns(in_one_spelling(pl.col("term")))
        every = pl.concat([weights, counted]).group_by("term", "category").agg(pl.col("n").sum())
    if every.is_empty():
        raise ReadError(
            "there are no categories in this file",
            got=str(content),
            do="give content.rdf.u8 of the Open Directory",
        )
    ranked = every.sort("term", "n", "category", descending=[False, True, False])
    kept = ranked.group_by("term", maintain_order=True).head(most)
    return Taxonomy.from_frame(kept.select("term", "category"), title="Open Directory")


def _pages(lines: Any, without: tuple[str, ...]) -> Any:
    """Return title and topic of each page."""
    import polars as pl

    text = pl.col("line")
    table = lines.filter(text.str.contains(r"<ExternalPage |<d:Title>|<topic>")).select(
        page=text.str.contains("<ExternalPage ").cast(pl.Int64).cum_sum(),
        title=_unescaped(text.str.extract(r"<d:Title>(.*?)</d:Title>")),
        topic=_unescaped(text.str.extract(r"<topic>(.*?)</topic>")),
    )
    # Titles of categories stand before the first page or without a topic.
    grouped = table.group_by("page").agg(pl.col("title", "topic").drop_nulls().first())
    return _wanted(grouped.drop_nulls().collect(engine="streaming"), without)


def _topics(lines: Any, without: tuple[str, ...]) -> Any:
    import polars as pl

    found = pl.col("line").str.extract(r'<Topic r:id="(.*?)"')
    table = lines.select(topic=_unescaped(found)).drop_nulls().unique()
    return _wanted(table.collect(engine="streaming").sort("topic"), without)


def _wanted(table: Any, without: tuple[str, ...]) -> Any:
    """Drop the common root and the branches that are left out."""
    import polars as pl

    topic = pl.col("topic").str.replace(r"^Top/?", "")
    table = table.with_columns(topic).filter(pl.col("topic") != "")
    for branch in without:
        root = branch.strip(SEPARATOR)
        inside = (pl.col("topic") == root) | pl.col("topic").str.starts_with(root + SEPARATOR)
        table = table.filter(~inside)
    return table


def _unescaped(text: Any) -> Any:
    for entity, character in _ENTITIES.items():
        text = text.str.replace_all(entity, character, literal=True)
    return text


def _words_of_titles(pages: Any) -> Any:
    """Return how many pages of each category have each word in their titles."""
    import polars as pl

    words = in_one_spelling(pl.col("title")).str.split(" ").list.unique()
    category = pl.col("topic").str.replace_all("_", " ")
    table = pages.select(term=words, category=category).explode("term")
    said = (pl.col("term").str.len_chars() > 2) & ~pl.col("term").is_in(sorted(STOP_WORDS))
    return table.filter(said).group_by("term", "category").agg(n=pl.len().cast(pl.Int64))
