"""The table of guards on the page of policies, made from the guards and policies themselves.

Run ``python docs/guard_table.py`` after a change of a guard or of a policy: it writes the table
between the two marks of the page. A test compares them.
"""

from __future__ import annotations

from pathlib import Path

from tacit.core.method import methods
from tacit.query import Policy
from tacit.query.guard import STAGES

PAGE = Path(__file__).parent / "explanation" / "query-policies.md"
MARKS = ("<!-- guards: made by docs/guard_table.py -->\n", "<!-- end of guards -->\n")
POLICIES = ("strict", "mas", "blocks", "exact", "camouflage", "dp")


def table() -> str:
    """Return all guards as a Markdown table, in the order in which they act."""
    used = {n: {g.key for g in Policy.named(n).guards} for n in POLICIES}
    lines = ["| guard | stops | does not stop | costs | used by |", "|---|---|---|---|---|"]
    guards = sorted(methods("guard"), key=lambda g: (STAGES.index(g.stage), g.key))
    for guard in guards:
        names = ", ".join(f"`{name}`" for name in POLICIES if guard.key in used[name])
        cells = (f"`{guard.key}`", guard.stops, guard.misses, guard.costs, names or "none")
        lines.append("| " + " | ".join(cells) + " |")
    return "\n".join(lines) + "\n"


def page(text: str) -> str:
    """Return a page with the table between its marks."""
    before, rest = text.split(MARKS[0])
    _, after = rest.split(MARKS[1])
    return before + MARKS[0] + "\n" + table() + "\n" + MARKS[1] + after


if __name__ == "__main__":
    PAGE.write_text(page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
