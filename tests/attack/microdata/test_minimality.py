"""Minimality: a class that had to be coarsened tells which of its parts broke the rule."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import attack
from tacit.attack.microdata.minimality import _believed


def test_the_example_of_wong_by_hand():
    """Parts of 2 and 4 people, 2 of them ill, l = 2: only both of the part of 2 break it.

    Allocations (x1, x2): (2, 0) has weight 1, (1, 1) 8, (0, 2) 6. Part 1 breaks 1/2 at x1 = 2
    alone, part 2 never does (2 of 4 is one half). So both are known to be ill.
    """
    assert _believed(np.array([2, 4]), 2, 2.0) == pytest.approx([1.0, 0.0])
    # With 3 ill: (2, 1) weight 4 and (0, 3) weight 4 break it, (1, 2) does not.
    assert _believed(np.array([2, 4]), 3, 2.0) == pytest.approx([0.5, 0.5])
    # Nothing broken: the share of the class.
    assert _believed(np.array([3, 3]), 1, 2.0) == pytest.approx([1 / 6, 1 / 6])


def coarsened(minimal, n_classes=60):
    """Return people in classes of a part of 2 and a part of 4, two of each class ill."""
    rng = np.random.default_rng(1)
    part = np.tile([0, 0, 1, 1, 1, 1], n_classes)
    group = np.repeat(np.arange(n_classes), 6)
    ill = np.tile([1, 1, 0, 0, 0, 0], n_classes)
    if not minimal:
        ill = np.concatenate([rng.permutation([1, 1, 0, 0, 0, 0]) for _ in range(n_classes)])
    frame = pl.DataFrame(
        {"key": [f"{g}-{p}" for g, p in zip(group, part, strict=True)], "ill": ill.astype(str)}
    )
    data = tacit.Microdata.of(frame).with_roles(keys=["key"], confidential=["ill"])
    numbered = data.numbered()
    released = numbered.with_local(
        numbered.local.with_columns(pl.Series("key", [str(g) for g in group]))
    )
    return attack.MicrodataTarget(data, released)


def test_minimal_coarsening_gives_the_ill_away():
    found = attack.Minimality(diversity=2).run(coarsened(True))
    assert found.success.value == 1.0
    assert found.leaked


def test_coarsening_whatever_the_values_does_not():
    found = attack.Minimality(diversity=2).run(coarsened(False))
    assert found.success.n > 0
    assert not found.leaked


def test_plans_without_diversity_are_left_alone():
    release = tacit.Plan([tacit.mask.Mondrian(k=3)]).apply(tacit.datasets.census(100), seed=1)
    report = attack.audit(release, attacks=[attack.Minimality()])
    assert "does not depend" in report.left_out["minimality"]
