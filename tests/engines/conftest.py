"""One fixture brings the same records into any engine."""

from collections.abc import Callable
from hashlib import sha256
from typing import Any

import duckdb
import pytest

import tacit

BUILD: dict[str, Callable[[Any], Any]] = {
    "pandas": lambda table: table.to_pandas(),
    "arrow": lambda table: table.to_arrow(),
    "duckdb": lambda table: duckdb.from_arrow(table.to_arrow()),
}


@pytest.fixture(scope="session")
def tables_in_postgresql() -> dict[str, tacit.Microdata]:
    """Tables that have been written already, by a digest of their content."""
    return {}


@pytest.fixture
def enter(request: pytest.FixtureRequest) -> Callable[[tacit.Microdata], tacit.Microdata]:
    """Return a function that brings data in by way of another engine, with the same schema."""
    engine = request.param
    if engine == "postgresql":
        server = request.getfixturevalue("postgres")
        known = request.getfixturevalue("tables_in_postgresql")
        return lambda data: _in_postgresql(server, known, data).with_schema(data.schema)
    build = BUILD.get(engine)
    if engine == "spark":
        session = request.getfixturevalue("spark")
        build = lambda table: session.createDataFrame(table.to_arrow()).coalesce(1)  # noqa: E731
    return lambda data: tacit.Microdata.of(build(data.frame)).with_schema(data.schema)


def _in_postgresql(server: Any, known: dict[str, Any], data: tacit.Microdata) -> tacit.Microdata:
    """Return the records as a table of a database, which keeps no order of its own."""
    numbered = data.frame.with_row_index("place")
    content = f"{numbered.schema} {numbered.hash_rows().sum()}"
    name = f"engine_{sha256(content.encode()).hexdigest()[:20]}"
    if name not in known:
        tacit.write(numbered, server.url, table=name)
        known[name] = tacit.read(server.url, table=name, order_by="place").drop(["place"])
    return known[name]
