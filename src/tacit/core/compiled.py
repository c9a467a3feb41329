"""Compilation of kernels, with names that cannot collide between caches of different processes.

Numba writes compiled kernels to files and names the functions inside by a counter that starts at 1
in every process. The helpers behind ``np.sort`` and ``np.argsort`` have the same name otherwise, so
that two kernels compiled by different processes may hold different functions of one name; a third
process that loads both runs the wrong one and crashes (numba issue 10486). Here the counter starts
at a random number. Kernels take `njit` from this module, and so always pass here first.
"""

from __future__ import annotations

import itertools
import secrets

from numba import njit
from numba.core.bytecode import FunctionIdentity

__all__ = ["njit"]

FunctionIdentity._unique_ids = itertools.count(secrets.randbits(48))
