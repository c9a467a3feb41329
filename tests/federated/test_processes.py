"""Agencies as separate processes over TLS: pooled results, a killed agency, a lost one."""

import contextlib
import os
import re
import signal
import subprocess
import sys
from functools import partial
from pathlib import Path

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm

from tacit.federated import StoppedError, connect, make_certificates
from tacit.federated.analysis import analysis_from
from tacit.federated.client import TlsChannel, address_of
from tacit.federated.ledger import Ledger

OLS = analysis_from({"analysis": "ols", "y": "income", "x": ["age", "year"]})
LOGISTIC = analysis_from({"analysis": "logistic", "y": "event", "x": ["age", "year"]})


class Process:
    """One ``tacit agency``."""

    def __init__(self, folder: Path, name: str, frame: pl.DataFrame) -> None:
        self.name, self.frame, self.credentials = name, frame, folder / "keys" / name
        frame.write_parquet(folder / f"{name}.parquet")
        (folder / "policy.toml").write_text("ask = false\n")
        command = [
            sys.executable, "-m", "tacit.cli", "agency", folder / f"{name}.parquet",
            "--credentials", self.credentials, "--listen", "127.0.0.1:0",
            "--policy", folder / "policy.toml",
        ]  # fmt: skip
        self.process = subprocess.Popen(
            [*map(str, command)], stderr=subprocess.PIPE, text=True,
            env={**os.environ, "OMP_NUM_THREADS": "1", "POLARS_MAX_THREADS": "1"},
        )  # fmt: skip

    def address(self) -> str:
        line = self.process.stderr.readline()
        port = re.search(r"port (\d+)", line)[1]
        return f"127.0.0.1:{port}"

    def kill(self) -> None:
        self.process.send_signal(signal.SIGKILL)
        self.process.wait()

    def released(self) -> int:
        return len(Ledger(self.credentials / "agency.log").released())


@contextlib.contextmanager
def running(folder, frames, **options):
    make_certificates(folder / "keys", frames)
    processes = {name: Process(folder, name, frame) for name, frame in frames.items()}
    try:
        where = {name: one.address() for name, one in processes.items()}
        yield processes, connect(where, folder / "keys" / "coordinator", **options)
    finally:
        for one in processes.values():
            one.kill()
            one.process.stderr.close()


def fitted(frames, y, names, model, x=("age", "year")):
    whole = pl.concat([frames[name] for name in names])
    design = sm.add_constant(whole.select(x).to_numpy())
    return model(whole[y].to_numpy(), design)


def check_ols(answer, frames):
    fit = fitted(frames, "income", answer.agencies, sm.OLS).fit()
    for found, expected in (
        (answer["coefficients"], fit.params),
        (answer["standard_errors"], fit.bse),
    ):
        assert np.allclose(list(found.values()), expected, rtol=1e-9, atol=0)


def check_logistic(answer, frames, **x):
    # Newton's method of sm.Logit does not settle with years far from zero; scoring does.
    model = partial(sm.GLM, family=sm.families.Binomial())
    fit = fitted(frames, "event", answer.agencies, model, **x).fit(
        tol=1e-12, tol_criterion="params"
    )
    assert fit.converged
    assert np.allclose(list(answer["coefficients"].values()), fit.params, rtol=1e-6, atol=0)


class Killing:
    """A channel that kills its agency just before a message of some kind."""

    def __init__(self, channel, process, kind, after=0):
        self.channel, self.process, self.kind, self.after = channel, process, kind, after

    def send(self, request):
        if f'"kind":"{self.kind}"'.encode() in request[:200]:
            self.after -= 1
            if self.after < 0:
                self.process.kill()
        return self.channel.send(request)

    def close(self):
        self.channel.close()


def test_three_processes_give_the_pooled_result_and_never_become_two(parts, tmp_path):
    with running(tmp_path, parts, threshold=2) as (processes, coordinator):
        check_ols(coordinator.run(OLS), parts)
        check_logistic(coordinator.run(LOGISTIC), parts)
        victim = "agency-01"
        coordinator.channels[victim] = Killing(
            coordinator.channels[victim], processes[victim], "ask-masked"
        )
        with pytest.raises(StoppedError) as stopped:
            coordinator.run(analysis_from({"analysis": "mean", "variables": ["visits"]}))
        assert set(stopped.value.who) == {victim}
        assert [one.released() for one in processes.values()] == [2, 2, 2]


def test_five_processes_survive_a_kill(five, tmp_path):
    with running(tmp_path, five, threshold=4) as (processes, coordinator):
        events = analysis_from({"analysis": "logistic", "y": "event", "x": ["visits"]})
        answer = coordinator.run(events)
        assert answer.agencies == tuple(five)
        check_logistic(answer, five, x=["visits"])
        victim = "agency-02"
        way = coordinator.channels[victim]
        coordinator.channels[victim] = Killing(way, processes[victim], "ask-masked")
        answer = coordinator.run(OLS)
        assert answer.agencies == tuple(n for n in five if n != victim)
        assert set(answer.missing) == {victim}
        check_ols(answer, five)
        # A second one between two sums of an iteration: nothing is released.
        second = "agency-04"
        way = coordinator.channels[second]
        coordinator.channels[second] = Killing(way, processes[second], "ask-keys", after=2)
        # Other columns: those of the questions before stay with the agencies that answered them.
        other = analysis_from(
            {"analysis": "ols", "y": "w", "x": ["sex"], "levels": {"sex": ["m", "f"]}}
        )
        with pytest.raises(StoppedError, match="only 3 agencies showed keys") as stopped:
            coordinator.run(other)
        assert set(stopped.value.who) == {victim, second}


@pytest.mark.slow
def test_twenty_processes_give_the_pooled_result(tmp_path):
    rng = np.random.default_rng(9)
    frames = {}
    for k in range(20):
        age, year = rng.normal(50, 10, 60), rng.normal(2015, 3, 60)
        frames[f"agency-{k:02d}"] = pl.DataFrame(
            {
                "age": age,
                "year": year,
                "income": 3 + 0.2 * age + rng.normal(0, 1, 60),
                "stay": rng.normal(5, 2, 60),
                "event": (rng.random(60) < 1 / (1 + np.exp(-0.05 * (age - 50)))).astype(int),
            }
        )
    with running(tmp_path, frames, timeout=120) as (processes, coordinator):
        check_ols(coordinator.run(OLS), frames)
        check_logistic(coordinator.run(LOGISTIC), frames)
        lost = {"agency-03", "agency-17"}
        for victim in lost:
            processes[victim].kill()
        with pytest.raises(StoppedError, match="another set"):
            coordinator.run(OLS)  # the columns were used with all twenty before
        answer = coordinator.run(analysis_from({"analysis": "mean", "variables": ["stay"]}))
        left = pl.concat([f for n, f in frames.items() if n not in lost])
        assert set(answer.missing) == lost
        assert answer["means"]["stay"] == pytest.approx(left["stay"].mean(), rel=1e-12)


PHASES = ["propose", "ask-keys", "ask-shares", "ask-masked", "ask-unmask", "finish"]


@pytest.mark.slow
@pytest.mark.parametrize("threshold", [4, 5], ids=["above", "below"])
@pytest.mark.parametrize("phase", PHASES)
def test_a_kill_at_any_phase_recovers_or_stops(five, tmp_path, phase, threshold):
    """One of five dies just before it is asked; then it is started again, and all goes on.

    Above the threshold the first sum goes on with four, or with the contribution of the dead one if
    it was in; a second sum needs those of the first. Below it everything stops.
    """
    victim, question = "agency-02", {"analysis": "count", "variables": ["age"]}
    with running(tmp_path, five, threshold=threshold) as (processes, coordinator):
        way = coordinator.channels[victim]
        coordinator.channels[victim] = Killing(way, processes[victim], phase)
        if threshold == 5:
            with pytest.raises(StoppedError, match="nothing is released") as stopped:
                coordinator.run(analysis_from(question))
            assert set(stopped.value.who) == {victim}
        else:
            answer = coordinator.run(analysis_from(question))
            there = phase in ("ask-unmask", "finish")  # its contribution had arrived
            assert (victim in answer.agencies) == there
            assert answer["n"] == sum(len(five[n]) for n in answer.agencies)
            assert set(answer.missing) == {victim}
        again = Process(tmp_path, victim, five[victim])
        processes[victim].process.stderr.close()
        processes[victim] = again
        where = again.address()
        coordinator.channels[victim] = TlsChannel(victim, address_of(where), way._context)
        answer = coordinator.run(analysis_from({"analysis": "mean", "variables": ["income"]}))
        assert answer["n"] == sum(map(len, five.values()))
        assert not answer.missing


def test_three_processes_with_different_variables_give_the_joined_result(files, tmp_path):
    """Tags align units, shares make products: OLS of the joined file; a kill releases nothing."""
    asked = {
        "analysis": "vertical-ols", "unit": "id", "y": "y", "x": ["a", "b", "c"],
        "holders": {"tax": ["y", "a"], "health": ["b"], "school": ["c"]},
    }  # fmt: skip
    whole = files["tax"].join(files["health"], on="id").join(files["school"], on="id").drop_nulls()
    design = sm.add_constant(whole.select("a", "b", "c").to_numpy())
    fit = sm.OLS(whole["y"].to_numpy(), design).fit()
    with running(tmp_path, files) as (processes, coordinator):
        answer = coordinator.run(analysis_from(asked))
        assert answer["n"] == len(whole)
        assert np.allclose(list(answer["coefficients"].values()), fit.params, rtol=1e-9, atol=0)
        assert np.allclose(list(answer["standard_errors"].values()), fit.bse, rtol=1e-9, atol=0)
        victim = "health"
        coordinator.channels[victim] = Killing(
            coordinator.channels[victim], processes[victim], "ask-joined"
        )
        with pytest.raises(StoppedError) as stopped:
            coordinator.run(analysis_from(asked))
        assert set(stopped.value.who) == {victim}
        assert [one.released() for one in processes.values()] == [1, 1, 1]
