"""Exact MDAV and distance linkage on a graphics processor, beside the limits of the device.

    python benchmarks/bench_gpu.py --references FILE      on a machine with tacit: groups and links
    python benchmarks/bench_gpu.py --references FILE --large 10 3     and groups of 10^6 records
    python benchmarks/bench_gpu.py --check FILE           on a machine with a GPU and CuPy
    python benchmarks/bench_gpu.py --check FILE --plain 300     and all groups of 10^6 records

The references of a million records take one core seven minutes for k = 10 and over twenty for
k = 3; where they are in the file, all groups are compared. With ``--plain`` plain_mdav.cpp, which
g++ compiles on the spot, forms the groups on all cores of the machine with the GPU instead, for at
most so many seconds each. Some groups of the large file are formed again besides, by plain NumPy.
The last two lines need NumPy and CuPy only: the kernels are loaded by themselves. Groups and links
must be those of the processor, record by record, also on files full of ties. The limit of MDAV is
its three scans of the free records per pair of groups at the speed at which the device copies
memory; that of linkage the subtractions, products and sums of all pairs at its speed for double
numbers.
"""

from __future__ import annotations

import argparse
import ctypes
import importlib.util
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

_SOURCE = Path(__file__).resolve().parents[1] / "src"
MDAV = [("normal", 10_000, 3), ("normal", 10_000, 10), ("normal", 100_000, 3),
        ("normal", 100_000, 10), ("ties", 10_000, 3), ("ties", 3_000, 7),
        ("ties", 20_000, 40), ("equal", 1_000, 4)]  # fmt: skip
LINKAGE = [("numbers", 10_000, 0.3), ("numbers", 100_000, 0.3), ("numbers", 1_000_000, 0.1),
           ("mixed", 10_000, 0.2)]  # fmt: skip


def records(kind: str, n: int) -> np.ndarray:
    rng = np.random.default_rng(1)
    if kind == "normal":
        return rng.standard_normal((n, 10))
    if kind == "equal":
        return np.ones((n, 2))
    return rng.integers(0, 4, (n, 3)).astype(float)  # few distinct records: ties everywhere


def two_files(kind: str, n: int, noise: float) -> tuple[np.ndarray, np.ndarray, int, np.ndarray]:
    """Return targets, points, the number of measured columns, and what missing values count."""
    rng = np.random.default_rng(2)
    before = rng.standard_normal((n, 5))
    after = before + noise * rng.standard_normal(before.shape)
    if kind == "numbers":
        return before, after, 5, np.zeros(5)
    for side in (before, after):  # ties, two columns of codes, missing values
        side[:] = np.round(side, 1)
        side[:, 3:] = np.round(side[:, 3:])
        side[rng.random(side.shape) < 0.05] = np.nan
    return before, after, 3, np.full(5, 1.3)


def write_references(path: Path, largest: int, large: list[int]) -> None:
    from tacit.mask.mdav import mdav_groups
    from tacit.risk._linkage_index import PointIndex, paired_distances

    found = {}
    for kind, n, k in [*MDAV, *(("normal", largest, k) for k in large)]:
        started = time.process_time()
        groups = mdav_groups(records(kind, n), k, standardise=False)
        found[f"{kind}-{n}-{k}"] = groups.astype(np.int32)
        print(f"MDAV {kind} {n:,} k={k}: {time.process_time() - started:.1f} CPU s", flush=True)
        if n == largest:
            np.savez_compressed(path, **found)
    for kind, n, noise in LINKAGE:
        before, after, n_measured, blank = two_files(kind, n, noise)
        radius = paired_distances(before, after, n_measured, blank)
        found[f"{kind}-{n}-{noise}-radius"] = radius
        found[f"{kind}-{n}-{noise}"] = PointIndex(after, n_measured, blank).tied_at(before, radius)
    np.savez_compressed(path, **found)


def kernel_file(package: str, name: str) -> Any:
    """Load one file of tacit by itself."""
    place = _SOURCE / "tacit" / package / f"{name}.py"
    spec = importlib.util.spec_from_file_location(name, place)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def mdav_on_device(arrays: Any, values: np.ndarray, k: int) -> tuple[np.ndarray, int, float]:
    """Return the groups, how many records are left for the last steps, and wall seconds."""
    gpu, units = kernel_file("mask", "_mdav_gpu"), kernel_file("mask", "_whole_units")
    started = time.perf_counter()
    X = np.ascontiguousarray(values.T)
    free = gpu.CudaRecords(arrays, X, *units.whole_units(X), k)
    gpu.form_pairs(free, len(values), k, lambda _: None)
    _, ids, groups, _ = free.left()
    return groups, len(ids), time.perf_counter() - started


def tied_on_device(
    arrays: Any, files: tuple[np.ndarray, np.ndarray, int, np.ndarray], radius: np.ndarray
) -> tuple[np.ndarray, float]:
    before, after, n_measured, blank = files
    gpu = kernel_file("risk", "_linkage_gpu")
    started = time.perf_counter()
    points = gpu.DevicePoints(
        arrays, after, np.ones(len(after)), n_measured, blank, (1e-9, 1e-18)
    )  # the tolerances of _linkage_kernel.py
    order = np.argsort(before[:, 0])
    tied = np.empty(len(before))
    tied[order] = points.tied_at(before[order], radius[order])
    return tied, time.perf_counter() - started


def loss(values: np.ndarray, groups: np.ndarray) -> float:
    """Return 100 SSE/SST; the last few records, not yet grouped, count as one group."""
    numbers = groups + 1
    sizes = np.maximum(np.bincount(numbers), 1)
    within = sum(
        float(((c - (np.bincount(numbers, c) / sizes)[numbers]) ** 2).sum()) for c in values.T
    )
    return 100 * within / float(((values - values.mean(axis=0)) ** 2).sum())


def judged(values: np.ndarray, groups: np.ndarray, k: int, wanted: np.ndarray | None) -> str:
    """Check groups of a large file: their sizes, some formed anew, and all where they are known."""
    pairs = groups >= 0
    sizes = np.bincount(groups[pairs])
    assert (sizes == k).all()
    assert (~pairs).sum() < 3 * k
    formed_again(values, groups, k)
    said = f"all {len(sizes):,} groups have {k} records"
    if wanted is None:
        return f"{said}; not compared with the processor"
    compared = pairs & (wanted >= 0)
    assert np.array_equal(groups[compared], wanted[compared])
    return f"{said}; {len(np.unique(groups[compared])):,} of them are those of the processor"


def plain_groups(values: np.ndarray, k: int, seconds: float) -> np.ndarray:
    """Form groups by plain_mdav.cpp on all cores; records it had no time for have group -1."""
    source = Path(__file__).with_name("plain_mdav.cpp")
    with tempfile.TemporaryDirectory() as folder:
        built = f"{folder}/plain_mdav.so"
        options = ["-O3", "-march=native", "-ffp-contract=off", "-fopenmp", "-shared", "-fPIC"]
        subprocess.run(["g++", *options, str(source), "-o", built], check=True)
        library = ctypes.CDLL(built)
    X = np.array(values.T, order="C")
    groups = np.full(len(values), -1, dtype=np.int32)
    numbers = ctypes.c_int(len(values)), ctypes.c_int(values.shape[1]), ctypes.c_int(k)
    places = [ctypes.c_void_p(array.ctypes.data) for array in (X, groups)]
    library.plain_mdav(places[0], *numbers, ctypes.c_double(seconds), places[1])
    return groups


def formed_again(values: np.ndarray, groups: np.ndarray, k: int, n_checked: int = 40) -> None:
    """Form some groups again, each from the records that were free before it, by plain NumPy.

    The pair of groups t is formed from the records of groups 2t and above and of those left: the
    record farthest from their mean with its k - 1 nearest, then the farthest from that record.
    """
    n_pairs = (groups.max() + 1) // 2
    for t in np.unique(np.linspace(0, n_pairs - 1, n_checked).astype(int)):
        free = np.flatnonzero((groups >= 2 * t) | (groups < 0))
        part = values[free]
        distance = ((part - part.mean(axis=0)) ** 2).sum(axis=1)
        at = free[distance.argmax()]
        assert groups[at] == 2 * t, (t, at)
        for number in (2 * t, 2 * t + 1):
            free = np.flatnonzero((groups >= number) | (groups < 0))
            to_first = ((values[free] - values[at]) ** 2).sum(axis=1)
            if number == 2 * t + 1:
                at = free[to_first.argmax()]
                to_first = ((values[free] - values[at]) ** 2).sum(axis=1)
            nearest = free[np.argpartition(to_first, k - 1)[:k]]
            assert set(nearest.tolist()) == set(np.flatnonzero(groups == number).tolist()), number


def copy_speed(arrays: Any) -> float:
    """Bytes read and written per second by a large copy."""
    source = arrays.ones(250_000_000)
    target = arrays.empty_like(source)
    target[:] = source
    arrays.cuda.Device().synchronize()
    started = time.perf_counter()
    for _ in range(10):
        target[:] = source
    arrays.cuda.Device().synchronize()
    return 10 * 2 * source.nbytes / (time.perf_counter() - started)


def double_speed(arrays: Any) -> float:
    """Products and sums of double numbers per second, not fused."""
    code = r"""
    extern "C" __global__ void work(double *out) {
        double a[8];
        for (int i = 0; i < 8; i++) a[i] = threadIdx.x + i;
        for (int step = 0; step < 20000; step++)
            for (int i = 0; i < 8; i++) a[i] = a[i] * 0.999 + 0.001;
        double total = 0;
        for (int i = 0; i < 8; i++) total += a[i];
        out[blockIdx.x * blockDim.x + threadIdx.x] = total;
    }"""
    kernel = arrays.RawKernel(code, "work", options=("-fmad=false",))
    out = arrays.empty(132 * 8 * 256)
    kernel((132 * 8,), (256,), (out,))
    arrays.cuda.Device().synchronize()
    started = time.perf_counter()
    kernel((132 * 8,), (256,), (out,))
    arrays.cuda.Device().synchronize()
    return out.size * 20_000 * 8 * 2 / (time.perf_counter() - started)


def check(path: Path, largest: int, plain: float) -> None:
    import cupy

    stored = np.load(path)
    bytes_per_second, doubles_per_second = copy_speed(cupy), double_speed(cupy)
    print(f"copy {bytes_per_second / 1e12:.2f} TB/s, double {doubles_per_second / 1e12:.1f} T/s")
    mdav_on_device(cupy, records("normal", 1000), 3)  # compile
    for kind, n, k in MDAV:
        groups, n_free, seconds = mdav_on_device(cupy, records(kind, n), k)
        pairs = groups >= 0
        same = np.array_equal(groups[pairs], stored[f"{kind}-{n}-{k}"][pairs])
        print(f"MDAV {kind} {n:,} k={k}: {seconds:.3f} s, same groups {same}, left {n_free}")
        assert same
        assert (~pairs).sum() == n_free < 3 * k
    for kind, n, noise in LINKAGE:
        radius = stored[f"{kind}-{n}-{noise}-radius"]
        tied, seconds = tied_on_device(cupy, two_files(kind, n, noise), radius)
        same = np.array_equal(tied, stored[f"{kind}-{n}-{noise}"])
        print(f"linkage {kind} {n:,} noise {noise}: {seconds:.3f} s, same links {same}")
        assert same
    for k in (3, 10):
        values = records("normal", largest)
        groups, n_free, seconds = mdav_on_device(cupy, values, k)
        limit = 3 * (largest / (2 * k)) * (largest / 2) * 10 * 8 / bytes_per_second
        said = judged(values, groups, k, stored.get(f"normal-{largest}-{k}"))
        print(
            f"MDAV {largest:,} x 10, k={k}: {seconds:.2f} s, limit {limit:.2f} s,"
            f" 100 SSE/SST {loss(values, groups):.4f}, left {n_free}, {said}",
            flush=True,
        )
        if plain:
            started = time.perf_counter()
            wanted = plain_groups(values, k, plain)
            print(f"plain MDAV on the processor, {time.perf_counter() - started:.0f} s:"
                  f" {judged(values, groups, k, wanted)}", flush=True)  # fmt: skip
    for noise in (0.05, 0.1, 0.3, 1.0):
        files = two_files("numbers", largest, noise)
        radius = ((files[0] - files[1]) ** 2).sum(axis=1)
        tied, seconds = tied_on_device(cupy, files, radius)
        limit = largest**2 * 5 * 3 / doubles_per_second
        print(f"linkage {largest:,}, noise {noise}: {seconds:.2f} s, limit {limit:.2f} s,"
              f" linked {100 * (tied > 0).mean():.3f} %")  # fmt: skip


def main() -> None:
    parser = argparse.ArgumentParser()
    parser.add_argument("--references", type=Path)
    parser.add_argument("--check", type=Path)
    parser.add_argument("--largest", type=int, default=1_000_000)
    parser.add_argument("--large", type=int, nargs="*", default=[], help="k of large references")
    parser.add_argument("--plain", type=float, default=0, help="seconds for plain_mdav.cpp, each k")
    chosen = parser.parse_args()
    sys.path.insert(0, str(_SOURCE))
    if chosen.references:
        write_references(chosen.references, chosen.largest, chosen.large)
    if chosen.check:
        check(chosen.check, chosen.largest, chosen.plain)


if __name__ == "__main__":
    main()
