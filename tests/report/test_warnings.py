"""Warnings: each fires when it should, and only then."""

import numpy as np
import polars as pl

import tacit
from tacit.core.data import Microdata
from tacit.core.families import Mask
from tacit.core.measurement import Measurement
from tacit.core.scorecard import Scorecard
from tacit.report._warnings import cautions

NOTHING = Scorecard((), (), {}, {})


class Negate(Mask):
    """Turn numbers round, to break a rule."""

    def apply(self, data, rng):
        return data.with_arrays({"x": -data.numeric(["x"])[:, 0]})


def made(plan, **roles):
    frame = pl.DataFrame({"x": np.arange(20.0), "y": ["a", "b"] * 10})
    data = Microdata.of(frame).with_constraints(tacit.NonNegative(column="x")).with_roles(**roles)
    return plan.apply(data, seed=1)


def said(*arguments):
    return [caution.what for caution in cautions(*arguments)]


def test_a_quiet_release_has_none():
    release = made(tacit.Plan([tacit.mask.Sample(fraction=0.5)]), keys=["y"])
    assert said(release, NOTHING, []) == []


def test_newly_broken_rules():
    release = made(tacit.Plan([Negate()]), keys=["y"])
    assert said(release, NOTHING, []) == [
        "The rule “x >= 0” is broken by 19 records of the release that kept it in the original, "
        "or were not there."
    ]


def test_no_keys_and_nothing_done():
    texts = said(made(tacit.Plan([])), NOTHING, ["y"])
    assert texts[0] == "The released variable “y” looks like a direct identifier."
    assert texts[1].startswith("No variable was declared as a key")
    assert texts[2] == "No protection method was applied."


def test_a_risk_that_grew_and_a_doubtful_measurement():
    after = Measurement("r", "Risk", 0.5, "lower", warnings=("few records",))
    before = {"r": Measurement("r", "Risk", 0.25, "lower")}
    release = made(tacit.Plan([tacit.mask.Sample(fraction=0.5)]), keys=["y"])
    assert said(release, Scorecard((after,), (), before, {}), []) == [
        "Risk is worse in the release (0.5) than in the original (0.25).",
        "Risk: few records",
    ]


def test_household_numbers_that_stay_are_pointed_out():
    data = tacit.datasets.census(200)
    kept = tacit.Plan([tacit.mask.Round(columns=["income"], base=100)]).apply(data, seed=1)
    renewed = tacit.Plan([tacit.mask.NewIdentifiers()]).apply(data, seed=1)

    def told(release):
        found = cautions(release, NOTHING, [])
        return any("household number" in caution.what for caution in found)

    assert told(kept)
    assert not told(renewed)
