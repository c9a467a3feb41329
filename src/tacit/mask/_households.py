"""Records that belong together."""

from __future__ import annotations

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import SchemaError
from tacit.core.keys import MISSING_CODE, encode


def household_codes(data: Microdata, *, by: str) -> np.ndarray:
    """Return the household of each record as a number from 0; who has none is one of its own.

    Parameters
    ----------
    data
        Records whose schema names a household column; otherwise a `SchemaError` is raised.
    by
        What is done to whole households, for the message.
    """
    name = data.schema.household
    if name is None:
        raise SchemaError(
            f"{by} needs the column that says who lives together",
            do="name it with with_roles(household=...)",
        )
    codes = encode(data, [name])[:, 0].astype(np.int64)
    alone = codes == MISSING_CODE
    codes[alone] = codes.max(initial=-1) + 1 + np.arange(alone.sum())
    return codes


def random_order(units: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Return positions in random order, those of one unit (numbered from 0) one after another."""
    place = rng.permutation(int(units.max(initial=-1)) + 1)
    return np.argsort(place[units], kind="stable")
