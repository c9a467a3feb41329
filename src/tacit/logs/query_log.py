"""Query logs: who asked what, held as codes so that tens of millions of lines fit in memory."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import DataError, SchemaError, UnknownColumnError, nearest

COLUMNS = ("user", "query", "time", "rank", "url")
"""What a line of a log holds; the first two are needed."""
BLANK = "-"
"""How AOL's files write a query that was left out."""


@dataclass(frozen=True, eq=False)
class QueryLog:
    """Lines of a search engine's log, with users and queries as codes.

    A line takes about 22 bytes, each distinct query is held once. Make one with `tacit.logs.read`
    or with `QueryLog.of` from a frame or `Microdata`. Lines without a user or a query are left out
    and counted.

    Examples
    --------
    >>> import polars as pl
    >>> frame = pl.DataFrame({"user": [7, 7, 9], "query": ["flu", "flu", "risotto"]})
    >>> log = QueryLog.of(frame)
    >>> log.n_lines, log.n_users, log.queries.to_list()
    (3, 2, ['flu', 'risotto'])
    """

    users: Any
    """Identifier of each user, in order of first appearance; a Polars series of text."""
    queries: Any
    """The distinct queries, in order of first appearance; a Polars series of text."""
    user: np.ndarray
    """For each line the code of its user."""
    query: np.ndarray
    """For each line the code of its query."""
    details: Any
    """The other columns (``time``, ``rank``, ``url``) as a Polars frame, one row per line."""
    n_left_out: int = 0
    """Lines that had no user or no query."""
    source: str | None = None
    """The file the lines were read from."""

    @classmethod
    def of(
        cls, data: Any, *, columns: Mapping[str, str] | None = None, source: str | None = None
    ) -> QueryLog:
        """Take a log from a frame of any kind.

        Parameters
        ----------
        data
            A frame, `Microdata`, or a log, which is returned as it is.
        columns
            Which column holds what, where names differ: ``{"user": "AnonID", "query": "Query"}``.
        source
            Where the lines came from, for the record.
        """
        if isinstance(data, QueryLog):
            return data
        return encoded(Microdata.of(data).local.lazy(), columns or {}, source)

    @property
    def n_lines(self) -> int:
        """Number of lines."""
        return len(self.user)

    @property
    def n_users(self) -> int:
        """Number of users."""
        return len(self.users)

    def __len__(self) -> int:
        return self.n_lines

    def __repr__(self) -> str:
        return (
            f"QueryLog({self.n_lines:,} lines, {self.n_users:,} users, "
            f"{len(self.queries):,} distinct queries)"
        )

    @property
    def frame(self) -> Any:
        """The lines as a Polars frame with the columns ``user``, ``query`` and the details."""
        import polars as pl

        lines = pl.DataFrame(
            {"user": self.users.gather(self.user), "query": self.queries.gather(self.query)}
        )
        return pl.concat([lines, self.details], how="horizontal")

    def counts(self) -> Any:
        """Return how often each user asked each query, as a sparse matrix users by queries."""
        from scipy.sparse import coo_array

        shape = (self.n_users, len(self.queries))
        ones = np.ones(self.n_lines, dtype=np.int32)
        matrix = coo_array((ones, (self.user, self.query)), shape=shape).tocsr()
        matrix.sum_duplicates()
        return matrix

    def keeping(self, lines: np.ndarray) -> QueryLog:
        """Return the log with some lines only; users and queries without lines disappear."""
        from polars import Series

        mask = np.asarray(lines, dtype=bool)
        users, user = _compacted(self.user[mask])
        queries, query = _compacted(self.query[mask])
        return replace(
            self,
            users=self.users.gather(users),
            queries=self.queries.gather(queries),
            user=user,
            query=query,
            details=self.details.filter(Series(mask)),
        )

    def with_details(self, details: Any) -> QueryLog:
        """Return the log with other columns beside user and query."""
        if len(details) != self.n_lines and details.width:
            raise DataError("details need one row per line", got=f"{len(details)} rows")
        return replace(self, details=details)


def encoded(lines: Any, columns: Mapping[str, str], source: str | None) -> QueryLog:
    """Turn a lazy Polars frame into a log, streaming; strings are coded on the way."""
    import polars as pl

    names = _named(lines.collect_schema().names(), columns)
    present = [part for part in COLUMNS if part in names]
    typed = lines.select(pl.col(names[part]).alias(part) for part in present)
    coded = {part for part in ("user", "query", "url") if part in names}
    private = {part: pl.Categorical(pl.Categories.random()) for part in coded}
    text = {part: pl.col(part).cast(pl.String).str.strip_chars() for part in coded}
    table = typed.with_columns(text[part].cast(private[part]) for part in sorted(coded)).collect(
        engine="streaming"
    )
    kept = table.drop_nulls(["user", "query"])
    users, user = _dictionary(kept["user"])
    queries, query = _dictionary(kept["query"])
    log = QueryLog(users, queries, user, query, kept.drop("user", "query"), source=source)
    blank = queries.is_in(["", BLANK]).to_numpy()[query] | (users == "").to_numpy()[user]
    log = log.keeping(~blank) if blank.any() else log
    return replace(log, n_left_out=len(table) - log.n_lines)


def _named(given: list[str], columns: Mapping[str, str]) -> dict[str, str]:
    """Find out which column holds what."""
    unknown = [part for part in columns if part not in COLUMNS]
    if unknown:
        raise SchemaError(f"a log has no part {unknown[0]!r}", do=nearest(unknown[0], COLUMNS))
    for name in columns.values():
        if name not in given:
            raise UnknownColumnError(
                f"there is no column {name!r}", column=name, do=nearest(name, given)
            )
    names = {part: part for part in COLUMNS if part in given} | dict(columns)
    missing = [part for part in COLUMNS[:2] if part not in names]
    if missing:
        raise SchemaError(
            f"a log needs a column with the {missing[0]} of each line",
            got=", ".join(given),
            do=f"say which it is: columns={{{missing[0]!r}: ...}}, or --column {missing[0]}=NAME",
        )
    return names


def _dictionary(column: Any) -> tuple[Any, np.ndarray]:
    """Return the labels of a coded column in order of first appearance, and dense codes."""
    import polars as pl

    used, codes = _compacted(column.to_physical().to_numpy())
    # Threads decide which private code a string gets; order of appearance does not depend on them.
    first = _first_lines(codes, len(used))
    by_appearance = np.argsort(first, kind="stable")
    new = np.empty(len(used), dtype=np.int32)
    new[by_appearance] = np.arange(len(used), dtype=np.int32)
    labels = column.gather(first[by_appearance]).cast(pl.String).alias(column.name)
    return labels, new[codes]


def _compacted(codes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Return the codes in use, ascending, and for each line its position among them."""
    if not len(codes):
        return np.empty(0, dtype=np.int64), np.empty(0, dtype=np.int32)
    used = np.zeros(int(codes.max()) + 1, dtype=bool)
    used[codes] = True
    position = np.cumsum(used, dtype=np.int32) - 1
    return np.flatnonzero(used), position[codes].astype(np.int32)


def _first_lines(codes: np.ndarray, n_codes: int) -> np.ndarray:
    """Return for each code the first line that has it."""
    first = np.empty(n_codes, dtype=np.int64)
    first[codes[::-1]] = np.arange(len(codes) - 1, -1, -1)
    return first
