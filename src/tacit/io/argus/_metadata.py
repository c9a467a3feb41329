"""What the metadata of a ready table (``.rda``) say of its columns."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tacit.core.errors import ReadError, SchemaError, nearest
from tacit.core.hierarchy import ANY, Tree
from tacit.io.formats._rda import Item, Metadata
from tacit.io.hierarchies import read_hierarchy
from tacit.tables.dimension import TOTAL, Dimension

_SPECIAL = {
    *("FREQUENCY", "MAXSCORE", "STATUS", "SHADOW", "COSTVAR", "COST", "LOWERPL", "UPPERPL"),
    *("WEIGHT", "HOLDING", "REQUEST"),
}


@dataclass(frozen=True)
class Roles:
    """Which column of a ready table is what."""

    by: tuple[str, ...]
    value: str | None
    count: str | None
    top: tuple[str, ...]
    shadow: str | None
    cost: str | None
    status: str | None
    below: str | None
    above: str | None

    @property
    def numeric(self) -> list[str]:
        """Columns of numbers."""
        named = (self.value, self.count, *self.top, self.shadow, self.cost, self.below, self.above)
        return [name for name in dict.fromkeys(named) if name is not None]


def roles_of(described: Metadata, by: tuple[str, ...] | None, value: str | None) -> Roles:
    """Read off the roles; `by` and `value` win over what the tags say."""
    items = described.items
    names = [item.name for item in items]
    for name in (*(by or ()), *([value] if value else ())):
        if name not in names:
            raise ReadError(
                f"{described.path.name} describes no variable {name!r}", do=nearest(name, names)
            )
    amounts = [i.name for i in items if i.is_numeric and not _SPECIAL & i.tags.keys()]
    spanning = [i.name for i in items if _spans(i)]
    count = _tagged(items, "FREQUENCY")
    return Roles(
        by=by or tuple(spanning),
        value=value or (amounts[0] if amounts else None),
        count=count,
        top=tuple(i.name for i in items if "MAXSCORE" in i.tags),
        shadow=_tagged(items, "SHADOW"),
        cost=_tagged(items, "COSTVAR") or _tagged(items, "COST"),
        status=_tagged(items, "STATUS"),
        below=_tagged(items, "LOWERPL"),
        above=_tagged(items, "UPPERPL"),
    )


def _spans(item: Item) -> bool:
    return not item.tags.keys().isdisjoint({"RECODEABLE", "RECODABLE", "TOTCODE", "HIERARCHICAL"})


def _tagged(items: list[Item], tag: str) -> str | None:
    return next((item.name for item in items if tag in item.tags), None)


def total_of(item: Item) -> str:
    """Return the code of the total."""
    return item.word("TOTCODE") or TOTAL


def dimension_of(
    item: Item, observed: list[str], tree: Tree | None, labels: dict[str, str]
) -> Dimension:
    """Return the classification of a column; codes outside its tree stand below the total."""
    total = total_of(item)
    if tree is None:
        leaves = [code for code in observed if code.strip() not in ("", total.strip())]
        flat = Dimension.flat(item.name, leaves, total)
        return _worded(flat, labels)
    known = {code.strip() for path in tree.paths for code in path} | {total.strip(), ""}
    # tau-ARGUS puts the codes for missing values beside the top of the hierarchy.
    missing = {code.strip() for code in (*item.missing, str(item.width))}
    beside = [c for c in observed if c.strip() not in known and c.strip() in missing]
    depth = len(tree.paths[0])
    paths = (*tree.paths, *(((code,) * (depth - 1)) + (ANY,) for code in beside))
    made = Dimension.from_trees(item.name, Tree(paths=paths), total=total)
    return _worded(made, labels)


def _worded(dimension: Dimension, labels: dict[str, str]) -> Dimension:
    known = {code: text for code, text in labels.items() if code in dimension.index}
    named: Dimension = dimension.replace(labels=known)
    return named


def tree_of(item: Item, folder: Path, find: Any) -> Tree | None:
    """Return the hierarchy that a variable names, read from the file beside the metadata."""
    if "HIERCODELIST" not in item.tags:
        return None
    name = (item.word("HIERCODELIST") or "").replace("\\", "/").rsplit("/", 1)[-1]
    path = find(folder, name)
    if path is None:
        raise ReadError(
            f"the hierarchy of {item.name!r} is not beside the metadata",
            got=name,
            do="put it there, or give hierarchies=",
        )
    return read_hierarchy(path, lead=item.word("HIERLEADSTRING") or "@")


def indented(dimension: Dimension, lead: str = "@") -> str:
    """Write a classification as an ``.hrc`` file; one with several breakdowns cannot be."""
    children: dict[str, tuple[str, ...]] = {}
    for parent, parts in dimension.groups:
        if parent in children:
            raise SchemaError(
                f"{parent!r} of {dimension.name!r} is broken down in two ways, which an .hrc file "
                "cannot say"
            )
        children[parent] = parts
    lines: list[str] = []
    stack = [(0, code) for code in reversed(children.get(dimension.total, ()))]
    while stack:
        depth, code = stack.pop()
        lines.append(f"{lead * depth}{code}")
        stack.extend((depth + 1, child) for child in reversed(children.get(code, ())))
    if len(set(lines)) < len(lines):
        raise SchemaError(f"a code of {dimension.name!r} has two parents")
    return "\n".join(lines) + "\n"
