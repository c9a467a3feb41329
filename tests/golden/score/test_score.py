"""The ranking of DF07, and that the documented table is the one that the script computes."""

import importlib.util
from pathlib import Path

import pytest

import tacit
from tacit import mask

REPOSITORY = Path(__file__).resolve().parents[3]


@pytest.fixture(scope="module")
def script():
    path = REPOSITORY / "examples" / "score_census.py"
    spec = importlib.util.spec_from_file_location("score_census", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


@pytest.fixture(scope="module")
def census(shared_data):
    return tacit.read(shared_data / "casc" / "CASCrefmicrodata.csv")


@pytest.fixture(scope="module")
def scores(script, census):
    names = census.columns
    in_order = [names[i : i + 3] for i in range(0, len(names), 3)]
    chosen = {
        "nothing": mask.Round(columns=names, base=1),
        "swap 5": mask.RankSwap(columns=names, p=5),
        "swap 15": mask.RankSwap(columns=names, p=15),
        "by three": mask.PartitionedMdav(columns=names, k=10, sets=in_order),
        "noise": mask.UncorrelatedNoise(columns=names, level=0.14),
    }
    return {name: script.score(census, method, 1) for name, method in chosen.items()}


def test_the_formula(scores):
    for found in scores.values():
        linked = 0.5 * found["DLD all"] + 0.5 * found["PLD all"]
        assert found["Score all"] == pytest.approx((found["IL"] + (linked + found["ID"]) / 2) / 2)


def test_doing_nothing_scores_a_half(scores):
    assert scores["nothing"]["IL"] == pytest.approx(0.0)
    assert scores["nothing"]["Score all"] == pytest.approx(50.0, abs=2.0)


def test_rank_swapping_around_15_is_best_and_mdav_on_three_next(scores):
    half = {name: found["Score half"] for name, found in scores.items()}
    assert half["swap 15"] < half["by three"] < half["swap 5"] < half["noise"] < half["nothing"]
    assert half["swap 15"] < 21
    assert half["by three"] < 32


def test_the_page_shows_what_the_script_computes(script, scores):
    page = (REPOSITORY / "docs" / "explanation" / "score.md").read_text(encoding="utf-8")
    line = next(x for x in page.splitlines() if x.startswith("| MDAV on 3 in file order, k = 10 "))
    shown = [float(cell) for cell in line.strip("|").split("|")[1:]]
    assert shown == [pytest.approx(scores["by three"][h], abs=0.06) for h in script.HEADINGS]
