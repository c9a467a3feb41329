"""Evidence of models: a design, its moments, and what they say about the most exposed unit.

A model reads more sums only when asked: guards may take columns out first, and the passes over the
data that follow see the model as it then is.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import product
from typing import Any, Literal

import numpy as np

from tacit.query._model_numbers import Fit, least_squares, likelihood, robust
from tacit.query.answer import PARSE, Refused
from tacit.query.evidence import Factor, Influence, Lazy, Link, Moments, Term
from tacit.query.formula import TRANSFORMATIONS, Formula
from tacit.query.formula import Factor as Written
from tacit.query.formula import Term as WrittenTerm

INTERCEPT = "(intercept)"
BIN = "bin"
"""Written as a transformation, it uses a number through its public bins."""
_MOST_COLUMNS = 1_000
_AFTERWARDS = {
    "noise", "noise_scale", "square_noise", "pair_noise", "digits", "size_change", "column_changes",
}  # fmt: skip
"""Fields that change what is released, and not the model itself."""
_READ = ("fit", "exposure", "parts", "leverage", "meat")
"""What takes passes over the data, and is the same whatever is added to it."""


@dataclass(frozen=True)
class Digits:
    """How finely numbers are released; nothing is as finely as they are known."""

    n_base: int = 1
    """The number of units is rounded to a multiple of this."""
    share: float = 0.1
    """Coefficients are rounded to this share of their standard error."""
    significant: int = 3
    """Significant digits of everything else."""


@dataclass(frozen=True, eq=False)
class Model(Lazy):
    """A model, the columns it has kept, and the noise that guards have put on it."""

    formula: Formula
    terms: tuple[Term, ...]
    """All columns of the design, with those of every category; the intercept first."""
    response: Term
    found: Moments
    """Moments of all columns over the complete records."""
    view: Any
    """Where further sums come from."""
    references: Mapping[str, str]
    """The most common category of each variable, which has no column."""
    kept: tuple[int, ...]
    """Columns in the model."""
    link: Link = "identity"
    weighted: bool = False
    is_robust: bool = False
    absorbed: tuple[str, ...] = ()
    """Columns that were taken out because too few units have them."""
    noise: np.ndarray | None = None
    """What is added to the score of each column."""
    noise_scale: np.ndarray | None = None
    """Standard deviation of that noise."""
    square_noise: float = 0.0
    """What is added to the sum of squares of the response."""
    pair_noise: np.ndarray | None = None
    """What is added to each correlation and variance, where there is no response."""
    digits: Digits | None = None
    size_change: int = 0
    """What is added to the number of units."""
    column_changes: np.ndarray | None = None
    """What is added to the number of units on which the error of each column rests."""
    origin: Mapping[int, WrittenTerm] = field(default_factory=dict)
    """The term of the formula that each column comes from."""

    def with_(self, **changes: Any) -> Model:
        """Return the model with some fields changed; what was read of the data is kept."""
        changed = replace(self, **changes)
        if changes.keys() <= _AFTERWARDS:
            known = {name: vars(self)[name] for name in _READ if name in vars(self)}
            vars(changed).update(known)
        return changed

    @property
    def names(self) -> tuple[str, ...]:
        """Names of all columns."""
        return self.found.names

    @cached_property
    def fit(self) -> Fit:
        """The estimated model, before any noise."""
        columns = np.array(self.kept, dtype=int)
        if self.found.units <= len(columns):
            raise Refused("degrees-of-freedom", "the model has too many coefficients")
        if self.link != "identity":
            return likelihood(self.found, columns, self.link, self.mean, self._again)
        return robust(self.found, columns, self._again) if self.is_robust else least_squares(
            self.found, columns
        )  # fmt: skip

    @property
    def mean(self) -> float:
        """Weighted mean of the response."""
        scale, centre = _of_response(self.found)
        return centre + scale * self.found.y_sum / self.found.weight

    def _again(self, **changes: Any) -> Moments:
        found: Moments = self.view.moments(
            self.terms, self.response, weighted=self.weighted, link=self.link, **changes
        )
        return found

    @property
    def _levels(self) -> tuple[Factor, ...]:
        levels = [f for t in self.terms for f in t.factors if f.level is not None]
        return tuple(dict.fromkeys(levels))

    @property
    def categories(self) -> tuple[str, ...]:
        """The categories that have a column, as ``variable[category]``."""
        return tuple(f"{f.variable}[{f.level}]" for f in self._levels)

    @cached_property
    def exposure(self) -> Influence:
        """The most exposed unit of the fitted model, and how well categories are predicted."""
        return self._influence(leverage=True)

    @cached_property
    def parts(self) -> Influence:
        """The same, where the leverage need not be known."""
        return self.exposure if "exposure" in vars(self) else self._influence(leverage=False)

    def _influence(self, leverage: bool) -> Influence:
        found: Influence = self.view.influence(
            self.terms, self.response, self.fit.beta, self.fit.inverse,
            weighted=self.weighted, link=self.link, groups=self._levels, leverage=leverage,
        )  # fmt: skip
        return found

    def leverage_within(self, limit: float) -> bool:
        """Whether no unit has a leverage above a limit: by a bound if that settles it."""
        return self._leverage_bound <= limit or self.leverage <= limit

    @property
    def _leverage_bound(self) -> float:
        bounds = [self._bound(self.fit.inverse, self.link)]
        if self._has_working_design:
            bounds.append(self._bound(self._plain, "identity"))
        return max(bounds)

    def _bound(self, inverse: np.ndarray, link: Link) -> float:
        return float(
            self.view.leverage_bound(
                self.terms, self.response, inverse, weighted=self.weighted, link=link
            )
        )

    @property
    def _has_working_design(self) -> bool:
        return self.link != "identity" or self.is_robust

    @property
    def _plain(self) -> np.ndarray:
        """(X'WX)^-1 of the design itself, without working weights."""
        return least_squares(self.found, np.array(self.kept, dtype=int)).inverse

    @cached_property
    def leverage(self) -> float:
        """The largest leverage of a unit: on the working design, and on the design itself.

        A perfectly predicted unit has no working weight, so the second is needed with a link.
        """
        largest = self.exposure.leverage
        if not self._has_working_design:
            return largest
        found: Influence = self.view.influence(
            self.terms, self.response, np.zeros(len(self.terms)), self._plain,
            weighted=self.weighted,
        )  # fmt: skip
        return max(largest, found.leverage)

    @cached_property
    def meat(self) -> np.ndarray:
        """Sum of w^2 r^2 xx': the middle of a robust covariance."""
        links = {"identity": "squares", "logit": "logit squares", "log": "log squares"}
        squares = self.view.moments(
            self.terms, self.response, weighted=self.weighted, link=links[self.link],
            coefficients=self.fit.beta,
        )  # fmt: skip
        return np.asarray(squares.xtx)

    @property
    def n_published(self) -> int:
        """Number of units, as coarsely as it may be told."""
        base = 1 if self.digits is None else self.digits.n_base
        return max(round((self.found.units + self.size_change) / base) * base, base)

    @property
    def part(self) -> float:
        """Published number of units divided by the true one, before rounding."""
        return max(1 + self.size_change / self.found.units, 0.5)

    def without(self, columns: Sequence[int], note: bool = True) -> Model:
        """Return the model with some columns taken out."""
        gone = set(columns)
        names = tuple(self.names[j] for j in self.kept if j in gone)
        return replace(
            self,
            kept=tuple(j for j in self.kept if j not in gone),
            absorbed=(*self.absorbed, *names) if note else self.absorbed,
        )

    def support(self, column: int) -> int | None:
        """Units for which a column that stands for categories is not zero; nothing for numbers."""
        return self.found.support.get(self.names[column])


def _of_response(found: Moments) -> tuple[float, float]:
    scale = 1.0 if found.scale is None else float(found.scale[-1])
    return scale, 0.0 if found.centre is None else float(found.centre[-1])


# -- from a formula to a design ------------------------------------------------------------------


def gathered(
    formula: Formula,
    view: Any,
    *,
    link: Link = "identity",
    weighted: bool = False,
    is_robust: bool = False,
    event: str | None = None,
) -> Model:
    """Build the design of a formula, take its moments, and choose the reference categories."""
    terms, origin = design(formula, view.schema)
    response = _response(formula, view.schema, event)
    weighted = weighted and view.schema.has_weight
    found = view.moments(terms, response, weighted=weighted)
    references = _references(terms, found)
    hidden = {(v, level) for v, level in references.items()}
    kept = tuple(
        j
        for j, term in enumerate(terms)
        if (j == 0 or j in origin)
        and not any((f.variable, f.level) in hidden for f in term.factors)
    )
    return Model(
        formula=formula, terms=terms, response=response, found=found, view=view,
        references=references, kept=kept, link=link, weighted=weighted, is_robust=is_robust,
        origin=origin,
    )  # fmt: skip


def design(formula: Formula, schema: Any) -> tuple[tuple[Term, ...], dict[int, WrittenTerm]]:
    """Return all columns of a formula, and the term each comes from.

    Categories have a column each, of which the reference is taken out later. Variables that only
    occur in interactions have columns too, so that their most common category is known; they come
    from no term.
    """
    columns, origin = {INTERCEPT: Term(INTERCEPT)}, {}
    for written in formula.terms:
        for column in _columns(written, schema):
            origin[list(columns).index(column.name) if column.name in columns else len(columns)] = (
                written
            )
            columns.setdefault(column.name, column)
    alone = [(f,) for f in formula.factors if f != formula.response and is_category(f, schema)]
    for written in alone:
        columns |= {c.name: c for c in _columns(written, schema) if c.name not in columns}
    if len(columns) > _MOST_COLUMNS:
        raise Refused(PARSE, "the model has too many columns", hint="use coarser variables")
    return tuple(columns.values()), origin


def _columns(written: WrittenTerm, schema: Any) -> list[Term]:
    choices = [_factors(factor, schema) for factor in written]
    return [Term(":".join(map(_named, parts)), parts) for parts in product(*choices)]


def _factors(factor: Written, schema: Any) -> list[Factor]:
    if is_category(factor, schema):
        labels = schema.variable(factor.variable).labels
        return [Factor(factor.variable, label) for label in labels if label != "missing"]
    schema.number(factor.variable)
    if factor.transform is not None and factor.transform not in TRANSFORMATIONS:
        raise Refused("transformations", "there is no such transformation")
    return [Factor(factor.variable, None, _transform(factor.transform))]


def _transform(name: str | None) -> Literal["identity", "square", "sqrt", "log"]:
    known: dict[str | None, Literal["identity", "square", "sqrt", "log"]] = {
        None: "identity", "square": "square", "sqrt": "sqrt", "log": "log",
    }  # fmt: skip
    return known[name]


def is_category(factor: Written, schema: Any) -> bool:
    """Whether a factor is used through categories: by its kind, or because its bins are asked."""
    if factor.transform == BIN:
        return True
    number = factor.variable in schema.numbers
    if not number and factor.transform is not None:
        raise Refused("transformations", "only numbers can be transformed")
    return not number


def _named(factor: Factor) -> str:
    if factor.level is not None:
        return f"{factor.variable}[{factor.level}]"
    written = Written(factor.variable, None if factor.transform == "identity" else factor.transform)
    return str(written)


def _response(formula: Formula, schema: Any, event: str | None) -> Term:
    if formula.response is None:
        return Term("1")
    factor = formula.response
    if event is None:
        if is_category(factor, schema):
            raise Refused(PARSE, "the response must be a number")
        return Term(str(factor), tuple(_factors(factor, schema)))
    if factor.transform is not None:
        raise Refused("transformations", "a response of two categories cannot be transformed")
    if event not in schema.variable(factor.variable).labels:
        raise Refused(PARSE, "the response has no such category")
    return Term(f"{factor.variable}[{event}]", (Factor(factor.variable, event),))


def _references(terms: Sequence[Term], found: Moments) -> dict[str, str]:
    """Return the category of each variable that most units have; the first of equals."""
    best: dict[str, tuple[int, str]] = {}
    for term in terms:
        if len(term.factors) != 1 or term.factors[0].level is None:
            continue
        factor, size = term.factors[0], found.support.get(term.name, 0)
        if factor.variable not in best or size > best[factor.variable][0]:
            best[factor.variable] = (size, str(factor.level))
    return {variable: level for variable, (_, level) in best.items()}
