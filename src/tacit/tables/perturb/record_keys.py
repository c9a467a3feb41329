"""Secret record keys: two numbers per unit that only the holder of the secret can know."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import narwhals as nw
import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import DataError, ParameterError, SchemaError
from tacit.core.frame import collect
from tacit.core.schema import Kind, Role, Schema, Variable

MODULUS = 2**31 - 1
"""Record keys are below this prime, and cell keys are sums modulo it."""
NAMES = ("rk1", "rk2")
"""Default names of the two columns of keys."""
LEAST_SECRET = 16
"""Fewest bytes of a secret."""
DECIMALS = 9
"""Digits kept of keys that are fractions."""
_CHUNK = 1_000_000


def unit_keys(units: Any, secret: str | bytes) -> np.ndarray:
    r"""Return the two keys of each unit, the same wherever and whenever they are made.

    Parameters
    ----------
    units
        Names or numbers of the units, as a column or a list; 17, 17.0 and "17" are one unit.
    secret
        At least 16 bytes that nobody outside may know; text or bytes.

    Returns
    -------
    Units by two, whole numbers from 0 to :math:`2^{31} - 2`.

    Notes
    -----
    AES-256 under a key derived from the secret (HKDF), chained over the blocks of the name
    (CBC-MAC with the length in front); its halves are reduced modulo :math:`2^{31} - 1`. No hash
    function of an engine is involved, so keys are equal on all of them.

    Examples
    --------
    >>> keys = unit_keys(["Ann", "Bob", "Ann"], "a long and secret phrase")
    >>> bool((keys[0] == keys[2]).all()), bool((keys[0] == keys[1]).any())
    (True, False)
    """
    import polars as pl

    from tacit.tables._codes import as_text
    from tacit.tables.perturb._aes import authenticated, derived_key, halves

    key = derived_key(_secret_bytes(secret), "tacit record keys 1")
    names = as_text(units if isinstance(units, pl.Series) else pl.Series(list(units)))
    _check_named(names.null_count())
    parts = [
        halves(authenticated(key, _bytes_of(names[at : at + _CHUNK])), MODULUS)
        for at in range(0, len(names), _CHUNK)
    ]
    return np.concatenate([np.empty((0, 2), np.int64), *parts])


def with_record_keys(
    data: Any, secret: str | bytes, *, unit: str | None = None, names: Sequence[str] = NAMES
) -> Microdata:
    """Return the records with two columns of secret keys.

    Store them with the data (in the database, for example) and pass their names to
    `tacit.tabulate`; they belong to the data, not to any release. In DuckDB and on Spark the keys
    are made part by part where the records are, whatever their number.

    Parameters
    ----------
    data
        Microdata, or a frame of any kind.
    secret
        At least 16 bytes that nobody outside may know.
    unit
        Column that names the unit of each record; nothing numbers the records as they stand, which
        only a file in memory allows.
    names
        Names of the new columns.

    Examples
    --------
    >>> import tacit
    >>> keyed = with_record_keys(tacit.datasets.census(50), "a long and secret phrase")
    >>> table = tacit.tabulate(keyed, ["sex"], weights=None, keys="rk1")
    >>> bool(table.key_sums["rk1"][0] == table.key_sums["rk1"][1:].sum())
    True
    """
    microdata = Microdata.of(data)
    new = tuple(names)
    taken = [name for name in new if name in microdata.columns]
    if len(set(new)) != 2 or taken:
        raise ParameterError("two new columns of keys need names that are not taken", got=new)
    if unit is not None and _by_parts(microdata, unit):
        return _keyed_in_engine(microdata, _Keying(_secret_bytes(secret), unit, new))
    keys = unit_keys(_units(microdata, unit), secret)
    return _with_columns(microdata, {name: keys[:, j] for j, name in enumerate(new)})


def whole_keys(data: Any, column: str, *, name: str | None = None) -> Microdata:
    """Return the records with a column of record keys between 0 and 1 turned into whole numbers.

    Such keys come from tau-ARGUS and R. Sums of fractions differ between engines in their last
    digits, sums of whole numbers do not. Use the modulus ``10**9`` with them.

    Examples
    --------
    >>> import polars as pl
    >>> whole_keys(pl.DataFrame({"key": [0.25, 0.5]}), "key").frame["key"].to_list()
    [250000000, 500000000]
    """
    microdata = Microdata.of(data)
    microdata.schema.require([column], kinds=[Kind.NUMERIC])
    fractions = microdata.numeric([column])[:, 0]
    if not np.all((fractions >= 0) & (fractions < 1)):
        raise DataError(f"the keys in {column!r} must be at least 0 and below 1 on every record")
    keys = np.rint(fractions * 10**DECIMALS).astype(np.int64) % 10**DECIMALS
    if name is None or name == column:
        return microdata.with_arrays({column: keys})
    return _with_columns(microdata, {name: keys})


def _secret_bytes(secret: str | bytes) -> bytes:
    given = secret.encode() if isinstance(secret, str) else bytes(secret)
    if len(given) < LEAST_SECRET:
        raise ParameterError(
            "the secret of the record keys is too short",
            got=f"{len(given)} bytes",
            do=f"use at least {LEAST_SECRET}, for example secrets.token_bytes(32)",
        )
    return given


def _units(data: Microdata, unit: str | None) -> Any:
    import polars as pl

    if unit is not None:
        data.schema.require([unit])
        return collect(data.lazy.select(nw.col(unit)))[unit]
    if data.lazy.implementation is not nw.Implementation.POLARS:
        raise SchemaError(
            "records in an engine have no order that would number them",
            do="name the column of the units",
        )
    return pl.Series(np.arange(data.n_records))


def _by_parts(data: Microdata, unit: str) -> bool:
    """Whether the keys can be made in the engine: the name of a unit must not depend on others."""
    data.schema.require([unit])
    engines = (nw.Implementation.DUCKDB, nw.Implementation.PYSPARK)
    dtype = data.lazy.collect_schema()[unit]
    whole = dtype.is_integer() and dtype not in (nw.Int128, nw.UInt128)  # in transit: decimals
    plain = whole or dtype in (nw.String, nw.Boolean, nw.Date)
    return data.lazy.implementation in engines and plain


@dataclass(frozen=True)
class _Keying:
    """Add the keys to a part of the records, on whatever machine it lies."""

    secret: bytes = field(repr=False)
    unit: str
    names: tuple[str, ...]

    def __call__(self, table: Any) -> Any:
        import polars as pl

        keys = unit_keys(table[self.unit], self.secret)
        return table.with_columns(pl.Series(n, keys[:, j]) for j, n in enumerate(self.names))


def _keyed_in_engine(data: Microdata, keying: _Keying) -> Microdata:
    from tacit.core.block_plan import carrier_of

    without = data.lazy.select(nw.col(keying.unit).null_count()).collect("polars").item()
    _check_named(int(without))
    lazy = carrier_of(data).extended(data, keying, keying.names)
    return replace(data, lazy=lazy, schema=_with_keys(data.schema, keying.names))


def _check_named(n_without: int) -> None:
    if n_without:
        raise DataError(
            "every record needs a unit to have a key",
            got=f"{n_without:,} without",
            do="number the records that have none",
        )


def _bytes_of(names: Any) -> tuple[np.ndarray, np.ndarray]:
    """Return the bytes of all names one after the other, and where each begins."""
    length = names.str.len_bytes().to_numpy().astype(np.int64)
    joined = names.str.join("").item() if len(names) else ""
    data = np.frombuffer(joined.encode() or b"\0", dtype=np.uint8)
    return data, np.concatenate([[0], np.cumsum(length)])


def _with_columns(data: Microdata, columns: dict[str, np.ndarray]) -> Microdata:
    import polars as pl

    table = data.local.with_columns([pl.Series(n, keys) for n, keys in columns.items()])
    schema = _with_keys(data.schema, columns)
    return replace(data, lazy=nw.from_native(table.lazy()), schema=schema)


def _with_keys(schema: Schema, names: Iterable[str]) -> Schema:
    """Return the schema with columns of keys, which are to be removed from every release."""
    added = [Variable(name=n, kind=Kind.NUMERIC, roles=frozenset({Role.IDENTIFIER})) for n in names]
    return Schema(variables=(*schema.variables, *added), constraints=schema.constraints)
