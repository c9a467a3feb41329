"""The graphics processor, for the few methods whose cost is quadratic.

A method with a parameter ``device`` gives the same result on both; the processor only changes how
long it takes. CuPy compiles the kernels where they run, and nothing of it is imported before.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any, Literal

from tacit.core.errors import DataError, ParameterError, optional

Device = Literal["cpu", "gpu"]
"""Where a quadratic method computes."""

_BACK = 'use device="cpu", which gives the same result'


def gpu_arrays(*, by: str) -> Any:
    """Return the array module of the graphics processor, or say what is missing.

    Parameters
    ----------
    by
        Key of the method that asks, for the message.
    """
    cupy = optional("cupy", extra="gpu")
    try:
        n_devices = cupy.cuda.runtime.getDeviceCount()
    except cupy.cuda.runtime.CUDARuntimeError as error:
        raise ParameterError(f"{by}: no graphics processor answers", got=error, do=_BACK) from error
    if n_devices == 0:
        raise ParameterError(f"{by}: there is no graphics processor", do=_BACK)
    return cupy


@contextmanager
def enough_memory(arrays: Any, *, by: str) -> Iterator[None]:
    """Turn the graphics processor's running out of memory into advice."""
    try:
        yield
    except arrays.cuda.memory.OutOfMemoryError as error:
        raise DataError(
            f"{by}: the file does not fit into the memory of the graphics processor",
            got=error,
            do=_BACK,
        ) from error
