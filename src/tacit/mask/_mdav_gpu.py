"""Exact MDAV on a graphics processor: the groups are those of the processor's kernel, bit by bit.

Each step of DF07 is a scan of the free records by all threads, followed by a choice that one block
of threads makes: the farthest record, the nearest ones, and the closing of the gaps they leave.
The number of free records after each step is known beforehand (two groups of k go), so that the
steps queue up on the device and nothing is read back before the end. A launch takes longer than
many a step, so the launches of several pairs of groups are recorded once and played again.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any, Protocol

import numpy as np

from tacit.core.progress import Advance

_TILE = 1024
"""Free records whose nearest and farthest one are found by one block of threads."""
_SCAN_THREADS, _CHOICE_THREADS = 256, 1024
_PAIRS_PER_REPORT = 512
"""Pairs of groups formed between two progress reports, where an interrupt is noticed."""
_PAIRS_PER_GRAPH = 32
"""Pairs of groups that are launched in one go."""
_SHRUNK = 0.875
"""Launches are recorded anew when no more than this share of their tiles is left."""


class FreeRecords(Protocol):
    """The records without a group, on some device."""

    def form_pairs(self, n_pairs: int) -> None:
        """Carry out steps 1 to 3 of DF07 so many times: two groups each."""

    def wait(self) -> None:
        """Return when all that was asked for has been done."""

    def left(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return attributes and numbers of the free records, groups, and totals."""


def form_pairs(free: FreeRecords, n_records: int, k: int, advance: Advance) -> int:
    """Carry out step 4 of DF07 while 3k records are free; return the number of groups."""
    n_pairs = max(0, (n_records - 3 * k) // (2 * k) + 1)
    for start in range(0, n_pairs, _PAIRS_PER_REPORT):
        batch = min(_PAIRS_PER_REPORT, n_pairs - start)
        free.form_pairs(batch)
        free.wait()
        advance(batch * 2 * k)
    return 2 * n_pairs


def formed(
    free: FreeRecords, n_records: int, scale: np.ndarray, k: int, advance: Advance
) -> np.ndarray:
    """Return the group of each record; the last few, fewer than 3k, are grouped here."""
    from tacit.mask import _mdav_kernel as kernel

    n_groups = form_pairs(free, n_records, k, advance)
    X, ids, groups, total = free.left()
    position = np.full(n_records, -1)
    position[ids] = np.arange(len(ids))
    kernel.close(X, ids, position, groups, total, scale, np.array([len(ids), n_groups]), k)
    return groups


class CudaRecords:
    """Free records in the memory of a CUDA device.

    Parameters
    ----------
    arrays
        CuPy.
    X
        Attributes in rows, records in columns.
    total, scale
        Sums of the attributes in whole units, and how many units make one.
    k
        Records of a group.
    """

    def __init__(
        self, arrays: Any, X: np.ndarray, total: np.ndarray, scale: np.ndarray, k: int
    ) -> None:
        n_attributes, n_records = X.shape
        n_tiles = -(-n_records // _TILE)
        self._arrays, self._k, self._n_free = arrays, k, int(n_records)
        self._stride = np.int64(n_records)
        self._X, self._total, self._scale = map(arrays.asarray, (X, total, scale))
        self._ids = arrays.arange(n_records, dtype=np.int32)
        self._groups = arrays.full(n_records, -1, dtype=np.int32)
        self._counters = arrays.asarray(np.array([n_records, 0], dtype=np.int32))
        self._target = self._total.astype(np.float64) / self._scale / float(n_records)
        self._distance = arrays.empty(n_records)
        # Of each tile: the smallest and the largest distance, the record's number and its place.
        self._near = (arrays.empty(n_tiles), *arrays.empty((2, n_tiles), dtype=np.int32))
        self._far = (arrays.empty(n_tiles), *arrays.empty((2, n_tiles), dtype=np.int32))
        self._seed = arrays.zeros(1, dtype=np.int32)
        self._lists = tuple(arrays.empty((3, k + 1), dtype=np.int32))
        self._kernels = _compiled(arrays, n_attributes)
        self._stream = arrays.cuda.Stream(non_blocking=True)
        self._graph, self._graph_tiles = None, 0
        arrays.cuda.get_current_stream().synchronize()

    def form_pairs(self, n_pairs: int) -> None:
        """Queue steps 1 to 3 of DF07 so many times."""
        with self._stream:
            for _ in range(n_pairs // _PAIRS_PER_GRAPH):
                self._recorded().launch(self._stream)
                self._n_free -= 2 * self._k * _PAIRS_PER_GRAPH
            for _ in range(n_pairs % _PAIRS_PER_GRAPH):
                self._launch_pair()
                self._n_free -= 2 * self._k

    def wait(self) -> None:
        """Return when all that was asked for has been done."""
        self._stream.synchronize()

    def left(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Return attributes and numbers of the free records, groups, and totals."""
        home, n = self._arrays.asnumpy, self._n_free
        ids, groups = home(self._ids[:n]), home(self._groups)
        X = np.ascontiguousarray(home(self._X[:, :n]))
        return X, ids.astype(np.int64), groups.astype(np.int64), home(self._total)

    def _recorded(self) -> Any:
        """Return the launches of some pairs as one; recorded anew when fewer tiles are left."""
        if self._graph is None or self._tiles <= _SHRUNK * self._graph_tiles:
            self._stream.begin_capture()
            for _ in range(_PAIRS_PER_GRAPH):
                self._launch_pair()
            self._graph, self._graph_tiles = self._stream.end_capture(), self._tiles
        return self._graph

    @property
    def _tiles(self) -> int:
        return -(-self._n_free // _TILE)

    def _launch_pair(self) -> None:
        """Launch the scans and choices of x_r, of its group, and of that of x_s."""
        self._launch_scan()
        self._kernels["choose_farthest"](
            (1,), (_CHOICE_THREADS,),
            (self._X, self._stride, self._counters, *self._far, self._seed, self._target),
        )  # fmt: skip
        for then_farthest in (True, False):
            self._launch_scan()
            self._kernels["choose_group"](
                (1,), (_CHOICE_THREADS,),
                (
                    self._X, self._stride, self._counters, np.int32(self._k),
                    np.int32(then_farthest), self._distance, self._ids, self._groups, *self._near,
                    *self._far, *self._lists, self._total, self._scale, self._seed, self._target,
                ),
            )  # fmt: skip

    def _launch_scan(self) -> None:
        self._kernels["scan"](
            (self._tiles,), (_SCAN_THREADS,),
            (
                self._X, self._stride, self._counters, self._target, self._ids, self._distance,
                *self._near, *self._far,
            ),
        )  # fmt: skip


def _compiled(arrays: Any, n_attributes: int) -> dict[str, Any]:
    options = (
        f"-DATTRIBUTES={n_attributes}", f"-DTILE={_TILE}", f"-DSCAN={_SCAN_THREADS}",
        f"-DCHOICE={_CHOICE_THREADS}", "-fmad=false", "-std=c++17",
    )  # fmt: skip
    source = Path(__file__).with_name("_mdav_kernel.cu").read_text(encoding="utf-8")
    module = arrays.RawModule(code=source, options=options)
    return {name: module.get_function(name) for name in ("scan", "choose_farthest", "choose_group")}
