"""Dinur-Nissim: nearly all bits without protection or with small noise, chance by default."""

from tacit import attack
from tacit.query import CellKeyNoise, Policy


def test_an_unprotected_server_gives_all_bits(behind):
    found = attack.LinearReconstruction().run(behind(Policy(name="open")))
    assert found.success.value > 0.95
    assert found.leaked


def test_small_noise_does_not_stop_it(behind):
    """Noise of variance 5 is below the square root of n = 120."""
    noise = Policy(name="noise", guards=(CellKeyNoise(max_change=8, variance=5.0),))
    assert attack.LinearReconstruction().run(behind(noise)).success.value > 0.95


def test_the_default_policy_leaves_chance(behind, strict):
    found = attack.LinearReconstruction().run(behind(strict))
    assert not found.leaked
    assert found.warnings  # nothing was answered, and the finding says so


def test_few_queries_do_not_suffice(behind):
    known = attack.Knowledge(queries=20)
    assert not attack.LinearReconstruction().run(behind(Policy(name="open")), known).leaked
