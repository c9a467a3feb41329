"""The mixed micro-macro approach: cells move until no respondent is estimated too well."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

import numpy as np
from annotated_types import Ge, Gt, Lt

from tacit.core.errors import DataError, ParameterError, ProtectionError
from tacit.tables._changeable import check_changeable
from tacit.tables._precision import Steps
from tacit.tables.adjust._m3a_safe_set import Interval, SafeSet, safe_set
from tacit.tables.adjust._m3a_stages import Staged, with_totals_kept
from tacit.tables.protected import ProtectedTable
from tacit.tables.protection import Protection
from tacit.tables.sensitive import Sensitive
from tacit.tables.table import Table


class M3A(Protection, key="m3a", title="Mixed micro-macro approach (M3A)", cites=("matias2013",)):
    r"""Move only the sensitive cells that put a respondent at risk, to the nearest safe value.

    Every sensitive cell is looked at through its contributions: what could each respondent, or an
    outsider who knows how many they are, work out from the published total? A cell whose total is
    far enough from every such estimate is published as it is, sensitive or not. The others move to
    the nearest total that is; sums above them are computed anew, so the table adds up. When not to
    use it: where totals must be the original ones and few other cells may move (`keep_totals` then
    moves others), or for counts.

    Warning: cells move to the edge of what is safe. Who takes a published total as it is misses by
    `d`; who knows the method divides that out again, up or down, and is right in about half of the
    sensitive cells. Suppress where readers may know the method and its parameters.

    Missing values: what building the table made of them. Weights: already in the table's values.
    Households: not considered; cells are changed, not units.

    Notes
    -----
    For contributions :math:`y_1 \ge y_2 \ge \dots \ge y_m` and distance :math:`d` the published
    total :math:`T` stays out of :math:`(T_{\min}, T_{\max})`, where :math:`T_{\min}` is the least
    and :math:`T_{\max}` the largest limit of scenarios I to III, Eq. (10) and (11) of
    [matias2013]_: the largest contribution alone (I), the two largest working out each other (II,
    IIIa), the second working out the rest (IIIb), respondent :math:`\varphi` working out the mean
    of those above (IIIc). Scenario IV, an outsider who divides the total by :math:`m`, excludes a
    band :math:`((1-d) m y_i, (1+d) m y_i)` for every respondent: read as one interval it would
    contradict the paper's own example. Cells of two and more respondents come first, then single
    ones, each on the side that keeps the sums above it nearest to the original.

    Beyond the paper: any number of dimensions, hierarchies, sensitive totals, negative values
    (distances are shares of absolute values), and original totals on request.

    Examples
    --------
    >>> from tacit import tables
    >>> contributions = [10000, 8000, 1600, 1500, 1100, 900, 800]
    >>> tables.M3A(d=10, phi=3).is_safe(contributions)
    True
    >>> tables.M3A(d=10, phi=3).unsafe_interval(contributions)
    (9000.0, 23600.0)
    """

    d: Annotated[float, Gt(0), Lt(100)] = 10.0
    """Percent of a contribution by which every estimate of it must miss."""
    phi: Annotated[int, Ge(2)] = 3
    """The respondent of scenario IIIc; one more than n of an (n, k) rule."""
    crowd: Annotated[int, Ge(2)] = 50
    """Scenario IV is left out above so many respondents: the mean of a crowd lies near
    somebody's contribution whatever is published."""
    balance: bool = True
    """Whether moved cells may take their other safe limit where that brings spread, evenness and
    sums of the whole table nearer to the original; else each takes its nearest."""
    keep_totals: bool = False
    """Whether sums keep their original values; other cells then make up for those that move."""
    seconds: Annotated[float, Gt(0)] = 120.0
    """Time limit where totals are kept."""

    @property
    def depth(self) -> int:
        """All contributions to the cells that are no crowd."""
        return self.crowd

    def unsafe_interval(self, contributions: Sequence[float]) -> Interval:
        """Return the limits of scenarios I to III: totals strictly between them are unsafe."""
        return self._limits(contributions).core

    def safe_set(self, contributions: Sequence[float]) -> list[Interval]:
        """Return the totals that may be published for a cell, as closed intervals.

        Those of scenarios I to III less the bands of scenario IV.
        """
        return self._limits(contributions).intervals

    def is_safe(self, contributions: Sequence[float]) -> bool:
        """Say whether the original total may be published."""
        return self._limits(contributions).holds(float(np.sum(contributions)))

    def _limits(self, contributions: Sequence[float]) -> SafeSet:
        given = np.asarray(contributions, dtype=float)
        if given.ndim != 1 or not len(given) or not np.all(np.isfinite(given)):
            raise ParameterError("contributions are a list of at least one finite number")
        return safe_set(given, len(given), float(given.sum()), self.d / 100.0, self.phi)

    def protect(self, table: Table, sensitive: Sensitive) -> ProtectedTable:
        """Return the table with its unsafe cells moved, or refuse."""
        check_changeable(table)
        table.check_additive()
        sets = self._safe_sets(table, sensitive)
        unsafe = np.array(
            [cell for cell, limits in sets.items() if not limits.holds(table.value[cell])], np.int64
        )
        held = unsafe if table.frozen is None else unsafe[table.frozen[unsafe]]
        if table.frozen is not None and len(held):
            raise ProtectionError(
                "cells that must be published as they are would give respondents away",
                got=table.describe(held),
            )
        if self.keep_totals:
            published = with_totals_kept(table, sets, unsafe, self.seconds)
        else:
            published = Staged(table, sets, self.balance).published(unsafe)
            _check_frozen_sums(table, published)
        self._check(table, sets, published)
        changed = published != table.value
        notes = {
            "additive": True,
            "moved cells": {"d": self.d, "phi": self.phi, "crowd": self.crowd},
            "sensitive": len(sets),
            "sensitive_but_safe": len(sets) - len(unsafe),
            "moved": int(changed[~table.is_total].sum()),
            "largest_change": float(np.abs(published - table.value).max(initial=0.0)),
        }
        return ProtectedTable(table, sensitive, published, self.describe(), notes)

    def _safe_sets(self, table: Table, sensitive: Sensitive) -> dict[int, SafeSet]:
        """Return what may be published for each sensitive cell."""
        known = table.respondents
        if known is None:
            raise DataError(
                "M3A needs the contributions to each cell",
                do="tabulate microdata with a value; ready aggregates do not hold them",
            )
        if known.weight is not None:
            raise DataError("M3A is defined for unweighted contributions", do="drop the weights")
        sets, steps = {}, Steps.of(table)
        for cell in sensitive.primary:
            m = int(known.n_units[cell])
            if m:
                if known.depth < min(m, self.crowd):
                    raise DataError(
                        "M3A needs all contributions to cells of few respondents",
                        got=f"{known.depth} of {m} at {table.describe(np.array([cell]))}",
                        do=f"tabulate with top={self.crowd}, or lower the crowd",
                    )
                top = known.top[cell, : min(m, self.crowd)]
                _check_distance(table, int(cell), top, m)
                sets[int(cell)] = safe_set(
                    top, m, float(table.value[cell]), self.d / 100.0, self.phi, steps
                )
        return sets

    def _check(self, table: Table, sets: dict[int, SafeSet], published: np.ndarray) -> None:
        """Refuse a table that does not add up or holds an unsafe total."""
        table.replace(value=published).check_additive()
        wrong = [cell for cell, limits in sets.items() if not limits.holds(published[cell])]
        if wrong:
            raise ProtectionError(
                "no safe values were found for some cells",
                got=table.describe(np.array(wrong)),
                do="lower d, merge categories, or suppress instead",
            )


def _check_distance(table: Table, cell: int, known: np.ndarray, m: int) -> None:
    """Refuse one or two respondents who contribute nothing: a share of zero is no distance."""
    if m <= 2 and not known.any():
        raise ProtectionError(
            "a cell of one or two respondents is never safe, and zeros cannot move by a share",
            got=table.describe(np.array([cell])),
            do="count zeros as safe in the rule, for example MinFrequency(zero_safe=True)",
        )


def _check_frozen_sums(table: Table, published: np.ndarray) -> None:
    """Refuse where a sum above a moved cell must be published as it is."""
    moved = np.flatnonzero(table.flags("frozen") & (published != table.value))
    if len(moved):
        raise ProtectionError(
            "sums that must be published as they are lie above cells that must move",
            got=table.describe(moved),
            do="keep all totals (keep_totals=True), or release these",
        )
