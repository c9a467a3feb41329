"""Compiled kernels: names that do not collide, files that are found only while they are right."""

import os
import subprocess
import sys
from pathlib import Path

import tacit
from tacit.core import compiled

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


def test_a_kernel_changes_with_what_it_imports(tmp_path, monkeypatch):
    package = tmp_path / "tacit" / "mask"
    package.mkdir(parents=True)
    outer, inner = package / "_outer_kernel.py", package / "_inner_kernel.py"
    outer.write_text("from tacit.mask._inner_kernel import (\n    step,\n)\n", encoding="utf-8")
    monkeypatch.setattr(compiled, "_SOURCES", tmp_path)

    def seen(text):
        inner.write_text(text, encoding="utf-8")
        compiled.contents.cache_clear()
        return compiled.contents(outer)

    assert seen("a = 1\n") != seen("a = 2\n")
    assert seen("a = 1\n") == seen("a = 1\n")
    compiled.contents.cache_clear()


def test_compiled_kernels_are_kept_in_the_users_cache_and_found_again(tmp_path):
    program = (
        "import numpy as np; from tacit.core._keys_kernel import dense_ids as f; "
        "f(np.array([3, 1, 3])); print(sum(f.stats.cache_hits.values()))"
    )
    run = dict(capture_output=True, text=True, check=True)
    environment = os.environ | {"NUMBA_CACHE_DIR": str(tmp_path)}
    hits = [
        int(subprocess.run([sys.executable, "-c", program], env=environment, **run).stdout)
        for _ in range(2)
    ]
    assert hits == [0, 1]
    assert all(p.parents[1] == tmp_path / "kernels" for p in tmp_path.rglob("*.nbc"))
