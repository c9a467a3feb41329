"""Whole files and whole units."""

import numpy as np

from tacit.mask.synthesis.edits import Edits
from tacit.mask.synthesis.generator import Wishes, unit_generator
from tacit.mask.synthesis.synthesisers.model import Settings
from tacit.mask.synthesis.units import Units

from .conftest import column


def test_predictors_are_limited_and_order_obeyed():
    rng = np.random.default_rng(1)
    columns = {n: column(rng.normal(size=50), n) for n in "abcd"}
    wishes = Wishes(visit=("d",), most_predictors=1)
    design = wishes.design(columns, [], Edits(columns), rng)
    assert design.visit == ("d", "a", "b", "c")
    assert all(len(p) <= 1 for p in design.predictors.values())


def test_units_keep_what_their_records_share():
    home = np.repeat(np.arange(200), 2)
    columns = {"h": column((home % 5).astype(str), "h"), "x": column(np.arange(400.0) % 7, "x")}
    rng = np.random.default_rng(2)
    model = unit_generator(columns, Units.of(home), Edits(columns), Wishes(), Settings(), rng)
    values, unit = model.draw(30, rng)
    assert len(unit) == 60
    assert (values["h"].reshape(-1, 2) == values["h"].reshape(-1, 2)[:, :1]).all()
