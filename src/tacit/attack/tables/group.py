"""Group disclosure: lines of a table in which everybody is in one cell."""

from __future__ import annotations

from typing import TYPE_CHECKING, ClassVar

import numpy as np

from tacit.attack.family import Attack
from tacit.attack.finding import Outcome
from tacit.attack.knowledge import Knowledge
from tacit.attack.tables._cells import count_tables
from tacit.attack.target import TableTarget

if TYPE_CHECKING:
    from tacit.tables import ProtectedTable


class GroupAttack(
    Attack,
    key="table-group",
    title="Zero and full cells",
    cites=("domingoferrer2007", "hundepool2012"),
):
    r"""Learn an attribute of a whole group from zeros and full cells.

    Missing values: a line with a suppressed cell allows no claim. Weights: tables of unweighted
    counts only. Households: not considered.

    Notes
    -----
    If all people of a line (a region, say) are in one category, the table tells the category of
    each of them, whoever they are. The intruder claims so where one published count of a line is
    above zero; a claim is right if it holds in the original. Guessing claims that everybody in
    the line has the most common category. Where no count was changed nothing is left to chance:
    one line that tells another category is a leak.

    Examples
    --------
    >>> import polars as pl, tacit
    >>> from tacit import attack, tables
    >>> frame = pl.DataFrame({"village": list("aaabbbb"), "ill": list("yyynnny")})
    >>> table = tacit.tabulate(frame, ["village", "ill"])
    >>> attack.GroupAttack().run(
    ...     tables.ProtectedTable(table, table.sensitive(), table.value)
    ... ).n_broken
    2
    """

    kind: ClassVar[type] = TableTarget
    remedy: ClassVar[str] = (
        "Call lines with one filled cell sensitive (tables.GroupDisclosure), merge categories, or "
        "put noise on zeros."
    )

    def objection(self, target: TableTarget, knowledge: Knowledge) -> str | None:
        """Say that no table has counts in two dimensions."""
        fits = any(len(t.original.dimensions) > 1 for t in count_tables(target))
        return None if fits else "no table has counts by two variables or more"

    def attacked(self, target: TableTarget, knowledge: Knowledge) -> Outcome:
        """Claim a category wherever a line shows one only."""
        hits, guesses, people = [], [], 0
        for table in count_tables(target):
            for place in range(len(table.original.dimensions)):
                right, guessed, n = _claims(table, place)
                hits.append(right)
                guesses.append(guessed)
                people += n
        found = np.concatenate(hits).astype(float)
        return Outcome(
            hits=found, guesses=np.concatenate(guesses).astype(float), unit="line",
            question="Learn an attribute of everybody in a line of the table",
            exact=not any(t.changed.any() for t in count_tables(target)),
            worst=f"an attribute of {people:,} people in {int(found.sum()):,} lines is told"
            if people
            else "no line tells an attribute of everybody in it",
            details={"lines_claimed": len(found), "people": people},
        )  # fmt: skip


def _claims(table: ProtectedTable, place: int) -> tuple[np.ndarray, np.ndarray, int]:
    """Return claims along one dimension: right, right by guessing, people told about."""
    original, dimension = table.original, table.original.dimensions[place]
    leaves = [dimension.index[code] for code in dimension.leaves]
    inner = np.isin(original.codes[:, place], leaves)
    if inner.sum() < 2 or len(leaves) < 2:
        return np.empty(0), np.empty(0), 0
    others = np.delete(original.codes[inner], place, axis=1)
    _, line = np.unique(others, axis=0, return_inverse=True)
    line = line.ravel()
    published, truth = table.published[inner], original.value[inner]
    category = original.codes[inner, place]
    n_lines = int(line.max()) + 1
    hidden = np.bincount(line, np.isnan(published), n_lines) > 0
    filled = np.bincount(line, np.nan_to_num(published) > 0, n_lines)
    chosen = (published > 0) & (filled == 1)[line] & ~hidden[line]
    total = np.bincount(line, truth, n_lines)[line]
    common = category[np.argmax(np.where(_is_margin(others, original, place), truth, -1))]
    right = (truth[chosen] == total[chosen]) & (total[chosen] > 0)
    guessed = right & (category[chosen] == common)
    return right, guessed, int(truth[chosen][right].sum())


def _is_margin(others: np.ndarray, original: object, place: int) -> np.ndarray:
    """Mark the cells of the line of everybody, whose largest count is the best guess."""
    return np.asarray((others == 0).all(axis=1))
