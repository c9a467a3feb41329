"""How many users of a released log look exactly alike."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import SchemaError
from tacit.core.measurement import Measurement


def user_k_anonymity(released: Any, *, user: str = "user") -> Measurement:
    """Return the smallest number of users of a log whose lines are exactly the same.

    It looks at the released lines alone and believes nothing that the release says about itself.
    All columns but the user's count, and how often each line occurs.

    Parameters
    ----------
    released
        A frame of the released lines.
    user
        Column of the user.

    Examples
    --------
    >>> import polars as pl
    >>> log = pl.DataFrame({"user": [1, 1, 2, 2, 3], "query": ["a", "b", "b", "a", "a"]})
    >>> user_k_anonymity(log).value
    1.0
    """
    import polars as pl

    frame = Microdata.of(released).local
    if user not in frame.columns:
        raise SchemaError(f"there is no column {user!r} of users", got=", ".join(frame.columns))
    content = frame.drop(user)
    # A log is the set of its lines with their numbers: sums of hashes, whatever the order.
    signed = pl.DataFrame(
        {
            "user": frame[user],
            "a": content.hash_rows(1),
            "b": content.hash_rows(2),
        }
    )
    logs = signed.group_by("user").agg(
        pl.len().alias("n"), pl.col("a", "b").cast(pl.Int128).sum(), c=pl.col("a").bitwise_xor()
    )
    sizes = logs.group_by("n", "a", "b", "c").len()["len"].to_numpy()
    return Measurement(
        key="user-k-anonymity",
        title="User k-anonymity",
        value=float(sizes.min()) if len(sizes) else float("nan"),
        better="higher",
        bounds=(1.0, float(max(sizes.sum(), 1))),
        unit="count",
        details={"users": int(sizes.sum()), "distinct_logs": len(sizes), **_spread(sizes)},
        explanation="Every user of the log has the same lines as at least this many users, herself "
        "included.",
    )


def _spread(sizes: np.ndarray) -> dict[str, float]:
    if not len(sizes):
        return {}
    return {"mean_users_per_log": float(sizes.mean()), "most_users_per_log": int(sizes.max())}
