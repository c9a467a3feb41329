"""The metadata language of mu-ARGUS and tau-ARGUS (``.rda`` files).

One line per variable: its name, in fixed format its first position, its width, up to two codes for
missing values; below it, lines of tags in angle brackets. Tags before the first variable speak of
the whole file.
"""

from __future__ import annotations

import difflib
import re
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import Any

from tacit.core.errors import ReadError

_TOKEN = re.compile(r'<[^<>]*>|"[^"]*"|[^\s<"]+')
_TAGS = frozenset(
    {
        *("SEPARATOR", "NAMESINFRONT", "SPSS", "RECODEABLE", "RECODABLE", "CODELIST", "IDLEVEL"),
        *("IDENTIFICATION", "TRUNCABLE", "NUMERIC", "DECIMALS", "WEIGHT", "HOUSE_ID", "HOUSEHOLD"),
        *("SUPPRESSWEIGHT", "RELATED", "HIERARCHICAL", "HIERCODELIST", "HIERLEADSTRING", "CKM"),
        *("HIERLEVELS", "TOTCODE", "DISTANCE", "HOLDING", "REQUEST", "RECORDKEY", "FREQUENCY"),
        *("MAXSCORE", "STATUS", "SHADOW", "COSTVAR", "LOWERPL", "UPPERPL", "SAFE", "UNSAFE"),
        *("PROTECT", "INCLUDEZEROS", "SEPARATION", "PARITY", "SCALING", "PFILE", "PFILE_CONT"),
        "PFILE_SEP",
    }
)
"""Tags of mu-ARGUS and tau-ARGUS."""
_LIKE_A_TAG = 0.8


@dataclass
class Item:
    """One variable of the metadata."""

    name: str
    line: int
    start: int
    width: int
    missing: tuple[str, ...]
    tags: dict[str, list[str]] = field(default_factory=dict)

    @property
    def end(self) -> int:
        """Position after the last character."""
        return self.start + self.width

    @property
    def is_numeric(self) -> bool:
        """Whether the values are numbers."""
        return not self.tags.keys().isdisjoint(
            {"NUMERIC", "WEIGHT", "DECIMALS", "FREQUENCY", "RECORDKEY"}
        )

    @property
    def is_key(self) -> bool:
        """Whether the identification level says that an intruder may know the variable."""
        levels = self.tags.get("IDLEVEL", self.tags.get("IDENTIFICATION", ["0"]))
        return levels[:1] != ["0"]

    def word(self, tag: str) -> str | None:
        """Return the first word after a tag."""
        return next(iter(self.tags.get(tag, [])), None)


@dataclass
class Metadata:
    """What an ``.rda`` file says."""

    path: Path
    items: list[Item]
    separator: str | None
    """Separator of the free format; None for the fixed one."""
    names_in_front: bool
    tags: dict[str, list[str]] = field(default_factory=dict)
    """Tags that speak of the whole file."""


def read_metadata(path: Path, encoding: str) -> Metadata:
    """Read an ``.rda`` file, or say on which line it is wrong."""
    try:
        lines = path.read_text(encoding=encoding).splitlines()
    except (OSError, UnicodeDecodeError) as error:
        raise ReadError(f"could not read the metadata {path}: {error}") from error
    file_tags: dict[str, list[str]] = {}
    items: list[Item] = []
    for number, line in enumerate(lines, 1):
        tokens = _TOKEN.findall(line)
        if not tokens:
            continue
        if tokens[0].startswith("<"):
            tags = items[-1].tags if items else file_tags
            tags.update(_tags(tokens, path, number))
        else:
            is_free = not file_tags.keys().isdisjoint({"SEPARATOR", "NAMESINFRONT"})
            items.append(_item([_bare(t) for t in tokens], is_free, path, number))
    return _checked(path, items, file_tags)


def _tags(tokens: list[str], path: Path, line: int) -> dict[str, list[str]]:
    """Return the tags of a line, each with the words after it."""
    tags: dict[str, list[str]] = {}
    words: list[str] = []
    for token in tokens:
        if token.startswith("<"):
            words = tags.setdefault(_known_tag(token, path, line), [])
        else:
            words.append(_bare(token))
    return tags


def _known_tag(token: str, path: Path, line: int) -> str:
    """Return the name of a tag; a near miss of a known one is refused, a strange one is let be."""
    name = token.strip("<> ").upper()
    close = difflib.get_close_matches(name, _TAGS, n=1, cutoff=_LIKE_A_TAG)
    if name not in _TAGS and close:
        raise ReadError(
            f"line {line} of {path.name}: no tag {token}", do=f"did you mean <{close[0]}>?"
        )
    return name


def _bare(token: str) -> str:
    return token[1:-1] if token.startswith('"') and token.endswith('"') else token


def _item(words: list[str], is_free: bool, path: Path, line: int) -> Item:
    name, *rest = words
    n_numbers = 1 if is_free else 2
    numbers = rest[:n_numbers]
    if (not is_free and len(numbers) < n_numbers) or not all(n.isdigit() for n in numbers):
        expected = "a width" if is_free else "a first position and a width"
        raise ReadError(
            f"line {line} of {path.name}: variable {name!r} needs {expected}", got=" ".join(rest)
        )
    start = 1 if is_free else int(numbers[0])
    width = int(numbers[-1]) if numbers else 0
    if start < 1 or (width < 1 and not is_free):
        raise ReadError(f"line {line} of {path.name}: {name!r} has no place in the record")
    return Item(name, line, start, width, tuple(rest[n_numbers:]))


def _checked(path: Path, items: list[Item], tags: dict[str, list[Any]]) -> Metadata:
    if "SPSS" in tags:
        raise ReadError(f"{path.name} describes an SPSS file", do="read the .sav file itself")
    if not items:
        raise ReadError(f"{path.name} describes no variable")
    names = [item.name for item in items]
    for item in items:
        if names.count(item.name) > 1:
            raise ReadError(f"{path.name} has duplicate column names: {item.name!r}")
    is_free = not tags.keys().isdisjoint({"SEPARATOR", "NAMESINFRONT"})
    separator = next(iter(tags.get("SEPARATOR", [])), ",") if is_free else None
    if separator is not None and len(separator) != 1:
        raise ReadError(f"{path.name}: the separator is one character", got=repr(separator))
    for first, second in _neighbours(items) if separator is None else ():
        if second.start < first.end:
            raise ReadError(f"{path.name}: {first.name!r} and {second.name!r} overlap")
    return Metadata(path, items, separator, "NAMESINFRONT" in tags, tags)


def _neighbours(items: list[Item]) -> list[tuple[Item, Item]]:
    ordered = sorted(items, key=lambda item: item.start)
    return list(pairwise(ordered))
