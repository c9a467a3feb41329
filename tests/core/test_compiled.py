"""Names of compiled functions: two processes must not give the same one to different functions."""

import subprocess
import sys
from pathlib import Path

import tacit

_FIRST_NUMBER = (
    "from tacit.core import compiled; from numba.core.bytecode import FunctionIdentity as F; "
    "print(next(F._unique_ids))"
)


def test_processes_count_from_different_numbers():
    found = {
        subprocess.run(
            [sys.executable, "-c", _FIRST_NUMBER], capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    }
    assert len(found) == 2


def test_every_kernel_is_compiled_through_here():
    sources = Path(tacit.__file__).parent.rglob("*.py")
    direct = [p.name for p in sources if "from numba import" in p.read_text(encoding="utf-8")]
    assert direct == ["compiled.py"]
