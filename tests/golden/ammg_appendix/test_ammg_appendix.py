"""Appendix A of TFB (truta2003) end to end; see source.md."""

import importlib.util
from collections import Counter
from pathlib import Path

import pytest

import tacit
from tacit import mask, risk

_EXAMPLE = Path(__file__).parents[3] / "examples" / "ammg_appendix.py"
_GROUPS = mask.Mdav(columns=["Age"], k=2)
_SAMPLE = mask.Sample(fraction=0.8)


@pytest.fixture(scope="module")
def example():
    spec = importlib.util.spec_from_file_location("ammg_appendix", _EXAMPLE)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def alone(frame):
    return sum(n == 1 for n in Counter(frame["Age"].to_list()).values())


def test_microaggregation_makes_groups_of_at_least_two():
    release = tacit.Plan([_GROUPS]).apply(tacit.datasets.patients(), seed=1)
    assert min(Counter(release.frame["Age"].to_list()).values()) >= 2
    assert len(release.frame) == 10


@pytest.mark.parametrize("seed", range(15))
def test_sampling_leaves_eight_records_and_singles_are_reported(seed):
    patients = tacit.datasets.patients()
    release = tacit.Plan([_GROUPS, _SAMPLE]).apply(patients, seed=seed)
    assert release.frame.columns == ["Age", "State", "Diagnosis", "Income", "Billing"]
    assert len(release.frame) == 8
    found = risk.IdentificationRisk().measure(patients, release)
    n_alone = alone(release.frame)
    assert n_alone in (0, 2), "two records left, from one group or from two"
    assert found.details["unpaired"]["Age"] == n_alone
    assert any("alone with a value of Age" in w for w in found.warnings) == (n_alone > 0)
    assert found.details["sampling_factor"] == 0.8
    assert found.details["simulated_factor"] == 0
    assert found.details["inclusion"] == 0.8
    gone = set(range(10)) - set(release.rows.tolist())
    assert all(found.per_unit[i] == 0 for i in gone)


def test_the_order_of_methods_matters():
    release = tacit.Plan([_SAMPLE, _GROUPS]).apply(tacit.datasets.patients(), seed=1)
    assert alone(release.frame) == 0, "grouping after sampling leaves nobody alone"


def test_the_example_shows_two_unpaired_records_and_the_risks_of_section_4(example, capsys):
    assert alone(example.publish().frame) == 2
    example.main()
    printed = capsys.readouterr().out
    assert "2 released records are alone with a value of Age" in printed
    for percent in ("0.0250 %", "4.7624 %", "23.0787 %"):
        assert percent in printed
    published = printed[printed.index("Masked microdata") : printed.index("What was done")]
    assert "Wayne" not in published
    assert "123456789" not in published
