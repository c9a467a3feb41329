"""Processes that end when a signal says so, after what is under way."""

import signal

import pytest

from tacit.app.until_told import run_until_told


class Steps:
    """Work in steps, in the third of which a signal comes."""

    def __init__(self, sent):
        self.sent, self.stopping, self.store, self.done, self.closed = sent, False, self, [], False

    def run(self):
        while not self.stopping and len(self.done) < 10:
            self.done.append("begun")
            if len(self.done) == 3:
                signal.raise_signal(self.sent)
            self.done[-1] = "ended"

    def close(self):
        self.closed = True


@pytest.fixture(autouse=True)
def _handlers():
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    yield
    for number, handler in before.items():
        signal.signal(number, handler)


@pytest.mark.parametrize("sent", [signal.SIGTERM, signal.SIGINT])
def test_a_signal_ends_the_work_after_its_step_and_closes_the_store(sent):
    work = Steps(sent)
    run_until_told(work)
    assert work.done == ["ended"] * 3
    assert work.closed


def test_the_store_is_closed_where_the_work_fails():
    work = Steps("no signal")
    with pytest.raises(TypeError):
        run_until_told(work)
    assert work.closed
