"""Rules as a user writes them: ``dominance(2,75)|p(10)&freq(3)``.

The grammar: rules joined with ``|`` (either) and ``&`` (both, binds closer), grouped with round
brackets; a rule is a name with values in brackets, in order or as ``name=value``; several values
stand in square brackets.
"""

from __future__ import annotations

import re
from typing import Any, NamedTuple

from tacit.core.errors import ParameterError, nearest
from tacit.core.method import methods
from tacit.tables.rule import Rule

_TOKEN = re.compile(
    r"\s*(?:(?P<number>[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?)(?![\w-])"
    r"|(?P<word>[^\W\d][\w%-]*)|(?P<text>'[^']*'|\"[^\"]*\")|(?P<mark><=|>=|==|!=|[][|&(),=<>]))"
)
_DEEPEST = 50


class _Token(NamedTuple):
    kind: str
    text: str
    at: int


def rule(text: str) -> Rule:
    """Read a rule from text.

    Every rule goes by its key and its own word: ``dominance``, ``p``, ``pq``, ``freq``, ``zero``,
    ``group``, ``request``, ``user``.

    Raises
    ------
    ParameterError
        With the place at which the text is not understood.

    Examples
    --------
    >>> rule("dominance(2, 75) | p(10) & freq(3, level=holding)").short()
    'dominance(2,75)|p(10)&freq(3,level=holding)'
    """
    reader = _Reader(text)
    found = reader.either()
    reader.expect("end")
    return found


class _Reader:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = _tokens(text)
        self.place = self.depth = 0

    @property
    def next(self) -> _Token:
        return self.tokens[self.place]

    def skip(self, *marks: str) -> bool:
        """Go past a mark, if it is the next thing."""
        if self.next.kind == "mark" and self.next.text in marks:
            self.place += 1
            return True
        return False

    def expect(self, what: str) -> None:
        if what == "end":
            if self.next.kind != "end":
                self.stop("expected | or & or the end")
        elif not self.skip(what):
            self.stop(f"expected {what}")

    def stop(self, why: str) -> None:
        token = self.next
        seen = "the end" if token.kind == "end" else repr(token.text)
        raise ParameterError(
            f"the rule is not understood at character {token.at + 1}: {why}",
            got=f"{seen} in {self.text!r}",
            do="write for example: dominance(2,75)|p(10)&freq(3)",
        )

    def either(self) -> Rule:
        found = self.both()
        while self.skip("|"):
            found = found | self.both()
        return found

    def both(self) -> Rule:
        found = self.one()
        while self.skip("&"):
            found = found & self.one()
        return found

    def one(self) -> Rule:
        if not self.skip("("):
            return self.named()
        self.depth += 1
        if self.depth > _DEEPEST:
            self.stop("too many brackets")
        found = self.either()
        self.expect(")")
        self.depth -= 1
        return found

    def named(self) -> Rule:
        token = self.next
        if token.kind != "word":
            self.stop("expected the name of a rule")
        kind = _known(token)
        self.place += 1
        given = self.values(kind.in_order) if self.skip("(") else {}
        return _made(kind, given, token)

    def values(self, order: tuple[str, ...]) -> dict[str, Any]:
        """Read the values of a rule up to its closing bracket."""
        given: dict[str, Any] = {}
        while not self.skip(")"):
            if given and not self.skip(","):
                self.stop("expected , or )")
            name = self.name_of_value(order, given)
            if name in given:
                self.stop(f"{name} is given twice")
            given[name] = self.value()
        return given

    def name_of_value(self, order: tuple[str, ...], given: dict[str, Any]) -> str:
        after = self.tokens[min(self.place + 1, len(self.tokens) - 1)]
        if self.next.kind == "word" and after.text == "=":
            name = self.next.text
            self.place += 2
            return "is_" if name == "is" else name
        if len(given) >= len(order):
            self.stop(f"at most {len(order)} values in order" if order else "give name=value")
        return order[len(given)]

    def value(self) -> Any:
        if self.skip("["):
            return self.several()
        token = self.next
        comparison = token.kind == "mark" and token.text in ("<", "<=", ">", ">=", "==", "!=")
        if token.kind not in ("number", "word", "text") and not comparison:
            self.stop("expected a value")
        self.place += 1
        if token.kind == "number":
            number = float(token.text)
            return int(number) if number.is_integer() else number
        if token.kind == "text":
            return token.text[1:-1]
        return {"true": True, "false": False}.get(token.text, token.text)

    def several(self) -> list[Any]:
        """Read a list of values up to its closing bracket."""
        values = [self.value()]
        while self.skip(","):
            values.append(self.value())
        self.expect("]")
        return values


def _tokens(text: str) -> list[_Token]:
    tokens, at = [], 0
    while at < len(text.rstrip()):
        found = _TOKEN.match(text, at)
        if found is None or found.lastgroup is None:
            raise ParameterError(
                f"the rule is not understood at character {at + 1}",
                got=f"{text[at:].strip()[:1]!r} in {text!r}",
            )
        kind = found.lastgroup
        tokens.append(_Token(kind, found[kind], found.start(kind)))
        at = found.end()
    return [*tokens, _Token("end", "", len(text))]


def _known(token: _Token) -> type[Rule]:
    """Return the rule of this name."""
    known: dict[str, type[Rule]] = {}
    for found in methods("rule"):
        if issubclass(found, Rule):
            known |= dict.fromkeys((found.key, *found.aliases, found.word or found.key), found)
    name = token.text.lower()
    if name in known:
        return known[name]
    if name.replace("_", "-") in known:
        return known[name.replace("_", "-")]
    raise ParameterError(
        f"there is no rule {token.text!r} (character {token.at + 1})", do=nearest(name, known)
    )


def _made(kind: type[Rule], given: dict[str, Any], token: _Token) -> Rule:
    try:
        return kind(**given)
    except ParameterError as error:
        raise ParameterError(f"{error} (character {token.at + 1})") from error
