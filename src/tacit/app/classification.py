"""Classifications of tables as people write them: a line for each group of codes that add up."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

from tacit.core.errors import ParameterError

if TYPE_CHECKING:
    from tacit.tables import Dimension

TOTAL = "Total"


def classification(name: str, text: str, observed: Iterable[str]) -> Dimension | None:
    """Return the classification that lines such as ``North = Oslo, Bergen`` describe.

    Groups nobody is above, and codes that no line names, are below the total.

    Parameters
    ----------
    name
        Column that spans the table.
    text
        A line for each group: its name, ``=``, its parts with commas between them. Nothing gives
        no classification: all codes add up to the total.
    observed
        Codes that the column has.

    Examples
    --------
    >>> made = classification("town", "North = Oslo, Bergen", ["Bergen", "Oslo", "Rome"])
    >>> made.codes
    ('Total', 'North', 'Oslo', 'Bergen', 'Rome')
    """
    from tacit.tables import Dimension

    groups = _groups(text)
    if not groups:
        return None
    below = {part for parts in groups.values() for part in parts}
    codes = list(dict.fromkeys(observed))
    _check_known(name, below - set(groups), codes)
    tops = [group for group in groups if group not in below]
    rest = [code for code in codes if code not in below and code not in groups]
    return Dimension.nested(name, {TOTAL: [*tops, *rest], **groups}, total=TOTAL)


def _groups(text: str) -> dict[str, list[str]]:
    groups: dict[str, list[str]] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        group, equals, parts = (part.strip() for part in line.partition("="))
        found = [part.strip() for part in parts.split(",") if part.strip()]
        if not (group and equals and found):
            raise ParameterError(
                "a line of a hierarchy names a group and its parts", got=line[:200],
                do="write it as in: North = Oslo, Bergen",
            )  # fmt: skip
        if group in groups or group == TOTAL:
            raise ParameterError("a group has one line, and the total none", got=group[:200])
        groups[group] = found
    return groups


def _check_known(name: str, leaves: set[str], codes: list[str]) -> None:
    """Refuse a misspelt code, which would be a cell without records."""
    from tacit.core.errors import nearest

    for leaf in sorted(leaves - set(codes)):
        raise ParameterError(f"{name!r} has no code {leaf!r}", do=nearest(leaf, codes))
