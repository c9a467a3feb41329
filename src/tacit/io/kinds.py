"""From text to values: types found out from all values of a column, or declared by the user.

What is found out is cautious. A column of digits with leading zeros, a plus sign or more digits
than a number can hold is a code and stays text; only ISO dates are dates; anything else is text.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, Any

import narwhals as nw

from tacit.core.errors import ReadError, SchemaError, nearest
from tacit.core.schema import Kind

if TYPE_CHECKING:
    from tacit.core.data import Microdata

_CODE = r"^(?:\+\d+|-?0\d+|-?\d{19,})$"
"""Digits that a number would not give back: leading zeros, a plus sign, too many of them."""
_ISO_DATE = r"^\d{4}-\d{2}-\d{2}$"
_ISO_TIME = r"^\d{4}-\d{2}-\d{2}[T ]\d{2}:\d{2}(?::\d{2}(?:\.\d{1,9})?)?$"
_WHOLE = r"[+-]?[0-9]+"
_DECIMAL = r"[+-]?(?:[0-9]+[.,]?[0-9]*|[.,][0-9]+)(?:e[+-]?[0-9]+)?|[+-]?(?:nan|inf|infinity)"
_SAMPLE = 100
Attempt = Callable[[Any, "Notation"], Any]
"""Gives a column of text a type, or nothing where some value has another."""
EXACT = 2**53
"""Largest whole number up to which a double holds every whole number."""


@dataclass(frozen=True)
class Notation:
    """How values are written in a text file."""

    decimal: str = "."
    missing: tuple[str, ...] = ("",)
    dates: str | None = None


class Misfit(Exception):
    """A value does not fit the declared kind of its column."""

    def __init__(self, column: str, kind: Kind, record: int, value: str) -> None:
        self.column, self.kind, self.record, self.value = column, kind, record, value
        super().__init__(f"{column}: {value}")

    def as_error(self, place: str) -> ReadError:
        """Return the error for the user; `place` says where the value stands."""
        return ReadError(
            f"column {self.column!r} is declared {self.kind}, but {place} holds {self.value!r}",
            do="mend the value, list it as missing, or declare another type",
        )


def typed(table: Any, kinds: Mapping[str, Kind], notation: Notation) -> Any:
    """Give each column of a Polars frame of text its type: the declared one, or the one found."""

    def column(series: Any) -> Any:
        kind = kinds.get(series.name)
        return found(series, notation) if kind is None else declared(series, kind, notation)

    if not table.width:
        return table
    with ThreadPoolExecutor(max_workers=min(8, table.width)) as pool:
        return table.select(list(pool.map(column, table.get_columns())))


def found(text: Any, notation: Notation) -> Any:
    """Return the column in the type that all its values have."""
    attempts = _plausible(text, notation)
    # Most files have no blanks around values, so taking them off is tried second.
    for stripped in (False, True) if attempts else ():
        values = _known(text.str.strip_chars() if stripped else text, notation)
        results = (attempt(values, notation) for attempt in attempts)
        first = next((r for r in results if r is not None), None)
        if first is not None:
            return first
    return _text(text, notation)


def _plausible(text: Any, notation: Notation) -> tuple[Attempt, ...]:
    """Return the types that the first values could have: a cheap guess, to be proved by all."""
    present = text.drop_nulls() if text.null_count() else text
    sample = _bare(present.head(_SAMPLE), notation)
    if not sample:
        known = _known(present.str.strip_chars(), notation).drop_nulls()
        sample = _bare(known.head(_SAMPLE), notation)
    for pattern, attempts in _GUESSES:
        if sample and all(map(pattern.fullmatch, sample)):
            return attempts
    return ()


def _bare(text: Any, notation: Notation) -> list[str]:
    words = {*notation.missing, ""}
    return [value for value in map(str.strip, text.to_list()) if value not in words]


def declared(text: Any, kind: Kind, notation: Notation) -> Any:
    """Return the column as the declared kind, or raise `Misfit` for its first value that is not."""
    if kind is Kind.TEXT:
        return _text(text, notation)
    values = _known(text.str.strip_chars(), notation)
    if kind in (Kind.NOMINAL, Kind.ORDINAL):
        flags = _boolean(values, notation) if values.null_count() < len(values) else None
        return _text(text, notation) if flags is None else flags
    result = _number(values, notation) if kind is Kind.NUMERIC else _any_date(values, notation)
    wrong = result.is_null() & values.is_not_null()
    if wrong.any():
        record = int(wrong.arg_max() or 0)
        raise Misfit(text.name, kind, record, values[record])
    return result


def _text(text: Any, notation: Notation) -> Any:
    """Keep the text as it is; an empty value is missing even where it was quoted."""
    return text.replace([""], [None]) if "" in notation.missing else text


def _known(text: Any, notation: Notation) -> Any:
    """Return the values with null for the words that stand for missing."""
    is_word = text.is_in(sorted({*notation.missing, ""})).fill_null(False)
    return text.set(is_word, None) if is_word.any() else text


def _complete(result: Any, values: Any) -> Any:
    """Return `result` if it has a value wherever `values` has one."""
    return result if result.null_count() == values.null_count() else None


def _boolean(values: Any, _notation: Notation) -> Any:
    lower = values.str.to_lowercase()
    return lower == "true" if lower.is_in(["true", "false"]).all() else None


def _integer(values: Any, _notation: Notation) -> Any:
    import polars as pl

    if values.str.contains(_CODE).any():
        return None
    return _complete(values.cast(pl.Int64, strict=False), values)


def _real(values: Any, notation: Notation) -> Any:
    # "nan" and "inf" are numbers only in the company of digits.
    if values.str.contains(_CODE).any() or not values.str.contains(r"\d").any():
        return None
    return _complete(_as_float(values, notation), values)


def _as_float(values: Any, notation: Notation) -> Any:
    import polars as pl

    if notation.decimal == ",":
        points = values.str.contains(".", literal=True).fill_null(False)
        values = values.set(points, None).str.replace(",", ".", literal=True)
    return values.cast(pl.Float64, strict=False)


def _number(values: Any, notation: Notation) -> Any:
    import polars as pl

    whole = _complete(values.cast(pl.Int64, strict=False), values)
    return _as_float(values, notation) if whole is None else whole


def _date(values: Any, _notation: Notation) -> Any:
    if not values.str.contains(_ISO_DATE).all():
        return None
    return _complete(values.str.to_date("%Y-%m-%d", strict=False), values)


def _moment(values: Any, _notation: Notation) -> Any:
    if not values.str.contains(_ISO_TIME).all():
        return None
    return _complete(_as_moment(values), values)


def _as_moment(values: Any) -> Any:
    import polars as pl

    spaced = values.str.replace("T", " ", literal=True)
    minutes = spaced.str.len_bytes() == len("2000-01-01 00:00")
    filled = pl.select(pl.when(minutes).then(spaced + ":00").otherwise(spaced)).to_series()
    return filled.str.to_datetime("%Y-%m-%d %H:%M:%S%.f", time_unit="us", strict=False)


_GUESSES = (
    (re.compile(r"true|false", re.IGNORECASE), (_boolean,)),
    (re.compile(_WHOLE), (_integer, _real)),
    (re.compile(_DECIMAL, re.IGNORECASE), (_real,)),
    (re.compile(_ISO_DATE), (_date,)),
    (re.compile(_ISO_TIME), (_moment,)),
)


class Finding:
    """The type of a column that is seen in parts: the one that `found` would give to the whole.

    Examples
    --------
    >>> import polars as pl
    >>> finding, parts = Finding(Notation()), [pl.Series(["1", None]), pl.Series(["2.5"])]
    >>> for part in parts:
    ...     finding.look(part)
    >>> [finding.decided()(part).to_list() for part in parts]
    [[1.0, None], [2.5]]
    """

    def __init__(self, notation: Notation) -> None:
        self._notation = notation
        self._sample: list[str] = []
        attempts = dict.fromkeys(attempt for _, some in _GUESSES for attempt in some)
        self._possible = {stripped: list(attempts) for stripped in (False, True)}
        self._has_digits = dict.fromkeys(self._possible, False)

    def look(self, text: Any) -> None:
        """Take a part of the column into account."""
        if len(self._sample) < _SAMPLE:
            present = _known(text.str.strip_chars(), self._notation).drop_nulls()
            self._sample += present.head(_SAMPLE - len(self._sample)).to_list()
        if not any(self._possible.values()):
            return
        bare = text.str.strip_chars()
        known = {False: text} | ({} if bare.equals(text, null_equal=True) else {True: bare})
        fitting = {
            stripped: self._fitting(_known(values, self._notation))
            for stripped, values in known.items()
        }
        for stripped, possible in self._possible.items():
            kept, has_digits = fitting.get(stripped, fitting[False])
            self._possible[stripped] = [attempt for attempt in possible if attempt in kept]
            self._has_digits[stripped] |= has_digits

    def _fitting(self, values: Any) -> tuple[list[Attempt], bool]:
        """Return the types that all values of a part have, and whether one has digits."""
        possible: list[Attempt] = list(
            dict.fromkeys(a for some in self._possible.values() for a in some)
        )
        if values.null_count() == len(values):
            return possible, False
        rest = [attempt for attempt in possible if attempt is not _real]
        kept: list[Attempt] = [
            attempt for attempt in rest if attempt(values, self._notation) is not None
        ]
        if _integer in kept:  # whole numbers are numbers
            return [*kept, _real], True
        if _real in possible and not values.str.contains(_CODE).any():
            numbers = _complete(_as_float(values, self._notation), values)
            kept += [] if numbers is None else [_real]
        return kept, bool(values.str.contains(r"\d").any())

    def decided(self) -> Callable[[Any], Any]:
        """Return what gives each part of the column its type."""
        import polars as pl

        guessed = _plausible(pl.Series(self._sample, dtype=pl.String), self._notation)
        for stripped, possible in self._possible.items():
            for attempt in guessed:
                if attempt in possible and (attempt is not _real or self._has_digits[stripped]):
                    return partial(_in_part, attempt, stripped, self._notation)
        return partial(_text, notation=self._notation)


def _in_part(attempt: Attempt, stripped: bool, notation: Notation, text: Any) -> Any:
    values = _known(text.str.strip_chars() if stripped else text, notation)
    return _as_float(values, notation) if attempt is _real else attempt(values, notation)


def _any_date(values: Any, notation: Notation) -> Any:
    if notation.dates is not None:
        has_time = any(code in notation.dates for code in ("%H", "%I", "%T", "%R"))
        parse: Callable[..., Any] = values.str.to_datetime if has_time else values.str.to_date
        return parse(notation.dates, strict=False)
    dates = values.str.to_date("%Y-%m-%d", strict=False)
    if dates.null_count() == values.null_count():
        return dates
    moments = _as_moment(values)
    return moments if moments.null_count() < dates.null_count() else dates


def whole_as_integers(column: Any) -> Any:
    """Return a column of doubles as integers if all its values are whole."""
    import polars as pl

    column = column.fill_nan(None)
    is_whole = (column == column.round(0)) & (column.abs() <= EXACT)
    has_values = column.null_count() < len(column)
    return column.cast(pl.Int64) if has_values and is_whole.all() else column


# -- data that came with types of their own ---------------------------------------------------


def checked_kinds(types: Mapping[str, Kind | str]) -> dict[str, Kind]:
    """Return declared types as kinds, or name the nearest kind there is."""
    kinds = {}
    for name, given in types.items():
        try:
            kinds[name] = Kind(given)
        except ValueError as error:
            raise SchemaError(
                f"there is no type {given!r} for column {name!r}", do=nearest(str(given), Kind)
            ) from error
    return kinds


def conform(data: Microdata, kinds: Mapping[str, Kind]) -> Microdata:
    """Make columns fit their declared kinds: text becomes numbers or dates."""
    dtypes = data.lazy.collect_schema()
    known = {name: kind for name, kind in kinds.items() if name in data.schema}
    for name, kind in known.items():
        if _fits(dtypes[name], kind):
            continue
        if kind is Kind.TEXT:
            data = data.with_columns(**{name: nw.col(name).cast(nw.String)})
        elif dtypes[name] == nw.String and data.lazy.implementation is nw.Implementation.POLARS:
            data = _parsed(data, name, kind)
        else:
            raise ReadError(
                f"column {name!r} is declared {kind} but holds other values",
                got=str(dtypes[name]),
                do="declare another type, or convert the column first",
            )
    return data


def _fits(dtype: Any, kind: Kind) -> bool:
    match kind:
        case Kind.NUMERIC:
            return bool(dtype.is_numeric()) or dtype == nw.Boolean
        case Kind.DATE:
            return bool(dtype.is_temporal())
        case Kind.TEXT:
            return bool(dtype == nw.String)
        case _:
            return True


def _parsed(data: Microdata, name: str, kind: Kind) -> Microdata:
    try:
        column = declared(data.local[name], kind, Notation())
    except Misfit as misfit:
        raise misfit.as_error(f"record {misfit.record + 1}") from None
    return replace(data, lazy=nw.from_native(data.local.with_columns(column).lazy()))
