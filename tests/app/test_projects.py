"""Projects: names, people, editions, and that strangers find nothing."""

import pytest

from tacit.app.permissions import ConflictError, NotAllowedError, NotFoundError
from tacit.core.errors import DataError, ParameterError
from tacit.core.schema import Schema


def test_names_are_unique_and_a_free_one_is_proposed(parts, people, project):
    with pytest.raises(ConflictError, match="such as 'CENSUS 2'"):
        parts.projects.create(people["stranger"], "CENSUS ")


@pytest.mark.parametrize("name", ["", "   ", "a" * 101, "line\nbreak\x00"])
def test_bad_names_are_refused(parts, people, name):
    with pytest.raises(ParameterError):
        parts.projects.create(people["custodian"], name)


def test_reviewers_and_analysts_create_no_projects(parts, people):
    for role in ("reviewer", "analyst"):
        with pytest.raises(NotAllowedError):
            parts.projects.create(people[role], "Mine")


def test_a_project_of_others_does_not_exist_not_even_for_administrators(parts, people, project):
    nothing = "0" * 32
    for who in ("stranger", "administrator", "analyst"):
        messages = []
        for asked in (project, nothing):
            with pytest.raises(NotFoundError) as caught:
                parts.projects.show(people[who], asked)
            messages.append(str(caught.value))
        assert messages[0] == messages[1]
        with pytest.raises(NotFoundError):
            parts.projects.page(people[who], project)
        with pytest.raises(NotFoundError):
            parts.projects.delete(people[who], project)


def test_a_reviewer_sees_neither_records_nor_columns_nor_the_plan(parts, people, project):
    about = parts.projects.show(people["reviewer"], project)
    assert set(about) == {"id", "name", "description", "owner", "capacity", "created"}
    with pytest.raises(NotAllowedError):
        parts.projects.page(people["reviewer"], project)


def test_an_analyst_cannot_be_made_custodian_of_a_project(parts, people, project):
    for capacity in ("custodian", "reviewer", "owner", "nonsense"):
        with pytest.raises(ParameterError):
            parts.projects.invite(people["custodian"], project, "the analyst", capacity)


def test_a_reviewer_who_becomes_analyst_loses_the_project(parts, people, project):
    root = people["administrator"]
    parts.accounts.change(root, people["reviewer"].id, role="analyst")
    demoted = parts.accounts.log_in("the reviewer", "correct horse battery").actor
    with pytest.raises(NotFoundError):
        parts.projects.show(demoted, project)


@pytest.mark.parametrize("role", ["analyst", "reviewer"])
def test_an_owner_who_is_made_something_else_sees_no_record_any_more(parts, people, project, role):
    session = parts.accounts.create_token(people["custodian"], "made before")
    parts.accounts.change(people["administrator"], people["custodian"].id, role=role)
    demoted = parts.accounts.find_token(session)
    assert parts.projects.visible(demoted) == []
    for look in (parts.projects.show, parts.projects.page, parts.jobs.of_project):
        with pytest.raises(NotFoundError):
            look(demoted, project)
    with pytest.raises(NotFoundError):
        parts.queries.describe(demoted, project)
    parts.accounts.change(people["administrator"], people["custodian"].id, role="custodian")
    assert parts.projects.show(parts.accounts.find_token(session), project)["capacity"] == "owner"


def test_an_edit_on_an_old_edition_is_refused(parts, people, project):
    owner = people["custodian"]
    edition = parts.projects.show(owner, project)["edition"]
    parts.projects.set_plan(owner, project, [], edition)
    with pytest.raises(ConflictError, match="in the meantime"):
        parts.projects.set_plan(owner, project, [], edition)


def test_a_plan_that_is_none_is_refused_and_changes_nothing(parts, people, project):
    owner = people["custodian"]
    before = parts.projects.show(owner, project)
    with pytest.raises(ParameterError):
        parts.projects.set_plan(owner, project, [{"method": "mdav", "k": 1}], before["edition"])
    assert parts.projects.show(owner, project) == before


def test_roles_must_be_of_the_same_columns(parts, people, project):
    owner = people["custodian"]
    edition = parts.projects.show(owner, project)["edition"]
    other = Schema(variables=[{"name": "x", "kind": "numeric"}])
    with pytest.raises(DataError, match="not the columns"):
        parts.projects.set_roles(owner, project, other, edition)


def test_pages_show_the_records_asked_for(parts, people, project):
    page = parts.projects.page(people["custodian"], project, first=78, count=10)
    assert page["total"] == 80
    assert len(page["rows"]) == 2
    assert parts.projects.page(people["custodian"], project, first=10**9)["rows"] == []


def test_a_deleted_project_leaves_no_files(parts, people, project, masked):
    folder = parts.projects.folder(project)
    assert any(folder.rglob("*.parquet"))
    parts.projects.delete(people["custodian"], project)
    assert not folder.exists()
    with pytest.raises(NotFoundError):
        parts.versions.show(people["custodian"], masked)


def test_the_history_says_who_did_what_without_values(parts, people, project, masked):
    events = parts.projects.history(people["reviewer"], project)
    done = [event["what"] for event in events]
    assert done[0] == "version made"
    assert done[-1] == "project created"
    record = parts.projects.page(people["custodian"], project, count=1)["rows"][0]
    person = record[0]
    assert not any(person in str(event) for event in events)


def test_whole_numbers_are_told_to_those_who_may_see_records(parts, people, project):
    found = parts.projects.whole_numbers(people["custodian"], project)
    assert {"age", "hours"} <= set(found)
    assert not {"person_id", "income", "sex"} & set(found)
    with pytest.raises(NotFoundError):
        parts.projects.whole_numbers(people["stranger"], project)
    with pytest.raises(NotAllowedError):
        parts.projects.whole_numbers(people["reviewer"], project)
