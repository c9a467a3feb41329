"""Model formulas: a small grammar of our own, read without ever running what was written.

A formula names a response and predictors, for instance ``log(turnover) ~ region*size + age``. It
knows names, three transformations, sums, and interactions; nothing else. A name with spaces or
other signs stands between backticks.

::

    formula     = factor "~" product { "+" product }
    product     = interaction { "*" interaction }
    interaction = factor { ":" factor }
    factor      = name | word "(" name ")"
"""

from __future__ import annotations

import re
from itertools import combinations
from typing import TYPE_CHECKING, NamedTuple

from tacit.core.errors import ParameterError
from tacit.core.value import Value

if TYPE_CHECKING:
    from tacit.query.analysis import Needs

TRANSFORMATIONS = ("square", "sqrt", "log")
"""What may be done to a number; the list of the Microdata Analysis System."""
_LONGEST = 2_000
_MOST_IN_A_PRODUCT = 6
_TOKEN = re.compile(
    r"\s*(?:`(?P<quoted>[^`\n]{1,200})`|(?P<name>[^\W\d][\w.]*)|(?P<sign>[~+*:()]))"
)


class Factor(NamedTuple):
    """A variable, as it is or transformed."""

    variable: str
    transform: str | None = None

    def __str__(self) -> str:
        name = self.variable
        shown = name if re.fullmatch(r"[^\W\d][\w.]*", name) else f"`{name}`"
        return f"{self.transform}({shown})" if self.transform else shown


Term = tuple[Factor, ...]
"""One predictor, or several that interact."""


def term_name(term: Term) -> str:
    """Write a term as it would stand in a formula."""
    return ":".join(map(str, term))


class Formula(Value):
    """A response and the terms that predict it.

    Examples
    --------
    >>> formula = Formula.parse("log(wage) ~ sex*age + region")
    >>> str(formula)
    'log(wage) ~ sex + age + region + sex:age'
    >>> formula.predictors
    ('sex', 'age', 'region')
    """

    response: Factor | None = None
    """What is explained; nothing where variables are only described together."""
    terms: tuple[Term, ...]
    """What explains it, lower orders first."""

    @classmethod
    def parse(cls, text: str) -> Formula:
        """Read a formula, or say which rule of the grammar it breaks."""
        response, products = _Reader(text).formula()
        terms = _in_order(term for product in products for term in _expanded(product))
        used = {factor.variable for term in terms for factor in term}
        if response.variable in used:
            raise _bad(f"the response {response.variable!r} is also a predictor")
        return cls(response=response, terms=terms)

    @classmethod
    def of_variables(cls, factors: list[str]) -> Formula:
        """Read a list of variables, each as it is or transformed, without a response."""
        terms = tuple((_Reader(text).single(),) for text in factors)
        if len(set(terms)) < len(terms):
            raise _bad("a variable is named twice")
        return cls(terms=terms)

    @property
    def factors(self) -> tuple[Factor, ...]:
        """Every factor that occurs, the response first, each once."""
        first = () if self.response is None else (self.response,)
        return tuple(dict.fromkeys((*first, *(f for term in self.terms for f in term))))

    @property
    def predictors(self) -> tuple[str, ...]:
        """Variables that explain, each once however it is transformed."""
        return tuple(dict.fromkeys(f.variable for term in self.terms for f in term))

    @property
    def variables(self) -> tuple[str, ...]:
        """Every variable that occurs."""
        return tuple(dict.fromkeys(f.variable for f in self.factors))

    def __str__(self) -> str:
        right = " + ".join(map(term_name, self.terms))
        return right if self.response is None else f"{self.response} ~ {right}"


def _bad(what: str, got: object = None) -> ParameterError:
    return ParameterError(
        f"formula: {what}", got=got, do="write a formula such as: y ~ a + b*c + log(d)"
    )


def _expanded(product: list[Term]) -> list[Term]:
    """Return a product with everything it implies: ``a*b`` is a, b and their interaction."""
    if len(product) > _MOST_IN_A_PRODUCT:
        raise _bad(f"interactions: a product of more than {_MOST_IN_A_PRODUCT}", got=len(product))
    chosen = (c for size in range(1, len(product) + 1) for c in combinations(product, size))
    return [_joined(parts) for parts in chosen]


def _joined(parts: tuple[Term, ...]) -> Term:
    factors = tuple(factor for part in parts for factor in part)
    if len({f.variable for f in factors}) < len(factors):
        raise _bad("a variable interacts with itself; use square()", got=term_name(factors))
    return factors


def _in_order(terms: object) -> tuple[Term, ...]:
    """Return distinct terms, lower orders first; a:b and b:a are the same."""
    seen: dict[frozenset[Factor], Term] = {}
    for term in terms:  # type: ignore[attr-defined]
        seen.setdefault(frozenset(term), term)
    return tuple(sorted(seen.values(), key=len))


class _Reader:
    """Reads one formula from left to right; it never looks anything up and never runs anything."""

    def __init__(self, text: str) -> None:
        if not isinstance(text, str):
            raise _bad("it must be text", got=type(text).__name__)
        if len(text) > _LONGEST:
            raise _bad(f"it is longer than {_LONGEST} characters", got=len(text))
        self._tokens = _tokens(text)
        self._at = 0

    def formula(self) -> tuple[Factor, list[list[Term]]]:
        response = self._factor()
        self._expect("~")
        products = [self._product()]
        while self._next_is("+"):
            products.append(self._product())
        self._end()
        return response, products

    def single(self) -> Factor:
        factor = self._factor()
        self._end()
        return factor

    def _product(self) -> list[Term]:
        parts = [self._interaction()]
        while self._next_is("*"):
            parts.append(self._interaction())
        return parts

    def _interaction(self) -> Term:
        factors = [(self._factor(),)]
        while self._next_is(":"):
            factors.append((self._factor(),))
        return _joined(tuple(factors))

    def _factor(self) -> Factor:
        kind, word = self._take()
        if kind == "sign":
            raise _bad("a name is missing", got=f"{word!r} in its place")
        if kind == "name" and self._next_is("("):
            _, inner = self._name()
            self._expect(")")
            return Factor(inner, word)
        return Factor(word)

    def _name(self) -> tuple[str, str]:
        kind, word = self._take()
        if kind == "sign":
            raise _bad("a transformation takes one variable", got=repr(word))
        return kind, word

    def _take(self) -> tuple[str, str]:
        if self._at >= len(self._tokens):
            raise _bad("it ends too early")
        self._at += 1
        return self._tokens[self._at - 1]

    def _next_is(self, sign: str) -> bool:
        found = self._at < len(self._tokens) and self._tokens[self._at] == ("sign", sign)
        self._at += found
        return found

    def _expect(self, sign: str) -> None:
        if not self._next_is(sign):
            given = self._tokens[self._at][1] if self._at < len(self._tokens) else "the end"
            raise _bad(f"{sign!r} is missing", got=repr(given))

    def _end(self) -> None:
        if self._at < len(self._tokens):
            raise _bad("it goes on where it should end", got=repr(self._tokens[self._at][1]))


def _tokens(text: str) -> list[tuple[str, str]]:
    found, at = [], 0
    text = text.rstrip()
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise _bad("it holds a sign that means nothing here", got=repr(text[at : at + 10]))
        kind = match.lastgroup or ""
        found.append((kind, match.group(kind)))
        at = match.end()
    return found


def needs_of(formula: Formula, weighted: bool) -> Needs:
    """Return the variables of a formula; a transformed one must be a number."""
    from tacit.query.analysis import Needs

    plain = [f.variable for f in formula.factors if f.transform in (None, "bin")]
    changed = [f.variable for f in formula.factors if f.transform not in (None, "bin")]
    return Needs(
        categories=tuple(dict.fromkeys(plain)),
        numbers=tuple(dict.fromkeys(changed)),
        weighted=weighted,
    )
