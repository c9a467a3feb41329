"""Cleaning of query logs: what points at a person goes, times and addresses become coarser."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge
from pydantic import model_validator

from tacit.core.errors import ParameterError
from tacit.core.progress import track
from tacit.core.value import Value
from tacit.logs import identifiers
from tacit.logs.addresses import hosts, registered_domains
from tacit.logs.query_log import QueryLog
from tacit.logs.taxonomy import Taxonomy

_WIDTHS = {"hour": "1h", "day": "1d", "week": "1w", "month": "1mo"}


class Cleaning(Value):
    """What is removed from a query log before anything else is done with it.

    Examples
    --------
    >>> Cleaning(min_users=3, time="week").min_users
    3
    """

    identifiers: bool = True
    """Remove queries with e-mail addresses, numbers of five digits or more, or street addresses."""
    names: bool = True
    """Remove queries with the name of a person."""
    vanity: bool = True
    """Remove words unknown to the taxonomy that one user asked again and again and nobody else."""
    min_users: Annotated[int, Ge(1)] = 2
    """Remove queries, and addresses, of fewer users than this."""
    time: Literal["drop", "month", "week", "day", "hour", "keep"] = "drop"
    """How exact times stay."""
    session_gap: Annotated[float, Ge(0)] | None = None
    """Minutes without a query that end a session; all times in a session become its first."""
    url: Literal["drop", "domain", "host", "keep"] = "drop"
    """How much of a clicked address stays; the rank of the result goes with the address."""

    @model_validator(mode="after")
    def _check_sessions(self) -> Cleaning:
        if self.session_gap is not None and self.time == "drop":
            raise ParameterError(
                "sessions need times, which are dropped", do='keep coarse ones, such as time="week"'
            )
        return self


@dataclass(frozen=True)
class Cleaned:
    """A cleaned log and what was removed from it."""

    log: QueryLog
    """The log that is left."""
    removed: Mapping[str, tuple[int, int]]
    """For each reason the distinct queries and the lines that were removed."""
    n_users_lost: int
    """Users of whom no line is left."""

    @property
    def n_lines_removed(self) -> int:
        """Lines removed for any reason."""
        return sum(lines for _, lines in self.removed.values())


def clean(log: Any, cleaning: Cleaning | None = None, taxonomy: Taxonomy | None = None) -> Cleaned:
    """Remove what points at a person from a log, and make times and addresses coarser.

    Removal of rare queries follows [adar2007]_. The log that came in is not changed.

    Parameters
    ----------
    log
        A log, or a frame of one.
    cleaning
        What to remove; by default as `Cleaning` declares it.
    taxonomy
        Its words are not taken for names.

    Examples
    --------
    >>> import polars as pl
    >>> lines = {"user": [1, 1, 2], "query": ["flu", "anna.smith@mail.example", "flu"]}
    >>> cleaned = clean(pl.DataFrame(lines))
    >>> cleaned.log.queries.to_list(), cleaned.removed["e-mail"]
    (['flu'], (1, 1))
    """
    log, rules = QueryLog.of(log), cleaning or Cleaning()
    flagged = np.zeros(len(log.queries), dtype=bool)
    n_lines = np.bincount(log.query, minlength=len(log.queries))
    removed = {}
    with track("cleaning", 6) as advance:
        for reason, flags in _reasons(log, rules, taxonomy):
            new = flags & ~flagged
            removed[reason] = (int(new.sum()), int(n_lines[new].sum()))
            flagged |= new
            advance(1)
    kept = log.keeping(~flagged[log.query])
    coarse = kept.with_details(coarser_details(kept, rules))
    return Cleaned(coarse, removed, log.n_users - kept.n_users)


def _reasons(
    log: QueryLog, rules: Cleaning, taxonomy: Taxonomy | None
) -> Iterator[tuple[str, np.ndarray]]:
    if rules.identifiers:
        yield "e-mail", identifiers.with_pattern(log.queries, identifiers.EMAIL)
        yield "number", identifiers.with_pattern(log.queries, identifiers.NUMBER)
        yield "street", identifiers.with_pattern(log.queries, identifiers.STREET)
    if rules.names:
        yield "name", identifiers.with_names(log.queries, taxonomy)
    if rules.vanity:
        yield "vanity", identifiers.vanity(log, taxonomy)
    if rules.min_users > 1:
        yield "rare", identifiers.askers(log) < rules.min_users


def coarser_details(log: QueryLog, rules: Cleaning) -> Any:
    """Return times, ranks and addresses as coarse as the rules say."""
    import polars as pl

    details = log.details
    columns = []
    if "time" in details.columns and rules.time != "drop":
        columns.append(_coarse_times(log, rules))
    if "url" in details.columns and rules.url != "drop":
        url = _coarse_urls(log, rules)
        if "rank" in details.columns:
            columns.append(details["rank"].set(url.is_null(), None))
        columns.append(url)
    return pl.DataFrame(columns)


def _coarse_times(log: QueryLog, rules: Cleaning) -> Any:
    time = log.details["time"]
    if not time.dtype.is_temporal():
        return time if rules.time == "keep" else time.clear(len(time))
    if rules.session_gap is not None:
        time = session_starts(log.user, time, rules.session_gap)
    return time if rules.time == "keep" else time.dt.truncate(_WIDTHS[rules.time])


def session_starts(user: np.ndarray, time: Any, gap: float) -> Any:
    """Return for each line the time at which its session started.

    A session ends when its user asks nothing for more than `gap` minutes.
    """
    import polars as pl

    lines = pl.DataFrame({"user": user, "time": time}).with_row_index("line")
    pause = pl.col("time").diff().over("user") > pl.duration(seconds=round(gap * 60))
    return (
        lines.sort("user", "time", maintain_order=True)
        .with_columns(session=pause.fill_null(False).cum_sum())
        .with_columns(pl.col("time").min().over("user", "session"))
        .sort("line")["time"]
    )


def _coarse_urls(log: QueryLog, rules: Cleaning) -> Any:
    """Return hosts or domains; those that fewer users than the threshold opened become missing."""
    import polars as pl

    url = log.details["url"]
    if rules.url == "keep":
        return url
    distinct = url.drop_nulls().unique()
    coarse = (registered_domains if rules.url == "domain" else hosts)(distinct.cast(pl.String))
    pairs = pl.DataFrame({"url": distinct, "coarse": coarse})
    lines = pl.DataFrame({"user": log.user, "url": url})
    joined = lines.join(pairs, on="url", how="left", maintain_order="left")
    common = pl.col("user").n_unique().over("coarse") >= rules.min_users
    return joined.select(pl.when(common).then(pl.col("coarse")).alias("url")).to_series()
