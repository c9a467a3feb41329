"""A cluster that loses a machine in the middle of a job gives the same release."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

PROGRAM = Path(__file__).with_name("executor_killed.py")


@pytest.mark.slow
@pytest.mark.spark
@pytest.mark.timeout(1000)  # a loaded machine starts five Java programs in minutes
def test_one_of_two_executors_is_killed_and_the_result_is_the_same():
    if not shutil.which("java") and not os.environ.get("CI"):
        pytest.skip("Java is not installed")
    import pyspark

    home = str(Path(pyspark.__file__).parent)
    variables = {**os.environ, "SPARK_HOME": home, "SPARK_LOCAL_IP": "127.0.0.1",
                 "PYSPARK_PYTHON": sys.executable}  # fmt: skip
    done = subprocess.run(
        [sys.executable, str(PROGRAM)], env=variables, capture_output=True, text=True, timeout=900
    )
    assert done.returncode == 0, done.stderr[-3000:]
    report = json.loads(done.stdout.strip().splitlines()[-1])
    assert report["killed"] > 0
    assert report["killed_is_gone"]
    assert report["records"] == 6000
    assert report["same"]
