"""A new method is one file: dropped into its folder it appears everywhere."""

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

REPOSITORY = Path(__file__).resolve().parents[1]
NEW_METHOD = '''"""Reversal of records."""

from __future__ import annotations

from typing import Annotated

import numpy as np
from annotated_types import Ge

from tacit.core.data import Microdata
from tacit.core.families import Mask
from tacit.core.method import Columns, Try


class Reverse(
    Mask,
    key="reverse",
    title="Reversal",
    cites=("dalenius1982",),
    example={"columns": ["income"], "times": 1},
):
    """Give each record the values of its mirror image.

    Missing values move like others. Weights are not used. Households are not considered.

    Examples
    --------
    >>> Reverse(columns="income").times
    1
    """

    columns: Columns
    """Variables to reverse, so rare a text that a search finds it."""
    times: Annotated[int, Ge(1), Try(1, 3)] = 1
    """How often."""

    def apply(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """Return the records with reversed columns."""
        step = -1 if self.times % 2 else 1
        return data.with_arrays({c: data.local[c].to_numpy()[::step] for c in self.columns})
'''


@pytest.fixture(scope="module")
def home(tmp_path_factory):
    """Copy the package and drop one new file into it; nothing else is edited."""
    home = tmp_path_factory.mktemp("home")
    skip = shutil.ignore_patterns("__pycache__")
    shutil.copytree(REPOSITORY / "src" / "tacit", home / "src" / "tacit", ignore=skip)
    shutil.copytree(REPOSITORY / "docs", home / "docs", ignore=shutil.ignore_patterns("_build"))
    (home / "src" / "tacit" / "mask" / "reverse.py").write_text(NEW_METHOD, encoding="utf-8")
    return home


def run(home, *command):
    done = subprocess.run(
        [sys.executable, *command],
        env={**os.environ, "PYTHONPATH": str(home / "src"), "PYTHONDONTWRITEBYTECODE": "1"},
        cwd=home, capture_output=True, text=True, check=False, timeout=300,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return done.stdout


def test_the_method_is_not_there_without_the_file():
    import tacit

    assert "Reverse" not in tacit.mask.__all__


def test_it_appears_in_the_library(home):
    code = (
        "import tacit\n"
        "from tacit.mask import Reverse\n"
        'plan = tacit.Plan.from_toml(\'[[step]]\\nmethod = "reverse"\\ncolumns = ["Age"]\')\n'
        "assert plan.methods == (Reverse(columns='Age'),)\n"
        "release = plan.apply(tacit.datasets.patients(), seed=1)\n"
        "print(tacit.__file__)\n"
        "before, after = (d.frame['Age'].to_list() for d in (release.original, release))\n"
        "print(after == before[::-1])\n"
        "print('Reverse' in dir(tacit.mask), Reverse.search_space())"
    )
    where, reversed_, listed = run(home, "-c", code).splitlines()
    assert Path(where).is_relative_to(home)
    assert reversed_ == "True"
    assert listed == "True {'times': (1, 3)}"


def test_it_appears_in_the_command_line(home):
    listed = json.loads(run(home, "-m", "tacit.cli", "methods", "--json"))["methods"]
    (new,) = [m for m in listed if m["key"] == "reverse"]
    assert (new["family"], new["title"]) == ("mask", "Reversal")
    assert {p["name"] for p in new["parameters"]} == {"columns", "times"}
    described = run(home, "-m", "tacit.cli", "methods", "reverse")
    assert "so rare a text" in " ".join(described.split())


def test_the_command_line_applies_it(home, tmp_path):
    data = tmp_path / "people.csv"
    data.write_text("age,income\n30,1\n40,2\n50,3\n60,4\n", encoding="utf-8")
    run(
        home, "-m", "tacit.cli", "apply", str(data),
        "--key", "age", "--confidential", "income",
        "--step", "reverse columns=income", "--out", str(tmp_path / "out"), "--seed", "1",
    )  # fmt: skip
    released = (tmp_path / "out" / "public" / "data.csv").read_text(encoding="utf-8")
    assert released.split() == ["age,income", "30,4", "40,3", "50,2", "60,1"]


def test_it_appears_in_the_docs(home):
    code = (
        "import json, sys; sys.path.insert(0, 'docs')\n"
        "import generate_reference\n"
        "print(json.dumps(generate_reference.pages()))"
    )
    pages = json.loads(run(home, "-c", code))
    (page,) = [text for name, text in pages.items() if "reverse" in name]
    assert "Reversal" in page
    assert "so rare a text" in " ".join(page.split())
    assert any("reverse" in text for name, text in pages.items() if name.startswith("index"))
