"""Local suppression: single values blanked until nobody stands out."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations as subsets
from math import comb, inf
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Gt, Lt
from pydantic import Field, model_validator

from tacit.core.data import Microdata
from tacit.core.errors import DataError, ParameterError, ProtectionError, SchemaError, nearest
from tacit.core.families import Mask
from tacit.core.keys import MISSING_CODE, Missing, encode, frequencies
from tacit.core.method import Columns, Try

_MOST_COMBINATIONS = 20_000
_MOST_KEYS = 62
"""Columns that fit in one pattern of bits."""
_SMALL_FILE = 12
"""Up to this many records the cheapest suppression is looked for unasked."""
_ROUNDING = 1e-9
"""Sums of weights are inexact; a risk at the limit is not above it, in whatever order they add."""
_LARGEST_PROGRAM = 400
"""Above this many records the integer program has too many pairs."""


class LocalSuppression(
    Mask,
    key="local-suppression",
    title="Local suppression",
    cites=("samarati2001", "sweeney2002", "templ2015"),
    example={"keys": ["region", "sex", "age", "education"], "k": 3},
    at_scale="blocks",
):
    r"""Blank single values, as few as can be found, until ``k`` records share every key.

    Missing values: by default a missing value may be anything, and what is missing already helps;
    read strictly, missing is a category of its own. Weights: ``k`` counts the records of the file;
    only the risk of ``risk_above`` is weighted. Households: not considered; records are protected
    one by one. Columns linked to a key are blank wherever that key is.

    The result is counted again before it is returned. Where ``k`` cannot be reached, nothing is.

    When not to use it: on keys with many values, such as exact ages or amounts, where most records
    would lose something; recode those first.

    Notes
    -----
    Let :math:`x_r` be the key of record :math:`r`, on one combination of columns :math:`C`. After
    suppression

    .. math:: f_r = \#\{s : x_{sj} \sim x_{rj} \text{ for all } j \in C\} \ge k
              \quad \text{for all } r,

    where :math:`\sim` is equality for the strict reading (the :math:`k`-anonymity of
    [sweeney2002]_ and [samarati2001]_), and also holds where one of the two is missing for the
    wildcard reading, the usual one in official statistics [templ2015]_. The smallest number of
    suppressions is NP-hard to find; the search is greedy:

    - Wildcard: only records at risk lose values. The cheapest sets of values that protect each of
      them are found by counting; those go first that also help most of the others. Last, all
      values are given back that nobody relies on.
    - Strict: classes below :math:`k` are merged by blanking the same values in each of their
      records, the lowest cost per record at risk first; where they are too few, they borrow
      records from larger classes.

    A wildcard counts in favour of all records that may match it, so a record with a rare key can be
    released unchanged because others like it have gaps. The strict reading has no such records; it
    costs about two to three times as many values.

    Costs add up over columns: the importance of a column is the price of one of its values.

    With ``risk_above`` :math:`= t` only records at risk are touched: those with :math:`f_r < k` and
    :math:`1/F_r > t`, where :math:`F_r`, the sum of the weights of the records that may share the
    key, estimates how many people of the population do (without weights :math:`F_r = f_r`). What
    is promised then is weaker: each record shares its key with :math:`k` released records, **or**
    an intruder who does not know who is in the sample finds it with a probability of at most
    :math:`t`. It is no promise against one who knows that a person is in the file. Gaps only add to
    :math:`F_r`, so that nobody's risk grows.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> data = tacit.datasets.patients()
    >>> released = tacit.Plan([mask.LocalSuppression(k=2)]).apply(data, seed=1).frame
    >>> released.select("Age", "State").rows()[5:]
    [(45, 'MI'), (25, None), (None, 'MI'), (55, 'MI'), (45, 'MI')]
    """

    keys: Columns | None = None
    """Variables an intruder may know; by default all with the role key."""
    k: Annotated[int, Ge(2), Try(2, 3, 5, 10)] = 3
    """Smallest number of records that must share a key; larger is safer."""
    combinations: tuple[Columns, ...] | None = None
    """Protect only these combinations of variables, all of them at once."""
    subset_size: Annotated[int, Ge(1)] | None = None
    """Protect every combination of this many keys: 3 for an intruder who knows any three."""
    importance: dict[str, Annotated[float, Gt(0)]] = Field(default_factory=dict)
    """How dear a value of a variable is, 1 unless said; higher is rather kept, inf always."""
    missing: Missing = "wildcard"
    """Whether a missing value may be anything (wildcard) or is a category of its own (strict)."""
    risk_above: Annotated[Annotated[float, Gt(0), Lt(1)] | None, Try(0.02, 0.05, 0.1)] = None
    """Touch only records whose risk, 1 over the estimated number of people with their key, is above
    this; by default all records with a key that fewer than k share."""
    search: Literal["auto", "greedy", "optimal"] = "auto"
    """The fewest values possible, by an integer program (auto: for small files), or near that."""

    @model_validator(mode="after")
    def _check_names(self) -> LocalSuppression:
        if self.risk_above is not None and self.missing == "strict":
            raise ValueError("takes 'risk_above' only with missing = 'wildcard'")
        if self.keys is None:
            return self
        for name in {n for c in self.combinations or () for n in c} | set(self.importance):
            if name not in self.keys:
                raise ValueError(f"names {name!r}, which is not among the keys")
        return self

    def apply(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """Return the records with the values blanked."""
        combinations = self._combinations(data)
        data.schema.require([name for names in combinations for name in names])
        columns = sorted({c for names in combinations for c in names}, key=data.columns.index)
        self._check(data, columns)
        if data.n_records == 0:
            return data
        positions = [[columns.index(name) for name in names] for names in combinations]
        codes = encode(data, columns)
        costs = np.array([self.importance.get(name, 1.0) for name in columns])
        task = _Task(columns, codes, positions, costs, self._exempt(codes, positions, data.weights))
        self._check_reach(task)
        blank = self._search(task)
        masks = {name: blank[:, j] for j, name in enumerate(columns) if blank[:, j].any()}
        absent = {n: blank[:, j] | (codes[:, j] == MISSING_CODE) for j, n in enumerate(columns)}
        masked = data.with_missing(masks | _linked(data, absent))
        self._verify(encode(masked, columns), positions, data.weights)
        return masked

    def kept_together(self, data: Microdata) -> tuple[list[str], list[str]]:
        """Form blocks of records with similar keys: a key that k share then needs nothing."""
        return [], sorted({c for names in self._combinations(data) for c in names})

    def _exempt(
        self, codes: np.ndarray, positions: list[list[int]], weights: np.ndarray | None
    ) -> list[np.ndarray] | None:
        """Mark for each combination the records whose risk is low enough to leave them alone."""
        if self.risk_above is None:
            return None
        shared = (frequencies(codes[:, c], weights, missing="wildcard") for c in positions)
        return [np.asarray(amount * self.risk_above >= 1.0 - _ROUNDING) for amount in shared]

    def _search(self, task: _Task) -> np.ndarray:
        if self.missing == "strict":
            from tacit.mask._local_suppression_strict import suppress as suppress_strictly

            found = suppress_strictly(task.codes, task.positions, self.k, task.costs)
        else:
            from tacit.mask._local_suppression_wildcard import suppress

            found = suppress(task.codes, task.positions, self.k, task.costs, task.exempt)
        if self.search == "greedy" or (self.search == "auto" and len(task.codes) > _SMALL_FILE):
            return found
        return self._improved(found, task)

    def _improved(self, found: np.ndarray, task: _Task) -> np.ndarray:
        """Return the cheapest suppression of a bounded search, unless the one found is as cheap."""
        if self.missing == "strict":
            if self.search == "auto":
                return found
            raise ParameterError(
                f"{self.key}: the optimal search reads missing values as wildcards",
                do="use missing='wildcard' or search='greedy'",
            )
        if len(task.codes) > _LARGEST_PROGRAM:
            raise ParameterError(
                f"{self.key}: the optimal search is for small files",
                got=f"{len(task.codes):,} records, at most {_LARGEST_PROGRAM}",
                do="use search='greedy'",
            )
        from tacit.mask._local_suppression_optimal import suppress_optimally

        best = suppress_optimally(task.codes, task.positions, self.k, task.costs, task.exempt)
        prices = _finite(task.costs)
        if best is None or (best @ prices).sum() >= (found @ prices).sum():
            return found
        return best

    def _combinations(self, data: Microdata) -> list[tuple[str, ...]]:
        """Return the combinations to protect; one within another needs no care of its own."""
        wanted = list(self.combinations or ())
        if self.subset_size is not None or not wanted:
            wanted += self._of_keys(data)
        distinct = {frozenset(names): names for names in wanted}
        if len(distinct) <= 1:
            return list(distinct.values())
        sizes = {len(names) for names in distinct}
        if len(sizes) == 1:
            return list(distinct.values())
        return [n for s, n in distinct.items() if not any(s < other for other in distinct)]

    def _of_keys(self, data: Microdata) -> list[tuple[str, ...]]:
        keys = self.keys or tuple(data.schema.keys)
        if not keys:
            raise SchemaError(
                f"{self.key} needs key variables and the schema has none",
                do="name them in 'keys', or give columns the role key",
            )
        if self.subset_size is None:
            return [keys]
        if self.subset_size > len(keys):
            raise ParameterError(
                f"{self.key}: parameter 'subset_size' is larger than the number of keys",
                got=f"{self.subset_size} of {len(keys)} keys",
            )
        n_subsets = comb(len(keys), self.subset_size)
        if n_subsets > _MOST_COMBINATIONS:
            raise ParameterError(
                f"{self.key}: parameter 'subset_size' asks for too many combinations",
                got=f"{n_subsets:,}",
                do="name the combinations that matter, or fewer keys",
            )
        return list(subsets(keys, self.subset_size))

    def _check(self, data: Microdata, columns: list[str]) -> None:
        data.schema.require(self.keys or ())
        known = {*(self.keys or data.schema.keys), *columns}
        for name in self.importance:
            if name not in known:
                raise ParameterError(
                    f"{self.key}: parameter 'importance' names {name!r}, which is not a key",
                    do=nearest(name, known),
                )
        if len(columns) > _MOST_KEYS:
            raise ParameterError(
                f"{self.key} takes at most {_MOST_KEYS} keys", got=len(columns), do="choose fewer"
            )
        if 0 < data.n_records < self.k:
            raise DataError(
                f"k = {self.k} needs at least {self.k} records",
                got=data.n_records,
                do="lower k or release nothing",
            )

    def _check_reach(self, task: _Task) -> None:
        """Refuse where the values that must be kept are already too rare."""
        from tacit.mask._local_suppression_crowd import fewest_in_reach

        for i, combination in enumerate(task.positions):
            free = None if task.exempt is None else task.exempt[i]
            fewest = fewest_in_reach(task.codes, combination, task.costs, self.missing, free)
            if fewest < self.k:
                kept = [task.columns[j] for j in combination if task.costs[j] == inf]
                raise ProtectionError(
                    f"k = {self.k} cannot be reached while {', '.join(kept)} must be kept",
                    got=f"a combination of their values on only {fewest} records",
                    do="recode them first, or give one of them a finite importance",
                )

    def _verify(
        self, codes: np.ndarray, positions: list[list[int]], weights: np.ndarray | None
    ) -> None:
        """Count the released records once more; what is not safe is not released."""
        from tacit.mask._local_suppression_crowd import rare

        exempt = self._exempt(codes, positions, weights)
        n_rare = int(rare(codes, positions, self.k, self.missing, exempt).sum())
        if n_rare:
            raise ProtectionError(
                f"k = {self.k} was not reached, so nothing is released",
                got=f"{n_rare} records whose key is too rare",
                do="lower k, or recode the keys first",
            )

    def describe(self) -> str:
        """Say in plain words what this method does with these parameters."""
        reading = "may be anything" if self.missing == "wildcard" else "is a category of its own"
        whom = (
            "" if self.risk_above is None else f" on records with a risk above {self.risk_above:g}"
        )
        return (
            f"{self.title}: single values were blanked{whom} until at least {self.k} records share "
            f"{self._what()}, where a missing value {reading}{self._preferences()}"
        )

    def public_note(self) -> str:
        """Say what users of a release may know about this step; parameters stay inside."""
        return f"{self.title}: some single values were blanked where few records share them"

    def _what(self) -> str:
        keys = "the key variables" if self.keys is None else ", ".join(self.keys)
        parts = [f"each combination of {' and '.join(c)}" for c in self.combinations or ()]
        if self.subset_size is not None:
            parts.append(f"each combination of any {self.subset_size} of {keys}")
        return "; ".join(parts) or f"each combination of {keys}"

    def _preferences(self) -> str:
        kept = [name for name, weight in self.importance.items() if weight == inf]
        rather = [f"{name} ({w:g})" for name, w in self.importance.items() if w not in (1, inf)]
        text = f"; always kept: {', '.join(kept)}" if kept else ""
        return text + (f"; importance: {', '.join(rather)}" if rather else "")


@dataclass(frozen=True)
class _Task:
    """The keys as arrays, and what is asked of them."""

    columns: list[str]
    codes: np.ndarray
    positions: list[list[int]]
    """Columns of each combination."""
    costs: np.ndarray
    exempt: list[np.ndarray] | None
    """For each combination the records that may stay as they are; None where none may."""


def _finite(costs: np.ndarray) -> np.ndarray:
    """Return the costs with zero for columns that are never blanked."""
    return np.where(np.isfinite(costs), costs, 0.0)


def _linked(data: Microdata, absent: dict[str, np.ndarray]) -> dict[str, Any]:
    """Blank columns linked to a key wherever the key is absent, links of links included."""
    masks: dict[str, np.ndarray] = {}
    waiting = dict(data.schema.linked)
    while ready := [name for name, key in waiting.items() if key in absent or key in masks]:
        for name in ready:
            key = waiting.pop(name)
            masks[name] = absent[key] if key in absent else masks[key]
    return {name: mask for name, mask in masks.items() if mask.any()}
