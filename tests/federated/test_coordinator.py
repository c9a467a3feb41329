"""The coordinator: lost, lying and refusing agencies end in the right result or in who and why."""

import numpy as np
import polars as pl
import pytest

from tacit.core.errors import ParameterError
from tacit.federated import messages as m
from tacit.federated.analysis import analysis_from
from tacit.federated.coordinator import Coordinator, default_threshold
from tacit.federated.policy import Policy
from tacit.federated.simulator import agencies
from tacit.federated.stopped import StoppedError

MEAN = analysis_from({"analysis": "mean", "variables": ["age"]})
OLS = analysis_from({"analysis": "ols", "y": "income", "x": ["age", "year"]})


def pooled_mean(parts, names):
    return pl.concat([parts[n] for n in names])["age"].mean()


def test_everybody_there(five, federation):
    coordinator, _ = federation(five)
    answer = coordinator.run(MEAN)
    assert answer["means"]["age"] == pytest.approx(pooled_mean(five, five), rel=1e-14)
    assert answer.agencies == tuple(five)
    assert answer.missing == {}


@pytest.mark.parametrize("cut", ["propose", "ask-keys", "ask-shares", "ask-masked"])
def test_a_loss_before_the_contribution_leaves_the_others(five, federation, cut):
    coordinator, channels = federation(five, threshold=4)
    channels["agency-02"].cut_at = cut
    answer = coordinator.run(MEAN)
    left = tuple(n for n in five if n != "agency-02")
    assert answer.agencies == left
    assert answer.missing == {"agency-02": "cannot be reached"}
    assert answer["means"]["age"] == pytest.approx(pooled_mean(five, left), rel=1e-14)


def test_a_loss_after_the_contribution_keeps_it(five, federation):
    count = analysis_from({"analysis": "count"})
    coordinator, channels = federation(five, threshold=4)
    channels["agency-02"].cut_at = "ask-unmask"
    answer = coordinator.run(count)
    assert answer["n"] == sum(len(p) for p in five.values())
    assert answer.agencies == tuple(five)
    assert "agency-02" in answer.missing


@pytest.mark.parametrize("cut", ["ask-keys", "ask-shares", "ask-masked", "ask-unmask", "finish"])
def test_too_many_losses_stop(five, federation, cut):
    coordinator, channels = federation(five, threshold=4)
    channels["agency-02"].cut_at = channels["agency-03"].cut_at = cut
    with pytest.raises(StoppedError, match="nothing is released") as stopped:
        coordinator.run(OLS)
    assert set(stopped.value.who) == {"agency-02", "agency-03"}


@pytest.mark.parametrize("cut", ["ask-keys", "ask-masked", "ask-unmask"])
def test_three_agencies_never_become_two(parts, federation, cut):
    coordinator, channels = federation(parts, threshold=2)
    channels["agency-01"].cut_at = cut
    with pytest.raises(StoppedError, match="3 are needed"):
        coordinator.run(MEAN)


def test_a_loss_between_two_sums_stops(five, federation):
    coordinator, channels = federation(five, threshold=4)
    counts = {"ask-keys": 0}

    def later(kind, request):
        counts["ask-keys"] += kind == "ask-keys"
        if counts["ask-keys"] == 2:
            channels["agency-02"].cut_at = "ask-masked"
        return request

    channels["agency-02"].change_request = later
    with pytest.raises(StoppedError, match="between two sums") as stopped:
        coordinator.run(OLS)
    assert set(stopped.value.who) == {"agency-02"}


def test_shares_that_leave_somebody_out_name_the_liar(five, federation):
    coordinator, channels = federation(five, threshold=4)

    def fewer(kind, reply):
        if kind != "ask-shares":
            return reply
        sealed = dict(m.decode(reply).sealed)
        del sealed["agency-00"]
        return m.Shares(sealed=sealed).encode()

    channels["agency-04"].change_reply = fewer
    answer = coordinator.run(MEAN)
    assert answer.missing == {"agency-04": "no shares for some of the others"}
    left = [n for n in five if n != "agency-04"]
    assert answer["means"]["age"] == pytest.approx(pooled_mean(five, left), rel=1e-14)


def test_a_contribution_of_the_wrong_shape_names_the_liar(five, federation):
    coordinator, channels = federation(five, threshold=4)

    def longer(kind, reply):
        return m.Masked(payload=bytes(8)).encode() if kind == "ask-masked" else reply

    channels["agency-04"].change_reply = longer
    answer = coordinator.run(MEAN)
    assert "wrong shape" in answer.missing["agency-04"]
    left = [n for n in five if n != "agency-04"]
    assert answer["means"]["age"] == pytest.approx(pooled_mean(five, left), rel=1e-14)


@pytest.mark.parametrize(
    "reply",
    [b"", b"garbage", m.Closed().encode(), m.Masked(payload=b"x").encode()],
    ids=["nothing", "garbage", "closed", "other"],
)
def test_nonsense_counts_as_lost_and_is_named(five, federation, reply):
    coordinator, channels = federation(five, threshold=4)
    channels["agency-01"].change_reply = lambda kind, true: reply if kind == "ask-keys" else true
    answer = coordinator.run(MEAN)
    assert set(answer.missing) == {"agency-01"}


def test_a_contribution_that_is_changed_stops_the_computation(five, federation):
    coordinator, channels = federation(five, threshold=4)

    def more(kind, reply):
        if kind != "ask-masked":
            return reply
        message = m.decode(reply)
        first = (message.payload[0] + 1) % 256
        return message.replace(payload=bytes([first]) + message.payload[1:]).encode()

    channels["agency-04"].change_reply = more
    with pytest.raises(StoppedError, match="was changed"):
        coordinator.run(MEAN)


class Liar:
    """An agency's analysis that adds what no record could."""

    def __init__(self, agency, values):
        agency_step = agency._step

        def step(computation, message):
            if isinstance(message, m.AskMasked):
                return computation.sum.mask(message.sealed, np.asarray(values))
            return agency_step(computation, message)

        agency._step = step


@pytest.mark.parametrize(
    ("values", "why"),
    [([-1e6, 0.0], "not plausible"), ([1e60, 0.0], "cannot be used"), ([np.nan, 0.0], "cannot be")],
    ids=["negative count", "out of the ring", "missing"],
)
def test_an_out_of_range_value_stops_with_the_reason(five, federation, values, why):
    members = agencies(five)
    Liar(members[3], values)
    coordinator, _ = federation(five, members=members)
    with pytest.raises(StoppedError, match=why):
        coordinator.run(MEAN)


def test_a_refusal_stops_and_is_told(five, federation):
    policies = {"agency-03": Policy(min_records=500)}
    coordinator, channels = federation(five, policy=policies)
    with pytest.raises(StoppedError) as stopped:
        coordinator.run(MEAN)
    assert stopped.value.who == {"agency-03": "fewer than 500 complete records"}
    for channel in channels.values():
        assert not channel.agency.ledger.released()


def test_a_restarted_agency_is_named(five, federation):
    coordinator, channels = federation(five)

    def restart(kind, request):
        if kind == "ask-masked":
            channels["agency-02"].agency._open.clear()
        return request

    channels["agency-02"].change_request = restart
    with pytest.raises(StoppedError) as stopped:
        coordinator.run(MEAN)
    assert "restarted" in stopped.value.who["agency-02"]


def test_messages_sent_twice_change_nothing(five, federation):
    coordinator, channels = federation(five)
    for channel in channels.values():
        channel.change_request = lambda kind, request, c=channel: (
            c.agency.handle(request), request
        )[1]  # fmt: skip
    assert coordinator.run(MEAN)["n"] == sum(len(p) for p in five.values())


def test_disagreement_stops(five, federation):
    coordinator, channels = federation(five)

    def other(kind, reply):
        message = m.decode(reply)
        if kind == "finish" and message.answer is not None:
            return m.Finished(answer={**message.answer, "n": 1}).encode()
        return reply

    channels["agency-01"].change_reply = other
    with pytest.raises(StoppedError, match="do not agree on the result") as stopped:
        coordinator.run(MEAN)
    assert set(stopped.value.who) == {"agency-01"}


def test_an_agency_that_says_it_is_done_too_early_is_named(five, federation):
    coordinator, channels = federation(five)
    channels["agency-01"].change_reply = lambda kind, reply: (
        m.Finished(answer={"n": 1}).encode() if kind == "finish" else reply
    )
    with pytest.raises(StoppedError, match="do not agree on the end") as stopped:
        coordinator.run(MEAN)
    assert set(stopped.value.who) == {"agency-01"}


def test_two_agencies_are_refused(parts):
    with pytest.raises(ParameterError, match="at least three"):
        Coordinator({"a": None, "b": None})


def test_thresholds_are_above_two_thirds_by_default():
    assert [default_threshold(k) for k in (3, 4, 5, 10, 20)] == [3, 3, 4, 7, 14]


def test_the_coordinator_can_speak_to_all_at_once(five):
    from tacit.federated.simulator import InProcess

    channels = {a.name: InProcess(a) for a in agencies(five)}
    assert Coordinator(channels).run(MEAN)["n"] == sum(len(p) for p in five.values())


def test_traffic_is_counted(parts, federation):
    coordinator, _ = federation(parts)
    traffic = coordinator.run(MEAN).traffic
    assert set(traffic) == set(parts)
    assert traffic["agency-00"]["masked"] > 2 * 32 * 2
