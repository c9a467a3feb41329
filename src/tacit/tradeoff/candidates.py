"""Candidates from the registry: every method that fits the roles and kinds of the columns.

No method is known by name. A method says by its parameters what it needs (``columns``, one
``column``, nothing) and what is worth trying (`Try`); whether it fits these columns is found out
by applying it to a few records. What a method does is read off the same small release: whether it
changes the number of records, breaks edit rules or mends them.
"""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from contextlib import suppress
from typing import Any

import numpy as np

from tacit.core.changes import changed_values
from tacit.core.data import Microdata
from tacit.core.errors import DataError, TacitError
from tacit.core.families import Mask
from tacit.core.method import Try, methods
from tacit.core.pairing import substantive_columns
from tacit.core.plan import Plan
from tacit.core.release import Release
from tacit.core.schema import Kind
from tacit.tradeoff.space import Between, Candidate, Varied

_FEW = 150
"""Records on which methods are tried out."""
_FEW_VALUES = 4
"""Up to so many values of a parameter are tried out one by one."""
_A_RANGE, _MANY_TIMES = 3, 10
"""So many declared numbers span a range; over so many times its start it is walked by factors."""


def fitting_candidates(data: Microdata) -> list[Candidate]:
    """Return the fitting methods, alone and two at a time, as one candidate.

    Methods that change the number of records are left out: how many records to release is a
    decision of its own, and few measures of utility see it.
    """
    columns = protected_columns(data)
    steps = fitting_steps(data, columns)
    if not steps:
        raise DataError(
            "no method fits these columns", got=", ".join(columns), do="declare roles and kinds"
        )
    last = [[m] for m in mending_steps(data, steps)]
    second = [None] * max(1, len(steps) // 4) + list(steps)
    why = "Every method that fits the columns, alone or followed by another."
    return [Candidate([list(steps), second, *last], why=why)]


def protected_columns(data: Microdata) -> list[str]:
    """Return the keys and confidential columns, or all columns where there are no roles."""
    schema = data.schema
    roles = [c for c in schema.columns if c in {*schema.keys, *schema.confidential}]
    return roles or substantive_columns(data)


def fitting_steps(data: Microdata, columns: Sequence[str]) -> list[Varied]:
    """Return the methods with something to try that work on these columns."""
    few = probe(data)
    found = []
    for method in methods("mask"):
        if issubclass(method, Mask) and method.search_space():
            found += [s for s in _ways(method, few, columns) if _keeps_records(s, few)]
    return found


def reason(method: type[Mask]) -> str:
    """Say in one sentence what a method does."""
    return f"{method.title}: {plainly(method)}"


def plainly(method: type[Mask]) -> str:
    """Return the first sentence about a method, without marks for typesetting."""
    return method.summary().replace("``", "")


def probe(data: Microdata, n: int = _FEW) -> Microdata:
    """Return a few records, spread over the file."""
    size = data.n_records
    return data.in_memory().take(np.unique(np.linspace(0, size - 1, min(n, size)).astype(int)))


def tried(step: Varied | Mask, few: Microdata) -> Release | None:
    """Apply one method to a few records; nothing comes back if it refuses."""
    try:
        method = step.filled([0.5] * len(step.spaces)) if isinstance(step, Varied) else step
        return Plan([method]).apply(few, seed=1)
    except TacitError:
        return None
    except Exception as error:  # one broken method must not end a search over many
        kind = step.method if isinstance(step, Varied) else type(step)
        said = f"{kind.key} broke on these data and is left out ({type(error).__name__}: {error})"
        warnings.warn(f"a bug in a method: {said}; please report it", RuntimeWarning, stacklevel=2)
        return None


# -- filling in what a method needs -----------------------------------------------------------


def _ways(method: type[Mask], few: Microdata, columns: Sequence[str]) -> Iterator[Varied]:
    """Yield the ways to fill in a method's required parameters that work."""
    done: set[str] = set()
    for fixed in _fillings(method, few, columns):
        if done & {str(name) for names in fixed.values() for name in names}:
            continue  # a smaller set of these columns has its own step already
        for choice in _choices(method, fixed):
            step = _narrowed(choice, few)
            if tried(step, few) is not None:
                yield step
                if method.model_fields.get("columns") is not None:
                    done |= {str(name) for names in fixed.values() for name in names}


def _fillings(
    method: type[Mask], few: Microdata, columns: Sequence[str]
) -> Iterator[dict[str, Any]]:
    needed = {n for n, f in method.model_fields.items() if f.is_required()}
    needed -= method.search_space().keys()
    numbers = [c for c in columns if few.schema[c].kind is Kind.NUMERIC]
    others = [c for c in columns if c not in numbers]
    if not needed:
        yield {}
    elif needed == {"columns"}:
        sets = [tuple(columns)] if not (numbers and others) else [tuple(numbers), tuple(others)]
        yield from ({"columns": names} for names in [*sets, tuple(columns)] if names)
    elif needed == {"column"}:
        # One column alone changes little unless an intruder knows it.
        yield from ({"column": name} for name in columns if name in few.schema.keys)


def _choices(method: type[Mask], fixed: dict[str, Any]) -> Iterator[Varied]:
    """Yield a method as it is or, where one of several parameters is needed, with each of them."""
    declared = {name: _widened(values) for name, values in method.search_space().items()}
    optional = {n for n in declared if method.model_fields[n].default is None}
    usual = {n: space for n, space in declared.items() if n not in optional}
    try:
        yield Varied(method, **fixed, **usual)
        return
    except TacitError:
        pass
    for name in sorted(optional, reverse=True):
        with suppress(TacitError):
            yield Varied(method, **fixed, **usual, **{name: declared[name]})


def _narrowed(step: Varied, few: Microdata) -> Varied:
    """Leave out the values of whole-number parameters that these columns do not have."""
    spaces = dict(step.spaces)
    for name, space in step.spaces.items():
        values = space.values or ()
        if not 1 < len(values) <= _FEW_VALUES:
            continue
        works = [v for v in values if tried(Varied(step.method, **_with(step, name, v)), few)]
        if works and len(works) < len(values):
            spaces[name] = Try(*works)
    return Varied(step.method, **{**step.fixed, **spaces})


def _with(step: Varied, name: str, value: Any) -> dict[str, Any]:
    return {**step.fixed, **step.spaces, name: value}


def _widened(values: Sequence[Any]) -> Try | Between:
    """Take declared numbers for the ends and shape of a range; leave words as they are."""
    if len(values) < _A_RANGE or any(isinstance(v, bool | str) for v in values):
        return Try(*values)
    low, high = min(values), max(values)
    by_factors = low > 0 and high / low >= _MANY_TIMES
    return Between(low, high, log=by_factors)


def _keeps_records(step: Varied, few: Microdata) -> bool:
    release = tried(step, few)
    return (
        release is not None
        and release.data.n_records == few.n_records
        and bool(np.all(np.sort(release.rows) == np.arange(few.n_records)))
    )


# -- edit rules -------------------------------------------------------------------------------


def mending_steps(data: Microdata, steps: Sequence[Varied | Mask]) -> list[Mask]:
    """Return a method without parameters that mends the edit rules which the steps break.

    Of several the one that changes least; one that replaces records by made-up ones is none.
    """
    few = probe(data)
    releases = [tried(step, few) for step in steps]
    broken = [r for r in releases if r is not None and r.newly_broken]
    if not broken:
        return []
    found: list[tuple[int, Mask]] = []
    for method in plain_methods():
        mended = [m for m in (_after(r, method) for r in broken) if m is not None]
        if len(mended) == len(broken) and all(map(_is_mended, broken, mended)):
            changes = [changed_values(r.data, m.data) for r, m in zip(broken, mended, strict=True)]
            found.append((sum(sum(c.values()) for c in changes), method))
    return [min(found, key=lambda pair: pair[0])[1]] if found else []


def _is_mended(broken: Release, mended: Release) -> bool:
    """Whether no rule is newly broken, and the same people are there as before."""
    same = np.array_equal(np.sort(broken.rows), np.sort(mended.rows))
    return same and not mended.newly_broken


def plain_methods() -> list[Mask]:
    """Return the methods that need no parameter and have nothing to try."""
    found = []
    for method in methods("mask"):
        open_fields = [f for f in method.model_fields.values() if f.is_required()]
        if issubclass(method, Mask) and not open_fields and not method.search_space():
            found.append(method())
    return found


def renumbering_steps(data: Microdata) -> list[Mask]:
    """Return a method without parameters that changes the household numbers and nothing else."""
    household = data.schema.household
    if household is None:
        return []
    few = probe(data)
    for method in plain_methods():
        release = tried(method, few)
        if release is not None and np.array_equal(release.rows, np.arange(few.n_records)):
            changed = changed_values(few.numbered(), release.data)
            if set(changed) == {household}:
                return [method]
    return []


def _after(release: Release, method: Mask) -> Release | None:
    try:
        return Plan([*release.plan, method]).apply(release.original, seed=1)
    except TacitError:
        return None
