"""What an intruder knows and can do, as a value."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
from annotated_types import Ge, Le
from pydantic import ConfigDict, Field

from tacit.core.method import Columns
from tacit.core.value import Value

if TYPE_CHECKING:
    from tacit.core.data import Microdata

Share = Annotated[float, Ge(0), Le(1)]


class Knowledge(Value):
    """What an intruder knows: a file of their own, the method, their own answers, and how much.

    The default intruder is strong: a complete and correct file of the keys, certain that everybody
    in it is in the release, with the method and its parameters at hand (only seeds and keys are
    secret), a respondent, without a limit on queries.

    Examples
    --------
    >>> import tacit
    >>> from tacit.attack import Knowledge
    >>> careless = Knowledge(columns=["sex", "age"], error=0.1, coverage=0.5)
    >>> file, covered = careless.external(tacit.datasets.census(1000))
    >>> len(file), int(covered.sum())
    (1000, 500)
    """

    model_config = ConfigDict(arbitrary_types_allowed=True)

    columns: Columns | None = None
    """Columns of the intruder's own file; by default the keys."""
    error: Share = 0.0
    """Share of categories that are wrong in that file, and noise on numbers in standard
    deviations."""
    coverage: Share = 1.0
    """Share of the people that are in the intruder's file."""
    some: dict[str, Any] = Field(default_factory=dict)
    """Columns known for some records only: a true/false array per column (TFB, section 3)."""
    membership: Share = 1.0
    """How certain the intruder is that somebody is in the release."""
    method: bool = True
    """Whether the intruder knows the method and its parameters."""
    respondent: bool = True
    """Whether the intruder is a respondent and knows an own contribution."""
    coalition: Annotated[int, Ge(1)] = 1
    """Number of respondents who pool what they know."""
    known_within: Annotated[float, Ge(0)] | None = None
    """Percentage within which the intruder knows every value of a table beforehand."""
    excluded: Annotated[int, Ge(0)] = 1
    """Values of a confidential column that the intruder can rule out for somebody."""
    queries: Annotated[int, Ge(1)] | None = None
    """Most requests to a server; no limit unless given."""
    holdout: Any = None
    """Records of the same population that the release was not made from, as a control."""
    seed: Annotated[int, Ge(0)] = 0
    """Seed of what the attack draws at random."""

    @property
    def rng(self) -> np.random.Generator:
        """Random numbers of the attack."""
        return np.random.default_rng(self.seed)

    def control(self, original: Microdata) -> Microdata | None:
        """Return the hold-out with the roles of the original, or nothing where there is none."""
        return None if self.holdout is None else _control(self.holdout, original)

    def check(self, original: Microdata) -> None:
        """Refuse at once what does not fit the data: columns, flags, the hold-out."""
        from tacit.core.errors import DataError

        original.schema.require([*(self.columns or ()), *self.some])
        for name, flags in self.some.items():
            if np.shape(flags) != (original.n_records,):
                raise DataError(
                    f"what is known of {name!r} needs a true or false for each record",
                    got=f"{np.size(flags)} for {original.n_records:,} records",
                )
        self.control(original)

    def attributes(self, original: Microdata, released: Microdata) -> list[str]:
        """Columns of the intruder's file that the release has too."""
        named = list(self.columns) if self.columns else original.schema.keys
        original.schema.require(named)
        return [name for name in named if name in released.schema]

    def external(self, original: Microdata) -> tuple[Microdata, np.ndarray]:
        """Return the intruder's file, in the order of the original, and who is in it."""
        rng, n = self.rng, original.n_records
        covered = np.zeros(n, dtype=bool)
        covered[rng.permutation(n)[: round(self.coverage * n)]] = True
        names = list(self.columns) if self.columns else original.schema.keys
        file = original
        if self.some:
            file = file.with_knowledge([c for c in names if c not in self.some], _flags(self.some))
        return (_with_errors(file, names, self.error, rng) if self.error else file), covered


def _control(holdout: Any, original: Microdata) -> Microdata:
    from tacit.core.data import Microdata
    from tacit.core.errors import DataError
    from tacit.core.pairing import substantive_columns

    held, names = Microdata.of(holdout), substantive_columns(original)
    missing = [name for name in names if name not in held.schema]
    if missing or not held.n_records:
        raise DataError(
            "the hold-out lacks columns of the original" if missing else "the hold-out is empty",
            got=", ".join(missing[:5]) or "no record",
            do="give records of other people with all columns of the original",
        )
    schema = original.schema.select(names)
    return Microdata.of(held.local.select(names)).with_schema(schema)


def _flags(some: Mapping[str, Any]) -> dict[str, Any]:
    return {name: np.asarray(flags) for name, flags in some.items()}


def _with_errors(
    data: Microdata, names: list[str], error: float, rng: np.random.Generator
) -> Microdata:
    """Put noise on numbers, and another record's value in place of some categories."""
    from tacit.core.schema import Kind

    table = data.local
    for name in names:
        if data.schema[name].kind is Kind.NUMERIC:
            values = data.numeric([name])[:, 0]
            noisy = values + rng.normal(0, error * np.nanstd(values), len(values))
            data = data.with_arrays({name: noisy})
        else:
            source = np.arange(data.n_records)
            wrong = np.flatnonzero(rng.random(len(source)) < error)
            source[wrong] = rng.integers(0, len(source), len(wrong))
            data = data.with_local(data.local.with_columns(table[name][source].alias(name)))
    return data
