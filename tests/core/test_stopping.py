"""A stop signal has its effect even where a library swallows the exception."""

import contextlib
import signal

import pytest

from tacit.core import stopping
from tacit.core.atomic import new_file, new_folder
from tacit.core.progress import track


@pytest.fixture
def stop():
    """Send a signal to oneself inside a library that drops every exception."""

    def swallowed():
        with contextlib.suppress(BaseException):
            signal.raise_signal(signal.SIGINT)

    before = signal.getsignal(signal.SIGINT)
    stopping.on_signal("SIGINT", KeyboardInterrupt())
    yield swallowed
    signal.signal(signal.SIGINT, before)
    stopping.answered()


def test_a_signal_raises_where_it_comes(stop):
    with pytest.raises(KeyboardInterrupt):
        signal.raise_signal(signal.SIGINT)


def test_nothing_is_raised_before_a_signal(stop):
    stopping.check()
    with track("work", 1) as advance:
        advance(1)


def test_a_swallowed_signal_stops_the_next_task(stop):
    stop()
    with pytest.raises(KeyboardInterrupt), track("work"):
        pytest.fail("the work began")


def test_a_swallowed_signal_stops_the_next_step(stop):
    done = []

    def work():
        with track("work", 3) as advance:
            for step in range(3):
                advance(1)
                done.append(step)
                stop()

    with pytest.raises(KeyboardInterrupt):
        work()
    assert done == [0]


@pytest.mark.parametrize("new", [new_file, new_folder])
def test_nothing_is_published_after_a_swallowed_signal(stop, tmp_path, new):
    def write():
        with new(tmp_path / "made" / "out") as scratch:
            (scratch if new is new_file else scratch / "data").write_text("secret")
            stop()

    with pytest.raises(KeyboardInterrupt):
        write()
    assert list(tmp_path.iterdir()) == []


def test_what_was_asked_may_be_answered_and_work_goes_on(stop, tmp_path):
    stop()
    stopping.answered()
    with new_file(tmp_path / "out") as scratch:
        scratch.write_text("what was found so far")
    assert (tmp_path / "out").read_text() == "what was found so far"


def test_a_signal_that_the_system_does_not_know_is_left_out():
    stopping.on_signal("SIGNONE", KeyboardInterrupt())
    stopping.check()
