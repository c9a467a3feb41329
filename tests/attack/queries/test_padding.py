"""Padding: exact against Drop-q over the whole set, not against blocks or the default."""

from tacit import attack
from tacit.query import DropQ, Policy


def test_open_server(behind):
    assert attack.Padding(most=24).run(behind(Policy(name="open"))).success.value == 1.0


def test_drop_q_over_the_whole_set_falls_elsewhere(behind, kinds):
    drop = Policy(name="drop", guards=(DropQ(k=5),))
    found = attack.Padding(most=16).run(behind(drop, kinds))
    assert found.success.value >= 0.9
    assert found.leaked


def test_default_policy(behind, strict):
    assert not attack.Padding().run(behind(strict)).leaked
