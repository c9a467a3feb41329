"""Probability ratios, Eq. (4.11) of truta2003, of every target with every released record.

A field that the intruder does not know, or that is missing in the release, speaks neither for nor
against a record: records match on the fields that are there on both sides, and the ratio is taken
over those. Targets and records with the same known and missing fields are treated together.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np

from tacit.core.errors import DataError
from tacit.core.keys import group_ids
from tacit.core.progress import track
from tacit.risk._agreement import AgreementModel
from tacit.risk._external import KnownField
from tacit.risk._neighbours import distinct_rows

Base = Literal["joint", "independent"]
_MOST_PATTERNS = 20_000
"""Pairs of (known fields, released fields) that can be worked through."""


@dataclass(frozen=True)
class Ratios:
    """Probability ratios of target units."""

    total: np.ndarray
    """Sum over all released records, for each original record."""
    own: np.ndarray
    """Ratio with the record's own release, for each pair of corresponding records."""


@dataclass(frozen=True)
class _Rows:
    """Distinct rows of codes, grouped by which codes are there."""

    of_record: np.ndarray
    distinct: np.ndarray
    is_there: np.ndarray
    pattern: np.ndarray
    n_patterns: int

    @classmethod
    def of(cls, fields: list[np.ndarray], places: list[np.ndarray]) -> _Rows:
        """Put the codes of fields, and the places of near ones, side by side."""
        distinct, of_record = distinct_rows(np.column_stack([*fields, *places]))
        is_there = distinct[:, : len(fields)] >= 0
        pattern, n_patterns = group_ids(is_there.astype(np.int64))
        return cls(of_record, distinct, is_there, pattern, n_patterns)

    @cached_property
    def members(self) -> list[np.ndarray]:
        """Distinct rows of each pattern."""
        order = np.argsort(self.pattern, kind="stable")
        ends = np.searchsorted(self.pattern[order], np.arange(1, self.n_patterns))
        return [np.asarray(part) for part in np.split(order, ends)]

    def amounts(self, weights: np.ndarray | None) -> np.ndarray:
        """Count the records of each distinct row, or sum their weights."""
        totals = np.bincount(self.of_record, weights=weights, minlength=len(self.distinct))
        return np.asarray(totals, dtype=np.float64)


def _external_rows(fields: Sequence[KnownField]) -> _Rows:
    places = [f.places[0] for f in fields if f.places is not None]
    return _Rows.of([f.external for f in fields], places)


def _population_rows(fields: Sequence[KnownField]) -> _Rows:
    places = [f.places[0] for f in fields if f.places is not None]
    return _Rows.of([f.of_population for f in fields], places)


class RatioModel:
    """Ratios between the external information on targets and released records.

    `relative` says that only quotients of ratios matter, as for a target certain to be released;
    their denominators are then left out where they cancel.
    """

    def __init__(
        self,
        fields: Sequence[KnownField],
        weights: np.ndarray | None,
        base: Base,
        *,
        relative: bool = False,
    ) -> None:
        self._agreement = AgreementModel(fields)
        places = [f.places for f in fields if f.places is not None]
        self._targets = _external_rows(fields)
        self._records = _Rows.of([f.released for f in fields], [p[1] for p in places])
        # How common values are does not depend on whose values the intruder happens to know.
        is_other = any(f.whole is not None or f.own_label is not None for f in fields)
        everybody = [f.whole or f for f in fields]
        self._population = _population_rows(everybody) if is_other else self._targets
        self._amounts = self._population.amounts(weights)
        self._base = base
        n_pairs = self._targets.n_patterns * self._records.n_patterns
        self._is_chance_needed = not relative or n_pairs > 1
        self._known: dict[tuple[int, tuple[int, ...]], np.ndarray] = {}

    def ratios(self, at: np.ndarray, to: np.ndarray) -> Ratios:
        """Work out the ratios; original records `at` correspond to released records `to`."""
        targets, records = self._targets, self._records
        self._check_size()
        counts = records.amounts(None)
        total, own = np.zeros(len(targets.distinct)), np.empty(len(at))
        for of_target, of_record, pairs in self._pattern_pairs(at, to):
            rows, others = targets.members[of_target], records.members[of_record]
            is_shared = targets.is_there[rows[0]] & records.is_there[others[0]]
            fields = tuple(np.flatnonzero(is_shared).tolist())
            chance = self._chance(of_target, fields)
            total[rows] += (
                self._agreement.totals(
                    targets.distinct[rows], records.distinct[others], counts[others], fields
                )
                / chance[rows]
            )
            mine, its = targets.of_record[at[pairs]], records.of_record[to[pairs]]
            agreement = self._agreement.each(targets.distinct[mine], records.distinct[its])
            own[pairs] = agreement / chance[mine]
        return Ratios(total[targets.of_record], own)

    def _check_size(self) -> None:
        n_pairs = self._targets.n_patterns * self._records.n_patterns
        if n_pairs > _MOST_PATTERNS:
            raise DataError(
                "there are too many patterns of missing keys to match them all",
                got=f"{self._targets.n_patterns} patterns in the original, "
                f"{self._records.n_patterns} in the release",
                do="name fewer keys",
            )

    def _pattern_pairs(
        self, at: np.ndarray, to: np.ndarray
    ) -> Iterator[tuple[int, int, np.ndarray]]:
        """Yield each pattern of targets with each pattern of records, and their own pairs."""
        targets, records = self._targets, self._records
        combined = (
            targets.pattern[targets.of_record[at]] * records.n_patterns
            + records.pattern[records.of_record[to]]
        )
        order = np.argsort(combined, kind="stable")
        n_pairs = targets.n_patterns * records.n_patterns
        starts = np.searchsorted(combined[order], np.arange(n_pairs + 1))
        with track("matching", n_pairs) as advance:
            for number in range(n_pairs):
                pairs = order[starts[number] : starts[number + 1]]
                yield *divmod(number, records.n_patterns), pairs
                advance(1)

    def _chance(self, pattern: int, fields: tuple[int, ...]) -> np.ndarray:
        """P(Ext | not in the sample): how often the population has the values of these fields.

        Filled in for the targets of one pattern.
        """
        if (pattern, fields) not in self._known:
            rows = self._targets.members[pattern]
            chance = np.ones(len(self._targets.distinct))
            if not self._is_chance_needed:
                return chance
            if self._base == "joint":
                chance[rows] = self._share(rows, fields)
            else:
                for c in fields:
                    chance[rows] *= self._share_of_one(rows, c)
            self._known[pattern, fields] = chance
        return self._known[pattern, fields]

    def _share(self, rows: np.ndarray, fields: tuple[int, ...]) -> np.ndarray:
        """Share of the population that agrees with each row on some fields.

        Where a record of the population lacks a field, it agrees with the chance that others do:
        leaving it out could make two fields look more common than one of them.
        """
        is_there = self._population.is_there[:, fields]
        pattern, n_patterns = group_ids(is_there.astype(np.int64))
        found = np.zeros(len(rows))
        for number in range(n_patterns):
            members = np.flatnonzero(pattern == number)
            is_known = is_there[members[0]]
            known = tuple(c for c, known in zip(fields, is_known, strict=True) if known)
            totals = self._totals(rows, members, known)
            for c in set(fields) - set(known):
                totals = totals * self._share_of_one(rows, c)
            found += totals
        return found / float(self._amounts.sum())

    def _share_of_one(self, rows: np.ndarray, field: int) -> np.ndarray:
        """Share of the population that agrees on one field, among the records that have it."""
        complete = np.flatnonzero(self._population.is_there[:, field])
        return self._totals(rows, complete, (field,)) / float(self._amounts[complete].sum())

    def _totals(self, rows: np.ndarray, members: np.ndarray, fields: tuple[int, ...]) -> np.ndarray:
        """Sum the weights of some of the population times their agreement with each row."""
        weights = self._amounts[members]
        if not fields:
            return np.full(len(rows), weights.sum())
        return self._agreement.totals(
            self._targets.distinct[rows], self._population.distinct[members], weights, fields
        )
