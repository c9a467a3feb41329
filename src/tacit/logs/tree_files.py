"""Taxonomies from plain files: tables of terms and categories, and lists of categories."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from importlib.resources import files
from pathlib import Path
from typing import Any

from tacit.core.errors import ReadError, TacitError, UnknownColumnError, nearest
from tacit.logs.taxonomy import SEPARATOR, Taxonomy


def read_table(
    path: str | Path,
    *,
    term: str = "term",
    category: str = "category",
    separator: str = SEPARATOR,
    title: str | None = None,
) -> Taxonomy:
    """Read a taxonomy from a CSV file, one line per term and category, best category first.

    A category is either one column with a path (``Sports/Soccer/Clubs``) or several columns
    ``level1``, ``level2``, ..., the most general first; empty levels end the path.

    Parameters
    ----------
    path
        The file, plain or gzip.
    term
        Column of the terms.
    category
        Column of the paths; not needed where ``level1`` is there.
    separator
        Between the parts of a path.
    title
        Name of the taxonomy; by default that of the file.
    """
    import polars as pl

    with explaining_failure(path):
        table = pl.read_csv(path, infer_schema=False)
    levels = sorted(
        (c for c in table.columns if c.startswith("level") and c[5:].isdigit()),
        key=lambda name: int(name[5:]),
    )
    if levels and category not in table.columns:
        separator = "\0"
        parts = [pl.col(c).fill_null("") for c in levels]
        table = table.with_columns(pl.concat_str(parts, separator=separator).alias(category))
    for name in (term, category):
        if name not in table.columns:
            raise UnknownColumnError(
                f"the taxonomy has no column {name!r}", column=name, do=nearest(name, table.columns)
            )
    pairs = table.select(term=pl.col(term), category=pl.col(category)).drop_nulls()
    return Taxonomy.from_frame(pairs, separator=separator, title=title or Path(path).name)


def read_categories(
    path: str | Path, *, separator: str = SEPARATOR, title: str | None = None
) -> Taxonomy:
    """Read a taxonomy from a list of categories, one path per line, such as ``Top/Arts/Film``.

    The last part of a path is a term, with underscores as spaces, and so is each of its words. A
    term belongs to the categories it names, the most general first. A common root ``Top`` is left
    out.

    Parameters
    ----------
    path
        The file, plain or gzip; what follows a tab on a line is not read.
    separator
        Between the parts of a path.
    title
        Name of the taxonomy; by default that of the file.
    """
    with explaining_failure(path):
        lines = read_lines(path)
        return from_paths(lines, separator=separator, title=title or Path(path).name)


@contextmanager
def explaining_failure(path: str | Path) -> Iterator[None]:
    """Say in our words what goes wrong in reading a taxonomy: a file cut short, no text, ..."""
    import polars as pl

    try:
        yield
    except TacitError:
        raise
    except (OSError, pl.exceptions.PolarsError) as error:
        said = str(error).splitlines()[0]
        raise ReadError(f"the taxonomy could not be read: {said}", got=str(path)) from error


def read_lines(path: str | Path) -> Any:
    """Return the lines of a text file, plain or gzip, as a lazy Polars frame with one column."""
    import polars as pl

    if not Path(path).is_file():
        raise ReadError("there is no such file", got=str(path))
    return pl.scan_csv(
        path,
        has_header=False,
        separator="\x1f",
        quote_char=None,
        new_columns=["line"],
        schema_overrides={"line": pl.String},
        infer_schema=False,
        truncate_ragged_lines=True,
        encoding="utf8-lossy",
    )


def from_paths(lines: Any, *, separator: str = SEPARATOR, title: str = "categories") -> Taxonomy:
    """Make a taxonomy from the paths of categories alone; their labels are the terms."""
    return Taxonomy.from_frame(labelled_paths(lines, separator), title=title)


def labelled_paths(lines: Any, separator: str = SEPARATOR) -> Any:
    """Return the label of each category, and each of its words, as terms; most general first."""
    import polars as pl

    path = pl.col("line").str.split("\t").list.first().str.strip_chars()
    parts = path.str.split(separator).list.eval(
        pl.element().str.replace_all("_", " ").str.strip_chars()
    )
    inner = pl.when(parts.list.first() == "Top").then(parts.list.slice(1)).otherwise(parts)
    table = (
        lines.select(parts=inner)
        .filter(pl.col("parts").list.len() > 0)
        .select(
            label=pl.col("parts").list.last(),
            depth=pl.col("parts").list.len(),
            category=pl.col("parts").list.join(SEPARATOR),
        )
        .collect()
    )
    words = table.with_columns(label=pl.col("label").str.extract_all(r"[\p{L}\p{N}]+")).explode(
        "label"
    )
    long = words.filter(pl.col("label").str.len_chars() > 2)
    # A whole label says more than one of its words.
    both = pl.concat([table.with_columns(whole=0), long.with_columns(whole=1)])
    ranked = both.sort("label", "whole", "depth", "category", nulls_last=True)
    return ranked.select(term="label", category="category").drop_nulls()


def demonstration() -> Taxonomy:
    """Return the small taxonomy that comes with tacit: about 600 English terms in five levels.

    It knows the subjects of `tacit.datasets.query_log` and some everyday words, and serves for
    learning and testing. For a real log use the Open Directory, WordNet or a tree of your own.

    Examples
    --------
    >>> demonstration().categories_of("apple pie", first=1)
    ['Home/Cooking/Baking/Pies/Fruit/Apple']
    """
    path = files("tacit.logs") / "demonstration.csv"
    return read_table(str(path), title="demonstration")
