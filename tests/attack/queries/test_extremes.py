"""Extremes: a server that told its maximum would be found out; ours tells none."""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import attack
from tacit.attack.queries.extremes import _numbers
from tacit.query import Policy


@pytest.fixture(scope="module")
def data():
    rng = np.random.default_rng(4)
    return tacit.Microdata.of(pl.DataFrame({"turnover": np.round(rng.lognormal(5, 1, 1000), 2)}))


class Telling(attack.QueryTarget):
    """A server whose bins end at the smallest and largest value."""

    def open(self):
        real, values = super().open(), self.data.numeric(["turnover"])[:, 0]

        class Server:
            def ask(self, request):
                return real.ask(request)

            def describe(self):
                told = real.describe()
                for variable in told["variables"]:
                    variable["bins"][-1] = f"above 100, up to {values.max()}"
                return told

        return Server()


def test_a_bin_that_ends_at_the_maximum_is_found(data):
    found = attack.ExtremeProbing().run(Telling(data, Policy(name="open")))
    assert found.leaked
    assert "largest of turnover" in found.worst


@pytest.mark.parametrize("policy", ["strict", "mas"])
def test_ours_tell_none(data, policy):
    found = attack.ExtremeProbing().run((data, Policy.named(policy)))
    assert found.success.value == 0.0
    assert not found.leaked


def test_numbers_are_found_inside_words():
    assert _numbers({"bins": ["below 9", "9 to below 19.5"], "n": 3}) == [9.0, 9.0, 19.5, 3.0]
