"""Distance linkage of all pairs on a graphics processor; the counts are those of the index."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from tacit.core.progress import track

_THREADS = 256
_TILE_VALUES = 4096
"""Values of points that a block of threads holds at a time."""
_TARGETS = 262_144
"""Targets looked up between two progress reports, where an interrupt is noticed."""


class DevicePoints:
    """Released records in the memory of a CUDA device; records that are equal are held once.

    Parameters
    ----------
    arrays
        CuPy.
    points, amounts
        Distinct records, and how many records each stands for.
    n_measured
        Number of columns that are numbers; the others are codes.
    blank
        Squared distance that a missing value stands for, for each column.
    tolerances
        Share and amount by which squared distances that count as tied may differ.
    """

    def __init__(
        self,
        arrays: Any,
        points: np.ndarray,
        amounts: np.ndarray,
        n_measured: int,
        blank: np.ndarray,
        tolerances: tuple[float, float],
    ) -> None:
        # In the order of the first column, as the targets are: near ones are met early.
        order = np.argsort(points[:, 0])
        self._arrays, self._leading = arrays, points[order, 0]
        self._points, self._amounts = arrays.asarray(points[order]), arrays.asarray(amounts[order])
        self._n_measured, self._blank = n_measured, arrays.asarray(blank, dtype=np.float64)
        self._tolerances = tolerances
        self._tile = max(1, min(256, _TILE_VALUES // points.shape[1]))

    def tied_at(self, targets: np.ndarray, radius: np.ndarray) -> np.ndarray:
        """Count the records at each target's squared radius; 0 where one is nearer."""
        has_gaps = bool(np.isnan(targets).any() or self._arrays.isnan(self._points).any())
        kernel = self._compiled(has_gaps)
        found = []
        with track("linking", len(targets)) as advance:
            for start in range(0, len(targets), _TARGETS):
                part = slice(start, start + _TARGETS)
                found.append(self._tied(kernel, targets[part], radius[part]))
                advance(len(found[-1]))
        return np.concatenate(found) if found else np.zeros(0)

    def _tied(self, kernel: Any, targets: np.ndarray, radius: np.ndarray) -> np.ndarray:
        n, arrays = len(targets), self._arrays
        blocks = -(-n // _THREADS)
        middle = targets[np.minimum(np.arange(blocks) * _THREADS + _THREADS // 2, n - 1), 0]
        first = np.searchsorted(self._leading, middle) // self._tile
        first = np.minimum(first, (len(self._leading) - 1) // self._tile)
        tied = arrays.empty(n)
        kernel(
            (blocks,), (_THREADS,),
            (
                arrays.asarray(targets), arrays.asarray(radius), np.int32(n), self._points,
                self._amounts, np.int32(len(self._leading)),
                arrays.asarray(first.astype(np.int32)), self._blank,
                *map(np.float64, self._tolerances), tied,
            ),
        )  # fmt: skip
        return np.asarray(arrays.asnumpy(tied))

    def _compiled(self, has_gaps: bool) -> Any:
        source = Path(__file__).with_name("_linkage_kernel.cu").read_text(encoding="utf-8")
        options = (
            f"-DCOLUMNS={self._points.shape[1]}", f"-DMEASURED={self._n_measured}",
            f"-DTHREADS={_THREADS}", f"-DTILE={self._tile}", f"-DMISSING={int(has_gaps)}",
            "-fmad=false", "-std=c++17",
        )  # fmt: skip
        return self._arrays.RawModule(code=source, options=options).get_function("tied_at")
