"""Read value hierarchies from the two files they are commonly kept in.

The semicolon form has one line per value: the value, its label at level 1, at level 2, and so on,
usually up to ``*``; there is no header. The ``.hrc`` form of tau-ARGUS has one code per line, with
one leading mark (usually ``@``) per level of depth.
"""

from __future__ import annotations

from collections import Counter
from pathlib import Path

from tacit.core.errors import ParameterError, ReadError
from tacit.core.hierarchy import ANY, Tree
from tacit.io.delimited import Delimited, as_utf8, check_utf8
from tacit.io.files import check_readable, reading


def read_hierarchy(
    path: str | Path, separator: str = ";", *, lead: str = "@", encoding: str = "utf-8"
) -> Tree:
    r"""Read a value hierarchy from a semicolon file, or from an ``.hrc`` file of tau-ARGUS.

    The values of an ``.hrc`` file keep the blanks before a code, as fixed-format data do. A root
    ``*`` is put above its top codes, and a code at less depth than others repeats itself, so that
    all paths are equally long: with ``A > 1`` and a childless ``B`` the path of B is B, B, ``*``.
    A code that stands for two groups, below A and below B, is told apart as ``1 (A)``, ``1 (B)``.

    Parameters
    ----------
    path
        The file; its ending ``.hrc`` tells the second form.
    separator
        Character between the levels of the first form.
    lead
        Mark of one level of depth in the second form.
    encoding
        Encoding of the text.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp(), "region.hrc")
    >>> _ = path.write_text("North\n@1\n@2\nIsland\n", encoding="utf-8")
    >>> read_hierarchy(path).paths
    (('1', 'North', '*'), ('2', 'North', '*'), ('Island', 'Island', '*'))
    """
    path = Path(path)
    check_readable(path)
    with reading(path, "a hierarchy"):
        if path.suffix.lower() == ".hrc":
            paths = _indented(path, lead, encoding)
        else:
            paths = _delimited(path, separator, encoding)
        _check_once(path, paths)
        try:
            return Tree(paths=tuple(paths))
        except ParameterError as error:
            raise ReadError(f"{path.name} is not a hierarchy: {error.what}") from error


def _check_once(path: Path, paths: list[tuple[str, ...]]) -> None:
    """Refuse a file in which a finest code stands at two places, and name both."""
    seen: dict[str, tuple[str, ...]] = {}
    for one in paths:
        first = seen.setdefault(one[0], one)
        if first is not one:
            here, there = (next((c for c in way if c != one[0]), ANY) for way in (first, one))
            where = f"below {here!r} and {there!r}" if here != there else f"twice below {here!r}"
            raise ReadError(
                f"{path.name} has a code twice",
                got=f"{one[0]!r} {where}",
                do="leave one of them out; a second breakdown is a file of its own"
                if path.suffix.lower() == ".hrc"
                else "give it one line, which starts with the finest code",
            )


def _delimited(path: Path, separator: str, encoding: str) -> list[tuple[str, ...]]:
    text = Delimited.open(path, encoding, (separator,), '"')
    check_utf8(path, text.content)
    paths: list[tuple[str, ...]] = []
    for line, labels in text.records():
        if paths and len(labels) != len(paths[0]):
            raise ReadError(
                f"line {line} of {path.name} has {len(labels)} levels, not {len(paths[0])}",
                do="give every value the same number of levels",
            )
        paths.append(tuple(labels))
    return list(dict.fromkeys(paths))


def _indented(path: Path, lead: str, encoding: str) -> list[tuple[str, ...]]:
    """Return the paths of an ``.hrc`` file, from each childless code up to the root."""
    codes = _codes(path, lead, encoding)
    depths = [depth for depth, _ in codes] + [0]
    deepest = max(depths)
    ancestors: list[str] = []
    paths, groups = [], []
    for position, (depth, code) in enumerate(codes):
        del ancestors[depth:]
        if depths[position + 1] <= depth:
            paths.append((code,) * (deepest - depth + 1) + (*reversed(ancestors), ANY))
        else:
            groups.append((depth, code))
        ancestors.append(code)
    twice = {group for group, n in Counter(groups).items() if n > 1}
    return [_told_apart(path, twice) for path in paths] if twice else paths


def _told_apart(path: tuple[str, ...], twice: set[tuple[int, str]]) -> tuple[str, ...]:
    """Add its parent to each label that names several groups of the same depth."""
    top = len(path) - 2
    labels = list(path)
    for level in range(top - 1, 0, -1):
        if (top - level, path[level]) in twice:
            labels[level] = f"{path[level]} ({labels[level + 1]})"
    return tuple(labels)


def _codes(path: Path, lead: str, encoding: str) -> list[tuple[int, str]]:
    """Return the depth and the code of each line."""
    content = as_utf8(path, encoding)
    check_utf8(path, content)
    codes: list[tuple[int, str]] = []
    for number, line in enumerate(content[:].decode("utf-8-sig").split("\n"), 1):
        text = line.rstrip()
        if not text:
            continue
        depth = 0
        while text.startswith(lead):
            depth, text = depth + 1, text.removeprefix(lead)
        if depth > (codes[-1][0] + 1 if codes else 0):
            raise ReadError(
                f"line {number} of {path.name} skips a level",
                got=line.strip(),
                do="put the code above it on the line before",
            )
        codes.append((depth, text))
    return codes
