"""Classes of equal keys, counted inside the engine: one row for each class, not for each record."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import narwhals as nw
import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.frame import collect_few
from tacit.core.keys import encode_series

MANY_RECORDS = 1_000_000
"""Records of an engine from which keys are counted there; values per record then stay there too."""
_COUNT, _WEIGHT, _WRONG = "__tacit_count__", "__tacit_weight__", "__tacit_wrong__"


@dataclass(frozen=True)
class KeyClasses:
    """The distinct keys of a file, with how many records have each."""

    names: tuple[str, ...]
    table: Any
    """The keys of each class, as a Polars frame."""
    times: np.ndarray
    """Records of each class."""
    weights: np.ndarray | None
    """Sum of the weights of each class."""

    @property
    def codes(self) -> np.ndarray:
        """Codes of the keys, classes by keys; -1 is missing."""
        codes = np.empty((self.table.height, len(self.names)), dtype=np.int32)
        for j, name in enumerate(self.names):
            codes[:, j] = encode_series(self.table[name])
        return codes


def counts_in_engine(data: Microdata) -> bool:
    """Whether the keys of these data are better counted where they are."""
    in_memory = data.lazy.implementation is nw.Implementation.POLARS
    return not in_memory and data.n_records > MANY_RECORDS


def key_classes(data: Microdata, names: Sequence[str]) -> KeyClasses:
    """Count the records of each combination of keys inside the engine, and sum their weights."""
    weight = data.schema.weight
    sums = [nw.len().alias(_COUNT)]
    frame = data.lazy
    if weight is not None:
        amount = nw.col(weight).cast(nw.Float64)
        good = (amount > 0) & amount.is_finite()
        frame = frame.with_columns(
            amount.alias(_WEIGHT),
            nw.when(good).then(nw.lit(0)).otherwise(nw.lit(1)).alias(_WRONG),
        )
        sums += [nw.col(_WEIGHT).sum(), nw.col(_WRONG).sum()]
    grouped = frame.group_by(list(names)).agg(*sums) if names else frame.select(*sums)
    table = collect_few(
        grouped, what="the combinations of the keys", do="recode the keys, choose fewer"
    )
    if weight is not None and table[_WRONG].sum():
        raise DataError(
            f"the weight {weight!r} must be a number above 0 on every record",
            got=f"{table[_WRONG].sum()} other values",
        )
    weights = None if weight is None else table[_WEIGHT].to_numpy()
    times = table[_COUNT].to_numpy().astype(np.int64)
    return KeyClasses(tuple(names), table.select(names), times, weights)


def with_class_values(data: Microdata, classes: KeyClasses, values: dict[str, np.ndarray]) -> Any:
    """Return the engine's own frame of the records with the values of their classes beside them.

    For DuckDB and Spark; missing keys equal missing keys.
    """
    import polars as pl

    numbered = {f"__key_{j}__": classes.table[name] for j, name in enumerate(classes.names)}
    small = pl.DataFrame({**numbered, **values}).to_arrow()
    native = data.lazy.select(data.columns).to_native()
    if data.lazy.implementation is nw.Implementation.DUCKDB:
        return _joined_in_duckdb(native, small, classes.names, list(values))
    if data.lazy.implementation is nw.Implementation.PYSPARK:
        return _joined_in_spark(native, small, classes.names)
    raise DataError(
        "values per record are written back to DuckDB and Spark only",
        got=str(data.lazy.implementation),
        do="read the table into one of these",
    )


def _joined_in_duckdb(native: Any, small: Any, names: Sequence[str], values: list[str]) -> Any:
    def quoted(name: str) -> str:
        return '"' + name.replace('"', '""') + '"'

    same = " AND ".join(
        f"r.{quoted(name)} IS NOT DISTINCT FROM c.__key_{j}__" for j, name in enumerate(names)
    )
    beside = ", ".join(f"c.{quoted(v)}" for v in values)
    # DuckDB finds the Arrow table by the name of the variable, in the connection of the records
    statement = f"SELECT r.*, {beside} FROM r JOIN small c ON {same}"  # noqa: S608 - quoted
    return native.query("r", statement)


def _joined_in_spark(native: Any, small: Any, names: Sequence[str]) -> Any:
    from pyspark.sql import functions as F

    table = F.broadcast(native.sparkSession.createDataFrame(small))
    same = [native[name].eqNullSafe(table[f"__key_{j}__"]) for j, name in enumerate(names)]
    joined = native.join(table, same, "inner")
    return joined.drop(*(f"__key_{j}__" for j in range(len(names))))
