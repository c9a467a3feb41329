"""WordNet as a taxonomy: nouns and what they are kinds of."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tacit.core.errors import DataError, ReadError
from tacit.core.progress import track
from tacit.logs.taxonomy import Taxonomy
from tacit.logs.tree_files import explaining_failure, read_lines

FOLDER = Path("/usr/share/wordnet")
"""Where Debian's package ``wordnet-base`` puts the files."""
_PERSON = "18"
"""Lexicographer file of persons."""
_DEEPEST = 40


def read_wordnet(folder: str | Path = FOLDER, *, most: int = 10, skip: int = 2) -> Taxonomy:
    """Read a taxonomy from the database files of WordNet, ``index.noun`` and ``data.noun``.

    A noun belongs to the categories of its senses, most frequent sense first. The category of a
    sense is the chain of what it is a kind of (the first hypernym where there are several), without
    the first `skip` links (``entity``, ``physical entity``), which hardly tell nouns apart. Names
    of persons are left out: they would pass for ordinary words in queries.

    Parameters
    ----------
    folder
        Folder of the files; by default that of Debian's package ``wordnet-base``.
    most
        Most senses kept for a noun.
    skip
        Links left out at the top.
    """
    folder = Path(folder)
    for name in ("index.noun", "data.noun"):
        if not (folder / name).is_file():
            raise ReadError(
                f"there is no {name} in the folder",
                got=str(folder),
                do="install Debian's wordnet-base or give the folder dict of your copy",
            )
    with track("reading WordNet", None), explaining_failure(folder):
        synsets = _synsets(folder / "data.noun")
        if synsets.is_empty():
            raise ReadError("there is no noun in these files", got=str(folder))
        paths = _paths(synsets, skip)
        senses = _senses(folder / "index.noun", most)
        pairs = senses.join(paths, on="offset", how="inner", maintain_order="left")
    if pairs.is_empty():
        raise ReadError("there is no noun in these files", got=str(folder))
    return Taxonomy.from_frame(pairs.select("term", "category"), separator="\0", title="WordNet")


def _synsets(path: Path) -> Any:
    """Return offset, first word, first hypernym of each synset; persons who lived are left out."""
    import polars as pl

    text = pl.col("line")
    return (
        read_lines(path)
        .filter(text.str.contains(r"^\d{8} "))  # the licence stands in front, indented
        .select(
            offset=text.str.slice(0, 8).cast(pl.Int64),
            file=text.str.slice(9, 2),
            word=text.str.extract(r"^\d{8} \d\d \w [0-9a-f]{2} (\S+)").str.replace_all("_", " "),
            kind=text.str.extract(r" @ (\d{8}) n ").cast(pl.Int64),
            instance=text.str.extract(r" @i (\d{8}) n ").cast(pl.Int64),
        )
        .filter(~((pl.col("file") == _PERSON) & pl.col("instance").is_not_null()))
        .select("offset", "word", above=pl.coalesce("kind", "instance").fill_null(-1))
        .collect()
    )


def _paths(synsets: Any, skip: int) -> Any:
    """Return the chain of each synset, from the top down, without the first `skip` links."""
    import polars as pl

    offsets = synsets["offset"].to_numpy()
    order = np.argsort(offsets)
    place = np.searchsorted(offsets[order], synsets["above"].to_numpy())
    place = order[np.minimum(place, len(order) - 1)]
    above = np.where(offsets[place] == synsets["above"].to_numpy(), place, -1)
    chain, current = [], np.arange(len(offsets))
    while (current >= 0).any():
        chain.append(current)
        if len(chain) > _DEEPEST:
            raise DataError("the chains of hypernyms run in a circle", do="check the files")
        current = np.where(current >= 0, above[current], -1)
    words = [
        pl.Series(str(n), synsets["word"].gather(np.maximum(c, 0))).set(pl.Series(c < 0), None)
        for n, c in enumerate(chain)
    ]
    listed = pl.DataFrame(words).select(
        pl.concat_list(pl.all()).list.drop_nulls().list.reverse().list.slice(skip).alias("parts")
    )
    joined = listed.select(category=pl.col("parts").list.join("\0"))
    return joined.with_columns(offset=synsets["offset"]).filter(pl.col("category") != "")


def _senses(path: Path, most: int) -> Any:
    """Return the senses of each noun, most frequent first."""
    import polars as pl

    fields = pl.col("line").str.strip_chars_end().str.split(" ")
    n_pointers = pl.col("fields").list.get(3).cast(pl.Int64)
    return (
        read_lines(path)
        .filter(pl.col("line").str.contains(r"^\S+ n \d"))
        .select(fields=fields)
        # lemma n senses pointers [symbols] senses tagged [offsets]
        .select(
            term=pl.col("fields").list.first().str.replace_all("_", " "),
            offset=pl.col("fields").list.slice(n_pointers + 6).list.head(most),
        )
        .explode("offset")
        .with_columns(pl.col("offset").cast(pl.Int64))
        .drop_nulls()
        .collect()
    )
