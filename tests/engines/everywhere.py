"""The cases of this folder: every method of the registry on every engine.

A new method is drawn from the registry, so nobody has to name it here. On PostgreSQL and Spark,
methods that collect the records first (and then do what they do in memory) are left to
``make test-all``; those that work in the engine are in every run, as is everything on DuckDB.
"""

from collections.abc import Iterable

import pytest

REMOTE = ("postgresql", "spark")
IN_ENGINE = ("duckdb", *REMOTE)
"""Where data stay until a method asks for them; frames in memory are carried by Polars."""
ENGINES = ("pandas", "arrow", *IN_ENGINE)
"""Engines that are compared with Polars, which the expected results come from."""
_MARKS = {
    "postgresql": [pytest.mark.postgres, pytest.mark.xdist_group("postgres")],
    "spark": [pytest.mark.spark, pytest.mark.xdist_group("spark")],
}


def on_every_engine(engines: Iterable[str] = ENGINES) -> pytest.MarkDecorator:
    """Run a test on every engine; it asks for `enter`, which brings data in."""
    cases = [pytest.param(e, marks=_MARKS.get(e, [])) for e in engines]
    return pytest.mark.parametrize("enter", cases, indirect=True)


def every(methods: Iterable[type], engines: Iterable[str] = ENGINES) -> pytest.MarkDecorator:
    """Run a test for each `method` on every engine."""
    engines = tuple(engines)
    cases = [
        pytest.param(method, engine, id=f"{method.key}-{engine}", marks=_marks(method, engine))
        for method in methods
        for engine in engines
    ]
    return pytest.mark.parametrize(("method", "enter"), cases, indirect=["enter"])


def _marks(method: type, engine: str) -> list[pytest.MarkDecorator]:
    is_long = engine in REMOTE and method.at_scale != "native"
    return [*_MARKS.get(engine, []), *([pytest.mark.slow] if is_long else [])]
