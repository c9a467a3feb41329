"""A stand-in for CuPy on machines without a graphics processor: NumPy, and kernels told in NumPy.

The programs that launch kernels run unchanged; what a kernel does with its arguments is written
down here a second time, without threads. Arguments are bound to the names in the CUDA source, so a
wrong order shows. That the CUDA source itself does the same is shown on a device by
``benchmarks/bench_gpu.py --check``.
"""

import re
from types import SimpleNamespace

import numpy as np

_ENDLESS = np.inf


def _best(distance, ids, *, nearest):
    """Position of the best record: by distance, and by number where distances are equal."""
    return int(np.lexsort((ids, distance if nearest else -distance))[0])


def _squared(X, target):
    total = np.zeros(X.shape[1])
    for row, place in zip(X, target, strict=True):
        total += (row - place) * (row - place)
    return total


def _scan(a, defined):
    n, tile = int(a.counters[0]), defined["TILE"]
    a.distance[:n] = _squared(a.X[:, :n], a.target)
    for number, start in enumerate(range(0, n, tile)):
        part = slice(start, min(start + tile, n))
        for side, nearest in (("near", True), ("far", False)):
            at = start + _best(a.distance[part], a.ids[part], nearest=nearest)
            found = (a.distance[at], a.ids[at], at)
            for name, value in zip(("d", "id", "at"), found, strict=True):
                getattr(a, f"{side}_{name}")[number] = value


def _farthest(a, n_tiles):
    return int(a.far_at[_best(a.far_d[:n_tiles], a.far_id[:n_tiles], nearest=False)])


def _choose_farthest(a, defined):
    a.seed[0] = _farthest(a, -(-int(a.counters[0]) // defined["TILE"]))
    a.target[:] = a.X[:, a.seed[0]]


def _choose_group(a, defined):
    n, k = int(a.counters[0]), int(a.k)
    far = _farthest(a, -(-n // defined["TILE"])) if a.then_farthest else -1
    distance, members, member = a.distance[:n].copy(), [], int(a.seed[0])
    for _ in range(k):
        members.append(member)
        distance[member] = _ENDLESS
        member = _best(distance, a.ids[:n], nearest=True)
    far = member if far in members else far
    a.groups[a.ids[members]] = a.counters[1]
    a.counters[:] = n - k, a.counters[1] + 1
    units = np.rint(a.X[:, members] * a.scale[:, None]).astype(np.int64)
    a.total[:] -= units.sum(axis=1)
    holes = [at for at in members if at < n - k]
    fillers = [at for at in range(n - k, n) if at not in members]
    a.X[:, holes], a.ids[holes] = a.X[:, fillers], a.ids[fillers]
    a.seed[0] = holes[fillers.index(far)] if far in fillers else far
    mean = a.total.astype(float) / a.scale / float(n - k)
    a.target[:] = a.X[:, a.seed[0]] if a.then_farthest else mean


def _tied_at(a, defined):
    blank = a.blank if defined["MISSING"] else np.full_like(a.blank, np.nan)
    for i in range(int(a.n_targets)):
        total = np.zeros(int(a.n_points))
        for c in range(defined["COLUMNS"]):
            gap = a.targets[i, c] - a.points[:, c]
            part = gap * gap if c < defined["MEASURED"] else (gap != 0).astype(float)
            total += np.where(np.isnan(gap), blank[c], part)
        outer = a.radius[i] * (1 + a.relative) + a.absolute
        inner = a.radius[i] * (1 - a.relative) - a.absolute
        a.tied[i] = 0.0 if (total < inner).any() else a.amounts[total <= outer].sum()


_KERNELS = {
    "scan": _scan,
    "choose_farthest": _choose_farthest,
    "choose_group": _choose_group,
    "tied_at": _tied_at,
}


class RawModule:
    """Kernels of a CUDA source, launched on NumPy arrays."""

    def __init__(self, code, options):
        self._code = code
        self._defined = {
            name: int(value) for name, value in re.findall(r"-D(\w+)=(\d+)", " ".join(options))
        }
        assert "-fmad=false" in options  # else distances round differently

    def get_function(self, name):
        signature = re.search(rf"\b{name}\(([^)]*)\)\s*{{", self._code).group(1)
        names = [part.split()[-1].lstrip("*") for part in signature.split(",")]

        def launch(grid, block, arguments):
            bound = SimpleNamespace(**dict(zip(names, arguments, strict=True)))
            Stream.launch(lambda: _KERNELS[name](bound, self._defined))

        return launch


class Stream:
    """Launches in their order, carried out at once or recorded to be played again."""

    _recording = None

    def __init__(self, non_blocking):
        pass

    def __enter__(self):
        return self

    def __exit__(self, *_):
        return None

    @classmethod
    def launch(cls, work):
        if cls._recording is None:
            work()
        else:
            cls._recording.append(work)

    def begin_capture(self):
        Stream._recording = []

    def end_capture(self):
        recorded, Stream._recording = Stream._recording, None
        return SimpleNamespace(launch=lambda _stream: [work() for work in recorded])

    def synchronize(self):
        pass


class OutOfMemoryError(Exception):
    """What CuPy raises when the memory of the device is full."""


numpy_device = SimpleNamespace(
    RawModule=RawModule,
    arange=np.arange,
    asarray=lambda values, dtype=None: np.array(values, dtype=dtype),
    asnumpy=np.array,
    empty=np.empty,
    full=np.full,
    isnan=np.isnan,
    zeros=np.zeros,
    cuda=SimpleNamespace(
        Stream=Stream,
        get_current_stream=lambda: SimpleNamespace(synchronize=lambda: None),
        memory=SimpleNamespace(OutOfMemoryError=OutOfMemoryError),
        runtime=SimpleNamespace(getDeviceCount=lambda: 1, CUDARuntimeError=RuntimeError),
    ),
)
"""What `tacit.core.gpu.gpu_arrays` returns where this stands in."""
