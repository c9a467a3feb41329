"""Query servers of projects: who may ask, and what is remembered."""

import pytest

from tacit.app.permissions import ConflictError, NotAllowedError, NotFoundError
from tacit.app.queries import POLICIES, Queries
from tacit.core.errors import DataError, TacitError
from tacit.query import Policy

COUNT = {"method": "crosstab", "by": ["sex"]}


@pytest.fixture
def open_server(parts, people, project):
    """Set up the server of the project for invited people."""
    policy = parts.queries.settings_of(people["custodian"], project)["policy"]
    parts.queries.set_up(
        people["custodian"], project, policy=policy, active=True, open_to_all=False
    )
    yield project
    parts.queries.close()


def test_the_default_policy_is_strict(parts, people, project):
    policy = parts.queries.settings_of(people["custodian"], project)["policy"]
    assert Policy.from_toml(policy).name == "strict"


@pytest.mark.parametrize("name", POLICIES)
def test_policies_that_are_offered_exist(name):
    assert Policy.named(name).name == name


def test_invited_people_are_answered_and_others_find_nothing(parts, people, open_server):
    given = parts.queries.ask(people["analyst"], open_server, COUNT)
    assert not given.is_refusal
    most = 2 * 24  # that strict changes two cells by, whatever the key
    assert sum(given.columns["count"]) == pytest.approx(80, abs=most)
    for who in ("stranger", "administrator", "reviewer"):
        for attempt in (
            lambda who=who: parts.queries.ask(people[who], open_server, COUNT),
            lambda who=who: parts.queries.describe(people[who], open_server),
        ):
            with pytest.raises(NotFoundError, match="no such query server"):
                attempt()


def test_a_server_that_is_not_open_does_not_exist(parts, people, project):
    with pytest.raises(NotFoundError):
        parts.queries.ask(people["analyst"], project, COUNT)


def test_open_to_all_means_everybody_with_an_account(parts, people, open_server):
    now = parts.queries.settings_of(people["custodian"], open_server)
    parts.queries.set_up(
        people["custodian"], open_server, policy=now["policy"], active=True, open_to_all=True
    )
    assert not parts.queries.ask(people["stranger"], open_server, COUNT).is_refusal


def test_a_request_that_was_under_way_does_not_bring_an_old_policy_back(parts, people, open_server):
    older = parts.queries._may_ask(people["analyst"], open_server)
    assert not parts.queries.ask(people["analyst"], open_server, COUNT).is_refusal
    policy = Policy.named("mas").to_toml()
    parts.queries.set_up(
        people["custodian"], open_server, policy=policy, active=True, open_to_all=False
    )
    newer = parts.queries._server(*parts.queries._may_ask(people["analyst"], open_server))
    assert newer.policy.name == "mas"
    assert parts.queries._server(*older) is newer


def test_analysts_and_reviewers_neither_read_nor_set_the_policy(parts, people, open_server):
    for who, error in (("analyst", NotFoundError), ("reviewer", NotAllowedError)):
        with pytest.raises(error):
            parts.queries.settings_of(people[who], open_server)
        with pytest.raises(error):
            parts.queries.set_up(
                people[who], open_server, policy=Policy.named("mas").to_toml(), active=True,
                open_to_all=True,
            )  # fmt: skip


def test_a_policy_that_is_none_is_refused(parts, people, project):
    with pytest.raises(TacitError):
        parts.queries.set_up(
            people["custodian"], project, policy="guards = 1", active=True, open_to_all=False
        )


def test_without_data_there_is_nothing_to_serve(parts, people):
    empty = parts.projects.create(people["custodian"], "Empty")
    with pytest.raises(DataError, match="no data"):
        parts.queries.set_up(
            people["custodian"], empty, policy=Policy.named("strict").to_toml(), active=True,
            open_to_all=False,
        )  # fmt: skip


def test_the_same_question_gets_the_same_answer_after_a_restart(parts, people, open_server):
    before = parts.queries.ask(people["analyst"], open_server, COUNT)
    parts.queries.close()
    again = Queries(parts.store, parts.settings)
    assert again.ask(people["analyst"], open_server, COUNT).columns == before.columns
    assert again.verify_log(people["custodian"], open_server)["intact"]
    again.close()


def test_a_second_process_does_not_answer_behind_the_first(parts, people, open_server):
    parts.queries.ask(people["analyst"], open_server, COUNT)
    second = Queries(parts.store, parts.settings)
    with pytest.raises(ConflictError, match="another process"):
        second.ask(people["analyst"], open_server, COUNT)


def test_a_changed_log_is_found(parts, people, open_server):
    parts.queries.ask(people["analyst"], open_server, COUNT)
    (log,) = parts.projects.folder(open_server).rglob("audit.jsonl")
    log.write_text(log.read_text().replace("crosstab", "histogram"))
    assert not parts.queries.verify_log(people["custodian"], open_server)["intact"]


def test_a_refusal_names_its_rule(parts, people, open_server):
    refused = parts.queries.ask(
        people["analyst"], open_server, {"method": "crosstab", "by": ["person_id"]}
    )
    assert refused.is_refusal
    assert refused.rule == "request"
