"""The one way from a request to an answer."""

import json

import numpy as np
import pytest

import tacit
from tacit import query
from tacit.core.errors import DataError, ParameterError, WriteError
from tacit.query.guard import Guard
from tacit.query.server import parse

SECRET = "a long and secret phrase"  # noqa: S105
TABLE = {"method": "crosstab", "by": ["sex", "region"]}


class Broken(Guard):
    """A guard with a mistake in it."""

    def check(self, request, context):
        return None


class Failing(Guard):
    def check(self, request, context):
        raise ParameterError("something only the server knows: 4711")


def test_without_guards_the_answer_is_the_truth(serve, people, count):
    answer = serve(people).ask({**TABLE, "margins": True})
    assert count(answer, sex="total", region="total") == 2000
    true = people.filter((people["sex"] == "f") & (people["region"] == "N")).height
    assert count(answer, sex="f", region="N") == true


def test_answers_tell_policy_data_and_rules(serve, people):
    server = serve(people, policy="strict")
    answer = server.ask(TABLE)
    assert answer.policy == "strict 1"
    assert answer.data == server.schema.version
    assert [step.rule for step in answer.trace][:3] == [
        "rate-limit",
        "whole-categories",
        "set-size",
    ]
    assert any("Counts were changed" in note for note in answer.notes)


@pytest.mark.parametrize(
    "request_",
    [
        {"method": "crosstab", "by": ["shoe size"]},
        {"method": "crosstab", "by": ["id"]},
        {"method": "crosstab", "by": ["w"]},
        {"method": "crosstab", "by": ["sex"], "totals": ["region"]},
        {"method": "crosstab", "by": ["sex'; drop table people; --"]},
        {"method": "crosstab", "by": ["sex"], "universe": {"region": "N' or '1'='1"}},
        {"method": "crosstab", "by": ["sex"], "universe": {"age": [{"from": 17.123}]}},
        {"method": "crosstab", "by": ["sex"], "universe": {"age": "17"}},
        {"method": "crosstab", "by": ["sex"], "universe": {"age": [{"from": float("nan")}]}},
        {"method": "crosstab", "by": ["sex"], "universe": {"age": [{"from": float("inf")}]}},
        {"method": "crosstab", "by": ["sex"], "universe": {"sex": {"$ne": "f"}}},
        {"method": "crosstab", "by": ["sex"], "universe": "1 = 1"},
        {"method": "crosstab", "by": ["sex"], "universe": []},
        {"method": "crosstab", "by": []},
        {"method": "crosstab", "by": ["sex", "sex"]},
        {"method": "crosstab", "by": ["sex"], "code": "__import__('os')"},
        {"method": "crosstab"},
        {"method": "mdav", "columns": ["age"]},
        {"method": 7},
        {"by": ["sex"]},
        [],
        None,
        7,
        "",
        "{",
        '{"method": "crosstab", "by": ["sex"], "universe": {"age": [{"from": NaN}]}}',
        "[" * 10_000,
        '"x"' * 100_000,
    ],
    ids=lambda r: str(r)[:60],
)
def test_what_is_no_request_is_refused_and_nothing_is_learnt(serve, people, request_):
    server = serve(people, policy="strict")
    refusal = server.ask(request_)
    assert refusal.is_refusal
    assert refusal.rule == "request"
    words = f"{refusal.reason} {refusal.hint}"
    for told in ("2000", "drop", "17.1", "shoe", "__import__", "1 = 1"):
        assert told not in words
    assert not server.ask(TABLE).is_refusal


def test_refusals_of_two_data_sets_are_the_same(serve, people):
    bad = {"method": "crosstab", "by": ["sex"], "universe": {"region": "Q"}}
    other = people.sample(fraction=1.0, with_replacement=True, seed=3).with_columns(
        id=np.arange(people.height)
    )
    assert serve(people, policy="strict").ask(bad) == serve(other, policy="strict").ask(bad)


def test_a_guard_that_fails_refuses(serve, people):
    for guard in (Broken(), Failing()):
        refusal = serve(people, guard).ask(TABLE)
        assert refusal.is_refusal
        assert "4711" not in str(refusal)


def test_a_fault_refuses_and_warns(serve, people, monkeypatch):
    server = serve(people)
    monkeypatch.setattr(type(server), "_view", lambda *_: 1 / 0)
    with pytest.warns(RuntimeWarning, match="ZeroDivisionError"):
        assert server.ask(TABLE).rule == "fault"


def test_requests_are_values_json_or_plain_data(serve, people):
    server = serve(people, policy="strict")
    value = query.Crosstab(by=["sex", "region"])
    assert server.ask(value) == server.ask(TABLE) == server.ask(json.dumps(TABLE))
    assert parse(value.as_step()) == value


def test_the_same_secret_gives_the_same_noise(serve, people):
    assert serve(people, policy="strict").ask(TABLE) == serve(people, policy="strict").ask(TABLE)
    other = query.Server(query.Source(people, unit="id"), "strict", secret=SECRET[::-1])
    assert other.ask(TABLE).columns != serve(people, policy="strict").ask(TABLE).columns


def test_a_folder_keeps_secret_log_and_memory(people, tmp_path):
    source = query.Source(people, unit="id", weight="w")

    def start():
        return query.Server(source, "strict", folder=tmp_path / "kept")

    first = start()
    answers = [first.ask(TABLE, user="ana"), first.ask({**TABLE, "universe": {"sex": "f"}})]
    first.ask({"method": "nonsense"})
    with pytest.raises(WriteError, match="another server"):
        start()
    first.close()
    with pytest.raises(DataError, match="closed"):
        first.ask(TABLE)
    again = start()
    assert len(again._state.histories["near-cells"]) == len(first._state.histories["near-cells"])
    ledgers = [s._state.ledger.of("count").tolist() for s in (first, again)]
    assert ledgers[0] == ledgers[1]
    assert again.ask(TABLE) == answers[0]
    assert again.log.verify().ok
    assert "ana" not in (tmp_path / "kept" / "audit.jsonl").read_text()
    assert (tmp_path / "kept" / "secret.key").stat().st_mode & 0o077 == 0


def test_the_log_says_what_was_asked_and_what_became_of_it(serve, people):
    server = serve(people, policy="strict")
    server.ask(TABLE)
    server.ask({"method": "crosstab", "by": ["none"]})
    first, second = server.log.requests()
    assert first.request["by"] == ["sex", "region"]
    assert first.outcome["status"] == "answered"
    assert second.outcome == {"status": "refused", "rule": "request"}
    assert server.log.replay(lambda request: _outcome(server, request)) == []


def _outcome(server, request):
    from tacit.query.server import _outcome

    return _outcome(server.ask(request))


def test_input_perturbation_masks_the_data_once(serve, people):
    steps = ({"method": "rank-swap", "columns": ["income"], "p": 10},)
    policy = query.Policy(name="masked", masks=steps)
    frame = people.drop("id")
    one, two = (serve(frame, policy=policy, unit=None) for _ in range(2))
    request = {"method": "summary", "numbers": ["income"], "by": ["region"]}
    assert one.ask(request) == two.ask(request)
    plain = serve(frame, policy=query.Policy(name="open"), unit=None).ask(request)
    assert one.ask(request).columns["mean"] != plain.columns["mean"]
    assert one.ask(TABLE).columns == serve(frame, unit=None).ask(TABLE).columns


def test_describe_is_plain_data_without_secrets(serve, people):
    told = json.dumps(serve(people, policy="strict").describe())
    assert "crosstab" in told
    assert SECRET not in told
    assert "max_change" in told


def test_hidden_parameters_are_not_told(serve, people):
    rules = serve(people, policy="mas").describe()["rules"]
    assert "Universe Gamma" in rules
    assert not any("75" in rule for rule in rules)


@pytest.mark.parametrize("n", [1, 2, 30])
def test_tiny_data_are_served_and_say_nothing(people, serve, n):
    answer = serve(people.head(n), policy="strict").ask(TABLE)
    assert answer.is_refusal or set(answer.columns["count"]) <= {None} | set(range(5, 60))


def test_every_built_in_policy_starts(people, serve):
    for name in ("strict", "mas", "blocks", "exact", "camouflage", "dp"):
        frame = people.select("id", "sex", "region", "income", "w")
        answer = serve(frame, policy=name).ask({"method": "crosstab", "by": ["sex", "region"]})
        assert not answer.is_refusal, (name, str(answer))


def test_blocks_and_camouflage_answer_tables_only(people, serve):
    for name in ("blocks", "camouflage"):
        refusal = serve(people, policy=name).ask({"method": "ols", "formula": "income ~ age"})
        assert refusal.is_refusal


def test_bad_data_are_refused_at_the_door(people):
    from tacit.core.errors import TacitError

    bad = [
        (people.head(0), {}),
        (people.with_columns(income=np.inf), {}),
        (people.with_columns(w=0.0), {"weight": "w"}),
        (people.with_columns(id=None), {"unit": "id"}),
        (people, {"categories": ["w"], "weight": "w"}),
        (people, {"unit": "nobody"}),
    ]
    for frame, parts in bad:
        with pytest.raises(TacitError):
            query.Server(query.Source(frame, **parts), secret=SECRET)
    with pytest.raises(ParameterError, match="too short"):
        query.Server(people, secret=SECRET[:5])


def test_census_works_out_of_the_box():
    server = query.Server(tacit.datasets.census(1000, missing=0.05), secret=SECRET)
    assert not server.ask({"method": "crosstab", "by": ["sex", "marital"]}).is_refusal
    assert not server.ask({"method": "summary", "numbers": ["income"], "weighted": True}).is_refusal
