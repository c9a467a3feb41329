"""Keys: two secret numbers per unit, and randomness that sticks to a set of units."""

from __future__ import annotations

import secrets
from functools import lru_cache
from pathlib import Path
from typing import Any

import narwhals as nw
import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import DataError, ParameterError, ReadError, SchemaError
from tacit.core.frame import collect_few
from tacit.tables.perturb._aes import BLOCK, derived_key, encrypted, halves
from tacit.tables.perturb.record_keys import LEAST_SECRET, MODULUS, unit_keys

KEYS = ("__rk1", "__rk2")
"""Names of the two columns of keys inside the server."""
_SECRET_FILE = "secret.key"  # noqa: S105 - the name of a file


class Sticky:
    """Numbers that depend on the secret, on a purpose and on a set of units, and on nothing else.

    The same units give the same numbers however they were described, today and next year; other
    units, or another purpose, give numbers that look unrelated.

    Examples
    --------
    >>> sticky = Sticky(b"a long and secret phrase")
    >>> keys = np.array([[1, 2], [1, 2], [3, 4]])
    >>> one = sticky.numbers("noise", keys)[:, 0]
    >>> bool(one[0] == one[1]), bool(one[0] == one[2])
    (True, False)
    """

    def __init__(self, secret: bytes) -> None:
        self._key = lru_cache(maxsize=256)(
            lambda purpose: derived_key(secret, f"tacit query 1 {purpose}")
        )

    def numbers(self, purpose: str, keys: np.ndarray, size: np.ndarray | int = 0) -> np.ndarray:
        """Return two whole numbers below 2^31 - 1 for each pair of keys (and size of its set)."""
        pairs = np.asarray(keys, dtype="<i4").reshape(-1, 2)
        blocks = np.zeros((len(pairs), BLOCK), dtype=np.uint8)
        blocks[:, :8] = np.ascontiguousarray(pairs).view(np.uint8)
        sizes = np.broadcast_to(np.asarray(size, dtype="<i8"), (len(pairs),))
        blocks[:, 8:] = np.ascontiguousarray(sizes).view(np.uint8).reshape(-1, 8)
        return halves(encrypted(self._key(purpose), blocks), MODULUS)

    def below(self, purpose: str, keys: np.ndarray, bound: int) -> np.ndarray:
        """Return a whole number from 0 to below `bound` for each pair of keys."""
        return np.asarray(self.numbers(purpose, keys)[:, 0] * bound // MODULUS)

    def normal(self, purpose: str, keys: np.ndarray) -> np.ndarray:
        """Return a standard normal number for each pair of keys."""
        from scipy.special import ndtri

        return np.asarray(ndtri((self.numbers(purpose, keys)[:, 0] + 0.5) / MODULUS))

    def seed(self, purpose: str, keys: np.ndarray) -> int:
        """Return one seed for one pair of keys."""
        first, second = self.numbers(purpose, keys)[0].tolist()
        return int(first) << 31 | int(second)


def secret_bytes(secret: str | bytes | None, folder: Path | None) -> bytes:
    """Return the secret given, the one kept in a folder, or a new one that the folder then keeps.

    The file can be read by its owner only. A server without folder and secret forgets its secret,
    and so its noise, when it ends.
    """
    if secret is not None:
        return _long_enough(secret.encode() if isinstance(secret, str) else bytes(secret))
    if folder is None:
        return secrets.token_bytes(32)
    place = folder / _SECRET_FILE
    if not place.exists():
        _write_once(place, secrets.token_bytes(32))
    if place.stat().st_mode & 0o077:
        raise ReadError(
            "others can read the file of the secret", got=str(place), do=f"chmod 600 {place}"
        )
    return _long_enough(bytes.fromhex(place.read_text(encoding="ascii")))


def _write_once(place: Path, secret: bytes) -> None:
    import os

    place.parent.mkdir(parents=True, exist_ok=True)
    handle = os.open(place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    with os.fdopen(handle, "w", encoding="ascii") as file:
        file.write(secret.hex())
        file.flush()
        os.fsync(file.fileno())


def _long_enough(secret: bytes) -> bytes:
    if len(secret) < LEAST_SECRET:
        raise ParameterError(
            "the secret is too short",
            got=f"{len(secret)} bytes",
            do=f"use at least {LEAST_SECRET}, for example secrets.token_bytes(32)",
        )
    return secret


def keyed_frame(
    data: Microdata, secret: bytes, unit: str | None, stored: tuple[str, str] | None
) -> nw.LazyFrame[Any]:
    """Return the records with the two keys of their unit, in the engine where they are.

    Parameters
    ----------
    unit
        Column that names the unit; nothing numbers the records, which only a file in memory allows.
    stored
        Columns that already hold keys, made by `tacit.tables.with_record_keys` with any secret.
    """
    if stored is not None:
        return _with_stored(data, stored)
    if data.lazy.implementation is nw.Implementation.POLARS:
        return _in_memory(data, secret, unit)
    if unit is None:
        raise SchemaError(
            "records in an engine have no order that would number them",
            do="name the column of the units, or columns of stored keys",
        )
    return _joined(data, secret, unit)


def _with_stored(data: Microdata, stored: tuple[str, str]) -> nw.LazyFrame[Any]:
    data.schema.require(stored)
    first, second = (nw.col(name).cast(nw.Int64) for name in stored)
    frame = data.lazy.with_columns(first.alias(KEYS[0]), second.alias(KEYS[1]))
    facts = frame.select(
        nw.min_horizontal(KEYS[0], KEYS[1]).min().alias("low"),
        nw.max_horizontal(KEYS[0], KEYS[1]).max().alias("high"),
        nw.col(KEYS[0]).null_count().alias("none"),
    )
    low, high, missing = facts.collect("polars").row(0)
    if missing or (low is not None and (low < 0 or high >= MODULUS)):
        raise DataError(
            "stored keys must be whole numbers from 0 to 2^31 - 2 on every record",
            do="make them with tables.with_record_keys",
        )
    return frame


def _in_memory(data: Microdata, secret: bytes, unit: str | None) -> nw.LazyFrame[Any]:
    import polars as pl

    table = data.local
    units = table[unit] if unit is not None else pl.Series(np.arange(table.height))
    keys = unit_keys(units, secret)
    columns = [pl.Series(name, keys[:, j]) for j, name in enumerate(KEYS)]
    return _lazy(table.with_columns(columns))


def _joined(data: Microdata, secret: bytes, unit: str) -> nw.LazyFrame[Any]:
    """Make the keys of the distinct units here, and join them in the engine."""
    import polars as pl

    units = collect_few(
        data.lazy.select(nw.col(unit).alias("u")).unique(),
        what=f"the units of {unit!r}",
        do="store two columns of record keys once (tables.with_record_keys, Source(keys=...))",
    )["u"]
    keys = unit_keys(units, secret)
    table = pl.DataFrame({"__unit": units, KEYS[0]: keys[:, 0], KEYS[1]: keys[:, 1]})
    beside = in_engine(table.to_arrow(), data.lazy)
    return data.lazy.join(beside, left_on=unit, right_on="__unit", how="left")


def in_engine(arrow_keys: Any, frame: nw.LazyFrame[Any]) -> nw.LazyFrame[Any]:
    """Bring a small table into the engine of a frame."""
    native = frame.to_native()
    match frame.implementation:
        case nw.Implementation.DUCKDB:
            # The relation's own connection runs this; it finds `arrow_keys` by its name.
            return _lazy(native.query("__records", "select * from arrow_keys"))
        case nw.Implementation.IBIS:
            # A temporary table, which ends with the connection and is sent there once.
            name = f"tacit_keys_{secrets.token_hex(8)}"
            made = native.get_backend().create_table(name, arrow_keys, temp=True)
            return _lazy(made)
        case nw.Implementation.PYSPARK:
            made = native.sparkSession.createDataFrame(arrow_keys).cache()
            return _lazy(made)
        case other:
            raise DataError("keys cannot be brought into this engine", got=str(other))


def _lazy(native: Any) -> nw.LazyFrame[Any]:
    frame: nw.LazyFrame[Any] = nw.from_native(native).lazy()
    return frame
