"""Progress is reported by methods and drawn by whoever listens."""

import threading
from contextlib import contextmanager

import polars as pl
import pytest

from tacit.core.plan import Plan
from tacit.core.progress import listening, track


class Recorder:
    """A listener that writes down what it hears."""

    def __init__(self):
        self.heard = []

    @contextmanager
    def task(self, title, total):
        self.heard.append(("open", title, total))
        try:
            yield lambda units: self.heard.append(("advance", title, units))
        finally:
            self.heard.append(("close", title))


def work(title="work", steps=2):
    with track(title, steps) as advance:
        for _ in range(steps):
            advance(1)


def test_nobody_listens():
    work()


def test_a_listener_hears_everything_in_order():
    recorder = Recorder()
    with listening(recorder):
        work()
    assert recorder.heard == [
        ("open", "work", 2),
        ("advance", "work", 1),
        ("advance", "work", 1),
        ("close", "work"),
    ]


def test_tasks_nest():
    recorder = Recorder()
    with listening(recorder), track("outer") as advance:
        work("inner", 1)
        advance(0.5)
    assert [h[:2] for h in recorder.heard] == [
        ("open", "outer"),
        ("open", "inner"),
        ("advance", "inner"),
        ("close", "inner"),
        ("advance", "outer"),
        ("close", "outer"),
    ]


def test_listening_ends_with_the_block():
    recorder, other = Recorder(), Recorder()
    with listening(recorder):
        with listening(other):
            work()
        assert recorder.heard == []
        work()
    work()
    assert len(recorder.heard) == len(other.heard) == 4


@pytest.mark.parametrize("problem", [ValueError("bad"), KeyboardInterrupt()])
def test_a_task_closes_when_the_work_fails(problem):
    recorder = Recorder()
    with pytest.raises(type(problem)), listening(recorder), track("work"):
        raise problem
    assert recorder.heard[-1] == ("close", "work")
    work()
    assert len(recorder.heard) == 2


def test_threads_do_not_hear_each_other():
    recorder = Recorder()
    with listening(recorder):
        thread = threading.Thread(target=work)
        thread.start()
        thread.join()
    assert recorder.heard == []


def test_plans_report_their_steps():
    recorder = Recorder()
    with listening(recorder):
        Plan([]).apply(pl.DataFrame({"a": [1]}), seed=1)
    assert recorder.heard[0] == ("open", "applying the plan", 0)
    assert recorder.heard[-1] == ("close", "applying the plan")
