"""What the attacks learn from a method at its usual parameters, for the page of the method.

Read from the tables of docs/explanation/attacks.md, which `make bench` writes, so that the page of
a method and the table cannot say different things.
"""

import re
from functools import cache
from pathlib import Path

PAGE = Path(__file__).resolve().parent / "explanation" / "attacks.md"
_SETTING = {
    "mask": "On ``census(5_000)`` with the parameters of its example",
    "protection": "On a table of ``census(5_000)`` with its default parameters",
}


def words(method) -> str:
    """Return what leaks, in a sentence for each target, or nothing for other families."""
    setting = _SETTING.get(method.family)
    found = [row for row in _rows() if row[0].split(" (")[0] == method.key] if setting else []
    return "\n\n".join(_sentence(setting, name, leaks) for name, leaks in found)


def _sentence(setting: str, name: str, leaks: tuple[str, ...]) -> str:
    kind = re.search(r"\((\w+)\)", name)
    about = f"{setting} ({kind[1]})" if kind else setting
    if not leaks:
        return f"{about} no attack that applies learns more than guessing would."
    return (
        f"{about} these attacks learn more than guessing would, by so many percentage points: "
        f"{', '.join(leaks)}. See :doc:`/explanation/attacks`."
    )


@cache
def _rows() -> tuple[tuple[str, tuple[str, ...]], ...]:
    """Return the first column of each row of the tables, and its cells that leak."""
    rows, head = [], []
    for line in PAGE.read_text(encoding="utf-8").splitlines():
        if not line.startswith("|"):
            continue
        cells = [cell.strip() for cell in line.strip().strip("|").split("|")]
        if cells[0] in ("method", "protection", "published", "policy", "attack"):
            head = cells
        elif len(cells) == len(head) and set(cells[0]) != {"-"}:
            pairs = zip(head[1:], cells[1:], strict=True)
            rows.append((cells[0], tuple(f"{a} {c.strip('*')}" for a, c in pairs if "**" in c)))
    return tuple(rows)
