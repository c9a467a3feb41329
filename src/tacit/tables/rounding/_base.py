"""What all rounding of tables shares: the base, and how to choose one that protects."""

from __future__ import annotations

from typing import Annotated, Literal

import numpy as np
from annotated_types import Gt

from tacit.core.errors import ParameterError, ProtectionError
from tacit.tables._changeable import check_changeable, without_level
from tacit.tables.protection import Protection
from tacit.tables.sensitive import Sensitive
from tacit.tables.table import Table

WholeOrDecimal = Annotated[float, Gt(0)]
_WHOLE = 2.0
"""Smallest base for whole numbers: with 1 every cell would be published as it is."""


class Rounding(Protection):
    """Publish multiples of a base."""

    base: WholeOrDecimal | Literal["value", "contribution", "level"] = "level"
    """The base, or how to choose it: a share of the largest sensitive value, a share of the largest
    contribution to a sensitive cell, or the largest protection level of a sensitive cell."""
    share: Annotated[float, Gt(0)] = 10.0
    """Percent of the value or contribution from which the base is chosen; also where the base is
    to be a level but a rule states none."""

    def base_for(self, table: Table, sensitive: Sensitive) -> float:
        r"""Return the base, or refuse one too small to protect the sensitive cells.

        Notes
        -----
        The three choices of section 2.2 of matias2013; with an (n, k) rule the third is
        :math:`\max_s \{100/k \sum_{t \le n} y_t - \sum_t y_t\}`. Chosen bases are rounded up
        to one digit: readers see the base, and the level of a cell tells its contributions.
        """
        check_changeable(table)
        least = least_base(table, sensitive)
        chosen = self.base if not isinstance(self.base, str) else self._chosen(table, sensitive)
        if isinstance(self.base, str):
            chosen = _one_digit(max(chosen, least))
        if chosen < least:
            raise ProtectionError(
                "the base is too small for the protection the rule requires",
                got=f"base {chosen:g}, protection level {least:g} at "
                f"{table.describe(np.array([_neediest(sensitive)]))}",
                do=f"choose a base of at least {least:g}",
            )
        _check_coarser(table, sensitive, chosen)
        return chosen

    def _chosen(self, table: Table, sensitive: Sensitive) -> float:
        cells = sensitive.primary
        if not len(cells):
            return 1.0
        match self.base:
            case "value":
                return self.share / 100.0 * float(np.abs(table.value[cells]).max())
            case "contribution":
                if table.respondents is None:
                    raise ParameterError(
                        "the table knows no contributions to choose a base from",
                        do="tabulate microdata, or give the base as a number",
                    )
                largest = np.abs(table.respondents.top[cells, 0]).max()
                return self.share / 100.0 * float(largest)
            case _:
                unstated = np.abs(table.value[without_level(sensitive)]).max(initial=0.0)
                return max(least_base(table, sensitive), self.share / 100.0 * float(unstated), 1.0)


def least_base(table: Table, sensitive: Sensitive) -> float:
    """Return the smallest base that protects: the largest protection level of a sensitive cell.

    Whole numbers need a base of two: nearer to a multiple of one there is only that number itself.
    """
    if not len(sensitive):
        return 0.0
    largest = float(np.max([sensitive.below, sensitive.above, sensitive.width]))
    return max(largest, _WHOLE) if table.integral else largest


def _one_digit(base: float) -> float:
    """Return the next number above with a single digit other than zero."""
    unit = 10.0 ** np.floor(np.log10(base))
    return float(np.ceil(base / unit - 1e-9) * unit)


def _neediest(sensitive: Sensitive) -> int:
    levels = np.max([sensitive.below, sensitive.above, sensitive.width], axis=0)
    return int(np.argmax(np.where(sensitive.cells, levels, -np.inf)))


def _check_coarser(table: Table, sensitive: Sensitive, base: float) -> None:
    """Refuse a base as fine as the values themselves, such as a cent where cents are published."""
    if table.integral or not len(sensitive) or split_by_base(table.value, base)[1].any():
        return
    raise ProtectionError(
        "every cell is a multiple of the base, so rounding would publish the table as it is",
        got=f"base {base:g}",
        do="choose a larger base",
    )


def split_by_base(value: np.ndarray, base: float) -> tuple[np.ndarray, np.ndarray]:
    """Return how many whole bases each value holds, and the share of a base that is left.

    A rest that only rounding errors of floating point leave is none.
    """
    ratio = value / base
    dust = np.minimum(1e-9 + 8 * np.spacing(np.abs(ratio)), 0.25)
    whole = np.floor(ratio + dust)
    rest = ratio - whole
    return whole, np.where(rest < dust, 0.0, rest)


def check_frozen(table: Table, published: np.ndarray) -> None:
    """Refuse a result that changes a cell that must be published as it is."""
    if table.frozen is None:
        return
    moved = np.flatnonzero(table.frozen & (published != table.value))
    if len(moved):
        raise ProtectionError(
            "rounding would change cells that must be published as they are",
            got=table.describe(moved),
            do="free them, or choose a base that divides them",
        )
