"""A protected query log with what the house must keep about it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.logs.cleaning import Cleaned, Cleaning
from tacit.logs.query_log import QueryLog
from tacit.logs.taxonomy import Taxonomy

if TYPE_CHECKING:
    from tacit.core.measurement import Measurement
    from tacit.logs.microaggregation import SemanticMicroaggregation


@dataclass(frozen=True, eq=False)
class LogRelease:
    """A query log in which groups of users share one log.

    `frame` is for users; everything else stays inside.
    """

    original: QueryLog
    """The log as it came."""
    cleaned: Cleaned
    """The log that was left after cleaning, and what was removed."""
    cleaning: Cleaning | None
    """How it was cleaned."""
    method: SemanticMicroaggregation
    """How it was protected."""
    taxonomy: Taxonomy
    """What classified the queries."""
    groups: np.ndarray
    """Group of each user of the cleaned log."""
    lines: np.ndarray
    """Lines of the cleaned log that make up the common logs."""
    pseudonyms: np.ndarray
    """Number under which each user of the cleaned log is released."""
    shares: np.ndarray
    """Share of the lines classified at level 1, 2, ..."""
    seed: int
    """Secret number that repeats the release."""
    seconds: Mapping[str, float]
    """Time that each part of the work took."""

    def __repr__(self) -> str:
        return (
            f"LogRelease(k = {self.method.k}: {self.n_released_users:,} of "
            f"{self.original.n_users:,} users, {self.n_released_lines:,} of "
            f"{self.original.n_lines:,} lines, {self.n_groups:,} common logs)"
        )

    @property
    def n_groups(self) -> int:
        """Number of groups of users."""
        return int(self.groups.max()) + 1

    @cached_property
    def common(self) -> Any:
        """The common logs, as a Polars frame sorted so that nobody sees who added what."""
        import polars as pl

        log = self.cleaned.log
        chosen = pl.DataFrame(
            {
                "group": self.groups[log.user[self.lines]],
                "query": log.queries.gather(log.query[self.lines]),
            }
        )
        details = log.details[self.lines] if log.details.width else pl.DataFrame()
        table = pl.concat([chosen, details], how="horizontal")
        texts = [name for name, t in table.schema.items() if t == pl.Categorical]
        table = table.with_columns(pl.col(texts).cast(pl.String))
        return table.sort(table.columns, nulls_last=True)

    @property
    def frame(self) -> Any:
        """The released lines as a Polars frame: ``user`` (a new number), ``query``, ..."""
        return self.of_users(self.truth)

    def of_users(self, users: Any) -> Any:
        """Give each of some users the common log of her group."""
        return (
            users.select("group", user="pseudonym")
            .join(self.common, on="group", how="inner", maintain_order="left_right")
            .drop("group")
        )

    @cached_property
    def truth(self) -> Any:
        """Who is who: original identifier, pseudonym and group; never to be published."""
        import polars as pl

        identifiers = self.cleaned.log.users.rename("user")
        return pl.DataFrame(
            {"user": identifiers, "pseudonym": self.pseudonyms, "group": self.groups}
        ).sort("pseudonym")

    @cached_property
    def group_sizes(self) -> np.ndarray:
        """Number of users in each group."""
        return np.bincount(self.groups)

    @property
    def lines_per_group(self) -> np.ndarray:
        """Number of lines of each common log."""
        group = self.groups[self.cleaned.log.user[self.lines]]
        return np.bincount(group, minlength=self.n_groups)

    @property
    def n_released_lines(self) -> int:
        """Number of released lines, over all users."""
        return int(self.lines_per_group @ self.group_sizes)

    @property
    def n_released_users(self) -> int:
        """Number of users with at least one released line."""
        return int(self.group_sizes[self.lines_per_group > 0].sum())

    @cached_property
    def group_of_original(self) -> np.ndarray:
        """Group of each user of the original log; -1 if she was lost in cleaning."""
        import polars as pl

        before = pl.DataFrame({"user": self.original.users.rename("user")})
        joined = before.join(self.truth, on="user", how="left", maintain_order="left")
        return np.asarray(joined["group"].fill_null(-1).to_numpy())

    def group_counts(self) -> Any:
        """Return how often each common log holds each query of the original log; sparse."""
        from scipy.sparse import coo_array

        log = self.cleaned.log
        codes = self._codes_in_original()[log.query[self.lines]]
        rows = self.groups[log.user[self.lines]]
        shape = (self.n_groups, len(self.original.queries))
        return coo_array((np.ones(len(rows), dtype=np.int32), (rows, codes)), shape=shape).tocsr()

    def _codes_in_original(self) -> np.ndarray:
        import polars as pl

        before = pl.DataFrame({"query": self.original.queries.rename("query")})
        after = pl.DataFrame({"query": self.cleaned.log.queries.rename("query")})
        joined = after.join(
            before.with_row_index("code"), on="query", how="left", maintain_order="left"
        )
        return np.asarray(joined["code"].to_numpy().astype(np.int64))

    def measure(self, *, known: int = 3, targets: int = 1000) -> list[Measurement]:
        """Return how safe and how useful the released log is.

        Parameters
        ----------
        known
            How many queries of each target an intruder knows.
        targets
            How many users the intruder goes after, drawn at random.
        """
        from tacit.logs import known_queries, preservation, remaining_interests, user_anonymity

        return [
            user_anonymity.user_k_anonymity(self.frame),
            known_queries.known_queries_risk(self, known=known, targets=targets),
            remaining_interests.semantic_remain(self),
            preservation.query_frequencies(self),
            preservation.co_occurrence(self),
        ]

    def save(self, folder: str | Path, *, force: bool = False, compress: bool = False) -> Path:
        """Write ``public/`` (the log in AOL's format and a note) and ``dossier/``, whole or not."""
        from tacit.logs.saving import save_release

        return save_release(self, Path(folder), force=force, compress=compress)
