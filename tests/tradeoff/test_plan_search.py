"""The search: same seed same frontier, nothing lost, the better plans found."""

import json
import os
import runpy
import signal
import subprocess
import sys
import time
from contextlib import contextmanager

import numpy as np
import pytest

import tacit
from tacit import mask, tradeoff
from tacit.core.errors import DataError, ParameterError, ReadError
from tacit.core.progress import listening
from tacit.tradeoff import Between, Candidate, Condition, Effort, Varied, search
from tacit.tradeoff._evaluation import Evaluator, Job, Setting
from tacit.tradeoff._run import Run, _foretold, _sample, _stages
from tacit.tradeoff.objective import Objective


def shown(front):
    return [(p.label, p.risk, p.utility) for p in front.points]


def few(n=24, **options):
    return Effort(**{"evaluations": n, "workers": 1, "replicates": 2, **options})


def test_same_seed_same_frontier_another_seed_another(numbers, swaps, cheap):
    one, two, other = (search(numbers, swaps, budget=few(), seed=s, **cheap) for s in (1, 1, 2))
    assert shown(one) == shown(two)
    assert shown(one) != shown(other)


def test_the_number_of_processes_does_not_matter(numbers, swaps):
    axes = {"risk": "interval-disclosure", "utility": "information-loss"}  # both are quick to load
    alone = search(numbers, swaps, budget=few(10), seed=1, **axes)
    together = search(numbers, swaps, budget=few(10, workers=2), seed=1, **axes)
    assert shown(alone) == shown(together)


def test_a_small_space_is_tried_whole(numbers, cheap):
    space = [Varied(mask.RankSwap, columns=["a"], p=Between(1, 7))]
    front = search(numbers, space, budget=7, seed=1, **cheap)
    assert len(front.tried) == 7
    assert {p.plan.methods[0].p for p in front.tried} == set(range(1, 8))


@pytest.mark.parametrize("sampler", ["nsga2", "tpe", "random"])
def test_every_sampler_stays_within_the_budget(numbers, swaps, cheap, sampler):
    front = search(numbers, swaps, budget=few(20, sampler=sampler, replicates=1), seed=1, **cheap)
    assert len(front.tried) == 20


def test_the_frontier_covers_everything_tried(numbers, swaps, cheap):
    front = search(numbers, swaps, budget=few(40), seed=3, **cheap)
    assert front.covers(front.tried)[0]


def test_plans_to_start_with_are_tried_and_counted(numbers, swaps, cheap):
    start = [tacit.Plan([mask.RankSwap(columns=["a"], p=p)]) for p in (2, 9)]
    front = search(numbers, swaps, budget=few(12), seed=1, start=start, **cheap)
    assert len(front.tried) == 12
    assert {p.to_toml() for p in start} <= {p.plan.to_toml() for p in front.tried}


def test_random_plans_of_the_frontier_are_repeated_others_are_not(numbers, cheap):
    names = ["a", "b", "c"]
    space = [mask.Mdav(columns=names, k=5), mask.UncorrelatedNoise(columns=names, level=0.3)]
    front = search(numbers, space, budget=Effort(evaluations=2, replicates=4), seed=1, **cheap)
    by_method = {p.plan.methods[0].key: p for p in front.tried}
    assert by_method["mdav"].replicates == 1
    assert by_method["mdav"].risk_interval is None
    noise = by_method["uncorrelated-noise"]
    if noise in front.points:
        assert noise.replicates == 4
        low, high = noise.utility_interval
        assert low < noise.utility < high


def test_the_interval_of_the_mean_is_students(numbers):
    """Three numbers 1, 2, 3: mean 2, s = 1, t(0.975, 2) = 4.3027: half width 2.4841."""
    from tacit.tradeoff._run import _interval

    assert _interval([1.0, 2.0, 3.0]) == pytest.approx((2 - 2.4841, 2 + 2.4841), abs=1e-3)


def test_a_point_is_the_release_that_the_plan_gives(numbers, swaps, cheap):
    front = search(numbers, swaps, budget=few(8, replicates=1), seed=5, **cheap)
    for point in front.points:
        release = front.release(point)
        assert cheap["risk"](numbers, release) == point.risk
        assert release.frame.equals(
            point.plan.apply(numbers, seed=front.seed).frame, null_equal=True
        )


def test_equal_first_steps_are_applied_once(numbers, cheap):
    setting = Setting(
        {numbers.n_records: numbers},
        Objective.of(cheap["risk"], "lower", "risk"),
        Objective.of(cheap["utility"], "higher", "utility"),
        (),
        (7,),
    )
    evaluator = Evaluator(setting)
    first = mask.RankSwap(columns=["a", "b"], p=10)
    plans = [tacit.Plan([first, mask.Mdav(columns=["a"], k=k)]) for k in (2, 3, 4)]
    for plan in plans:
        job = Job(plan, numbers.n_records, 0)
        found, is_random = evaluator.released(job)
        assert found.frame.equals(plan.apply(numbers, seed=7).frame)
        assert is_random
    assert (evaluator.steps_applied, evaluator.steps_saved) == (4, 2)


def test_conditions_keep_releases_off_the_frontier(numbers, swaps, cheap):
    limit = Condition(cheap["risk"], at_most=0.2)
    front = search(numbers, swaps, budget=few(30), seed=1, conditions=[limit], **cheap)
    assert all(p.risk <= 0.2 for p in front.points)
    assert any(p.risk > 0.2 for p in front.tried)


def test_conditions_that_nothing_meets_leave_the_closest(numbers, swaps, cheap):
    never = Condition(cheap["risk"], at_most=-1.0)
    front = search(numbers, swaps, budget=few(10), seed=1, conditions=[never], **cheap)
    assert len(front.points) == 1
    assert not front.points[0].is_met
    assert front.points[0].shortfall == min(p.shortfall for p in front.tried)


def test_a_plan_that_fails_is_told_and_the_rest_goes_on(numbers, cheap):
    space = [mask.Mdav(columns=["no"], k=3), mask.Mdav(columns=["a"], k=3)]
    front = search(numbers, space, budget=2, seed=1, **cheap)
    assert len(front.tried) == 1
    assert "no column 'no'" in next(iter(front.failed.values()))
    with pytest.raises(DataError, match="none of the plans"):
        search(numbers, space[:1], budget=2, seed=1, **cheap)


def test_a_broken_measure_is_told_as_such(numbers):
    def broken(original, release):
        raise RuntimeError("oh")

    with pytest.raises(DataError, match="bug in a method"):
        search(numbers, [mask.Mdav(columns=["a"], k=3)], risk=broken, utility=broken, budget=1)


def test_bad_input(numbers, swaps, cheap):
    with pytest.raises(ParameterError):
        search(numbers, swaps, budget=0, **cheap)
    with pytest.raises(ParameterError):
        search(numbers, "all", **cheap)
    with pytest.raises(ParameterError):
        search(numbers, swaps, seed=-1, **cheap)
    with pytest.raises(DataError, match="no record"):
        search(numbers.take(np.arange(0)), swaps, **cheap)


def test_candidates_from_the_registry_by_default(numbers):
    front = search(numbers, budget=few(12, replicates=1), seed=1)
    assert front.risk_title == "Disclosure risk (score)"
    assert len({p.group for p in front.tried}) > 4


# -- samples of large files -----------------------------------------------------------------------


def test_stages():
    assert _stages(1000, 2000) == [1000]
    assert _stages(10_000, 2000) == [2000, 10_000]
    assert _stages(1_000_000, 2000) == [2000, 10_000, 50_000, 1_000_000]


def test_time_on_all_records_is_foretold():
    """A time that grows as the square: 1 s, 25 s, then 400 times 25 s at twenty times the size."""
    assert _foretold([(2000, 1.0), (10_000, 25.0)], 200_000) == pytest.approx(10_000)
    assert _foretold([(2000, 1.0)], 4000) == pytest.approx(2.0)
    assert _foretold([], 10) == 0.0


def test_what_each_run_costs_does_not_hide_how_time_grows():
    """t = 1 + (n / 10 000)^2: 1.04, 2 and 26 s; the last two alone would give a power of 1.6."""
    times = [(n, 1 + (n / 10_000) ** 2) for n in (2000, 10_000, 50_000)]
    assert _foretold(times, 1_000_000) == pytest.approx(26 * 20**2)


def test_a_quicker_plan_takes_the_place_of_one_that_all_records_would_take_too_long(numbers, cheap):
    run = Run(numbers, few(), 1)
    run.look_at(
        Objective.of(cheap["risk"], "lower", "risk"),
        Objective.of(cheap["utility"], "higher", "utility"), (), None,
    )  # fmt: skip
    plans = [tacit.Plan([mask.Mdav(columns=["a"], k=k)]) for k in (2, 3, 4)]
    slow, quick, worse = (
        tradeoff.Point(name, 0.1, utility, plan)
        for name, utility, plan in zip(
            ("slow", "quick", "worse"), (9.0, 5.0, 1.0), plans, strict=True
        )
    )
    run._seconds = {(plans[0].to_toml(), 120): 50.0, (plans[1].to_toml(), 120): 0.01}
    assert run._last(run._in_time([slow, quick, worse], 1_000_000)) == [quick]
    assert run._too_slow == ["slow"]


def test_samples_hold_whole_households():
    data = tacit.datasets.census(500)
    part = _sample(data, 100, 1)
    size = data.local.group_by("household").len()
    own = part.local.group_by("household").len()
    assert own.join(size, on="household").filter(own["len"] != 0)["len_right"].sum() == len(part)
    assert 95 <= part.n_records <= 115
    assert _sample(data, 100, 1).local.equals(part.local)


def test_the_frontier_of_a_large_file_is_confirmed_on_all_records(swaps, cheap):
    rng = np.random.default_rng(1)
    import polars as pl

    large = tacit.Microdata.of(pl.DataFrame({c: rng.normal(size=1000) for c in "abc"}))
    front = search(large, swaps, budget=few(20, sample=50), seed=1, **cheap)
    assert {p.records for p in front.points} == {1000}
    assert len(front.tried) < 20
    assert "sample of 50, then 250, then 1,000 records" in " ".join(front.notes)


# -- stopping and going on ------------------------------------------------------------------------


def test_an_interrupt_keeps_the_best_so_far(numbers, swaps, cheap):
    calls = []

    def risk(original, release):
        calls.append(1)
        if len(calls) == 9:
            raise KeyboardInterrupt
        return cheap["risk"](original, release)

    front = search(numbers, swaps, budget=few(), seed=1, risk=risk, utility=cheap["utility"])
    assert front.interrupted
    assert len(front.tried) == 8
    assert front.covers(front.tried)[0]


def test_an_interrupt_within_the_first_plans_keeps_those_that_are_done(numbers, swaps, cheap):
    calls = []

    def risk(original, release):
        calls.append(1)
        if len(calls) == 4:
            raise KeyboardInterrupt
        return cheap["risk"](original, release)

    start = [tacit.Plan([mask.RankSwap(columns=["a"], p=p)]) for p in range(1, 8)]
    front = search(
        numbers, swaps, budget=few(), seed=1, start=start, risk=risk, utility=cheap["utility"]
    )
    assert front.interrupted
    assert len(front.tried) == 3


def test_a_search_that_is_kept_needs_a_seed(numbers, swaps, cheap, tmp_path):
    """With a seed of its own each run would be another search, and all work lost."""
    with pytest.raises(ParameterError, match="needs a seed"):
        search(numbers, swaps, budget=few(), storage=tmp_path / "search.jsonl", **cheap)
    assert list(tmp_path.iterdir()) == []


def test_few_plans_are_not_proposed_again_and_again(numbers, cheap):
    """60 plans among 114: the model alone soon proposes nothing but what it knows."""
    space = [Varied(mask.RankSwap, columns=[name], p=Between(1, 38)) for name in ("a", "b", "c")]
    front = search(numbers, space, budget=few(60, replicates=1), seed=1, **cheap)
    assert len(front.tried) == 60


def test_an_equal_measure_is_taken_once_per_release(numbers):
    class Counted(tradeoff.InformationKept):
        def measure(self, original, release=None):
            taken.append(1)
            return super().measure(original, release)

    taken = []
    plan = mask.RankSwap(columns=["a"], p=5)
    asked = Condition(Counted(), at_least=0.0)
    search(
        numbers, [plan], budget=few(1, replicates=1), seed=1, conditions=[asked],
        risk=lambda original, release: 0.0, utility=Counted(),
    )  # fmt: skip
    assert len(taken) == 1


def test_a_stopped_search_goes_on_where_it_was(numbers, swaps, cheap, tmp_path):
    """Every finished evaluation is used, none is done twice, and the frontier is the same."""
    path, calls = tmp_path / "search.jsonl", []

    def risk(original, release):
        if len(calls) == 13:
            calls.append(0)
            raise KeyboardInterrupt
        calls.append(1)
        return cheap["risk"](original, release)

    axes = {"risk": risk, "utility": cheap["utility"], "seed": 1, "budget": few()}
    whole = search(numbers, swaps, **axes | {"risk": cheap["risk"]})
    search(numbers, swaps, storage=path, **axes)
    done = len(path.read_text().splitlines()) - 1
    assert done == 13
    resumed = search(numbers, swaps, storage=path, **axes)
    assert shown(resumed) == shown(whole)
    assert sum(calls) == resumed.n_evaluations
    assert "13 evaluations were taken from the earlier run" in " ".join(resumed.notes)
    assert oct(path.stat().st_mode)[-3:] == "600"


def test_the_file_of_another_search_is_refused(numbers, swaps, cheap, tmp_path):
    path = tmp_path / "search.jsonl"
    search(numbers, swaps, budget=few(8), seed=1, storage=path, **cheap)
    kept = path.read_bytes()
    with pytest.raises(ReadError, match="another search"):
        search(numbers, swaps, budget=few(8), seed=2, storage=path, **cheap)
    with pytest.raises(ReadError, match="another search"):
        search(numbers.take(np.arange(50)), swaps, budget=few(8), seed=1, storage=path, **cheap)
    assert path.read_bytes() == kept
    path.write_text("not ours\n")
    with pytest.raises(ReadError, match="not the file of a search"):
        search(numbers, swaps, budget=few(8), seed=1, storage=path, **cheap)


def test_a_line_that_a_crash_cut_off_is_dropped(numbers, swaps, cheap, tmp_path):
    path = tmp_path / "search.jsonl"
    whole = search(numbers, swaps, budget=few(8), seed=1, storage=path, **cheap)
    path.write_bytes(path.read_bytes()[:-20])
    assert shown(search(numbers, swaps, budget=few(8), seed=1, storage=path, **cheap)) == shown(
        whole
    )
    for line in path.read_text().splitlines():
        json.loads(line)


_KILLED = """
import sys, time
import numpy as np, polars as pl
import tacit
from tacit import mask, tradeoff

def risk(original, release):
    time.sleep(0.05)
    return float(release.data.local["a"].std())

def utility(original, release):
    return float(release.data.local["a"].mean())

rng = np.random.default_rng(1)
data = tacit.Microdata.of(pl.DataFrame({"a": rng.normal(size=60)}))
space = [tradeoff.Varied(mask.RankSwap, columns=["a"], p=tradeoff.Between(1.0, 50.0))]
front = tradeoff.search(data, space, risk=risk, utility=utility, seed=4, storage=sys.argv[1],
    budget=tradeoff.Effort(evaluations=40, replicates=1, workers=int(sys.argv[2])))
print(front.n_evaluations, *(f"{p.risk:.12g}" for p in front.points))
"""


@pytest.mark.parametrize("workers", [1, pytest.param(2, marks=pytest.mark.slow)])
def test_a_killed_process_loses_no_finished_evaluation(tmp_path, workers, monkeypatch, capsys):
    """Kill the program without warning; a second run does only what was not finished."""
    path = tmp_path / "search.jsonl"
    script = tmp_path / "script.py"
    script.write_text(_KILLED, encoding="utf-8")
    command = [sys.executable, str(script), str(path), str(workers)]
    running = subprocess.Popen(command, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    deadline = time.monotonic() + 90
    while time.monotonic() < deadline:
        if path.exists() and path.read_bytes().count(b"\n") > 8:
            break
        time.sleep(0.02)
    os.kill(running.pid, signal.SIGKILL)
    running.wait()
    kept = path.read_bytes()
    finished = {json.loads(line)["job"] for line in kept.splitlines()[1:]}
    assert 8 <= len(finished) < 40
    again = subprocess.run(command, capture_output=True, text=True, timeout=120, check=True)
    after = path.read_bytes()
    assert after.startswith(kept[: kept.rfind(b"\n") + 1])
    jobs = [json.loads(line)["job"] for line in after.splitlines()[1:]]
    assert len(jobs) == len(set(jobs)) == 40
    monkeypatch.setattr(sys, "argv", ["", str(tmp_path / "other.jsonl"), "1"])
    runpy.run_path(str(script))
    assert again.stdout == capsys.readouterr().out


def test_progress_shows_the_frontier(numbers, swaps, cheap):
    titles = []

    class Listener:
        @contextmanager
        def task(self, title, total):
            titles.append(title)
            yield lambda units: None

    with listening(Listener()):
        search(numbers, swaps, budget=few(), seed=1, **cheap)
    assert any(t.startswith("frontier of ") and "risk" in t for t in titles)


def test_a_candidate_of_fixed_steps_may_be_a_plan(numbers, cheap):
    plan = tacit.Plan([mask.Mdav(columns=["a"], k=3), mask.RandomOrder()])
    front = search(numbers, [plan, Candidate([mask.Mdav(columns=["a"], k=9)])], budget=2, **cheap)
    assert sorted(len(p.plan) for p in front.tried) == [1, 2]


def test_keys_are_protected_by_default_and_boxes_are_not_taken_for_safe():
    """A box of k records is found by whoever knows the keys: the risk is that of its classes."""
    data = tacit.datasets.census(200)
    front = search(data, [mask.Mondrian(k=5)], budget=1, seed=1)
    sizes = tacit.risk.KAnonymity().measure(data, front.release(front.points[0])).per_unit
    assert front.points[0].risk >= np.mean(1 / sizes) - 1e-12
    assert front.utility_title == "Information kept"
