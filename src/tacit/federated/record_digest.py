"""Whether an agency's records are still those of its earlier answers."""

from __future__ import annotations

import hashlib
import hmac
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np

from tacit.core.data import Microdata
from tacit.federated.ledger import Ledger
from tacit.federated.policy import Policy
from tacit.federated.stopped import RefusedError

if TYPE_CHECKING:
    import polars as pl


def column_digests(data: Microdata, columns: Sequence[str], key: bytes) -> dict[str, str]:
    """Return a digest of the values of each column, whatever the order of the records.

    The key is the agency's own: who finds its log cannot try out values.

    Examples
    --------
    >>> import polars as pl
    >>> one, other = (Microdata.of(pl.DataFrame({"x": x})) for x in ([1, 2, None], [None, 2, 1]))
    >>> column_digests(one, ["x"], b"key") == column_digests(other, ["x"], b"key")
    True
    """
    return {
        column: hmac.new(key, _plain(data.local[column]), hashlib.sha256).hexdigest()[:32]
        for column in columns
    }


def _plain(values: pl.Series) -> bytes:
    import polars as pl

    if values.dtype.is_numeric():
        return np.sort(values.cast(pl.Float64).to_numpy()).astype("<f8").tobytes()
    texts = values.cast(pl.String).fill_null("\x1e").sort()
    return "\x1f".join(texts.to_list()).encode("utf-8", "surrogatepass")


def check_unchanged(digests: Mapping[str, str], policy: Policy, ledger: Ledger) -> None:
    """Refuse columns that changed since they were used: a difference would show the change."""
    if not policy.unchanged_records:
        return
    for entry in ledger.released():
        before = entry.get("digests", {})
        changed = sorted(c for c, digest in digests.items() if before.get(c, digest) != digest)
        if changed:
            raise RefusedError(
                f"the column {changed[0]!r} changed at this agency since an earlier computation, "
                "and the difference of both results would show the records that did: its operator "
                "begins a new log, or allows it"
            )
