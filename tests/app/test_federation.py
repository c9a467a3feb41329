"""The house among agencies: over TLS, with a person who says yes or no."""

import threading
import time
from contextlib import contextmanager

import polars as pl
import pytest

from tacit.app.agency_desk import FIRST_POLICY
from tacit.app.agency_process import AgencyProcess
from tacit.app.federation import Federation, analyses
from tacit.app.permissions import ConflictError, NotAllowedError, NotFoundError
from tacit.app.services import Services
from tacit.app.worker import Worker
from tacit.core.errors import ParameterError
from tacit.datasets import census
from tacit.federated import Agency, AgencyServer, make_certificates

MEAN = {"analysis": "mean", "variables": ["income"]}


@contextmanager
def partners(folder):
    """Two agencies that answer whoever asks, and the keys of a third and of a coordinator."""
    keys = make_certificates(folder / "keys", ["ours", "north", "south"])
    data = {"north": census(60, seed=1), "south": census(70, seed=2)}
    servers = {}
    for name, records in data.items():
        member = Agency(keys[name].identity(), records, keys[name].roster())
        servers[name] = AgencyServer(member, keys[name], ("127.0.0.1", 0))
        threading.Thread(target=servers[name].serve_forever, args=(0.05,), daemon=True).start()
    yield keys, data, {name: f"127.0.0.1:{server.port}" for name, server in servers.items()}
    for server in servers.values():
        server.shutdown()
        server.server_close()


class House:
    """A house with an agency that listens, a worker, and partners."""

    def __init__(self, settings, parts, owner, project, where):
        self.settings, self.parts, self.owner, self.project = settings, parts, owner, project
        self.agency, self.where = AgencyProcess(settings), where

    def open(self, policy):
        """Open the agency by these rules, and let the house know where all agencies are."""
        self.parts.federation.set_up(self.owner, self.project, active=True, policy=policy)
        self.agency.step()
        port = self.parts.federation.state(self.owner, self.project)["agency"]["listening"]
        known = {"ours": f"127.0.0.1:{port}", **self.where}
        self.parts.close()
        self.parts = Services.start(
            self.settings.replace(agencies=[f"{n}={w}" for n, w in known.items()])
        )

    def until(self, what):
        """Wait for something, as the person in front of the page would."""
        for _ in range(1200):
            found = what()
            if found:
                return found
            time.sleep(0.05)
        raise AssertionError("it did not come")

    def waiting(self):
        return self.parts.federation.state(self.owner, self.project)["agency"]["waiting"]

    def asked(self, join):
        """Ask all agencies, answer for the own one, and return how the job ended."""
        question = self.parts.federation.to_ask(
            self.owner, self.project, MEAN, purpose="a test", seconds=60
        )
        job = self.parts.jobs.submit(self.owner, self.project, "federated", question)
        thread = threading.Thread(target=Worker(self.parts.settings).step)
        thread.start()
        (proposal,) = self.until(self.waiting)
        assert proposal["analysis"] == MEAN
        assert proposal["purpose"] == "a test"
        self.parts.federation.decide(self.owner, self.project, proposal["computation"], join=join)
        thread.join(120)
        return self.parts.jobs.show(self.owner, job)


@pytest.fixture
def house(settings, people, project, tmp_path):
    with partners(tmp_path) as (keys, data, where):
        own = settings.replace(
            agency_keys=str(keys["ours"].folder), agency_listen="127.0.0.1:0",
            coordinator_keys=str(keys["coordinator"].folder),
        )  # fmt: skip
        owner = people["custodian"]
        made = House(own, Services.start(own), owner, project, where)
        made.data = data
        made.open(FIRST_POLICY)
        yield made
        made.agency.close()
        made.agency.store.close()
        made.parts.close()


def test_a_yes_gives_the_pooled_mean_and_a_no_gives_who_and_why(house, people):
    state = house.parts.federation.state(house.owner, house.project)
    assert state["agency"]["problem"] == ""
    assert state["may_ask"]

    done = house.asked(join=True)
    assert done["state"] == "done", done["message"]
    pooled = pl.concat([census(80, seed=4).local, *(d.local for d in house.data.values())])
    answer = done["result"]["answer"]
    assert answer["agencies"] == ["north", "ours", "south"]
    assert answer["means"]["income"] == pytest.approx(pooled["income"].mean(), rel=1e-9)

    refused = house.asked(join=False)
    assert refused["state"] == "failed"
    assert "ours: the operator said no" in refused["message"]
    assert house.waiting() == []

    log = house.parts.federation.state(house.owner, house.project)["agency"]["log"]
    assert [entry["event"] for entry in log] == ["refused", "released", "joined"]
    history = house.parts.projects.history(house.owner, house.project)
    told = [event["what"] for event in history]
    for what in ("agency opened", "computation joined", "computation declined",
                 "agencies answered"):  # fmt: skip
        assert what in told


def test_the_agency_listens_only_while_it_is_open_and_by_the_rules_of_the_day(house):
    where = (house.owner, house.project)
    house.open('columns = ["age"]\nask = false\n')
    question = house.parts.federation.to_ask(*where, MEAN, seconds=60)
    job = house.parts.jobs.submit(*where, "federated", question)
    Worker(house.parts.settings).step()
    ended = house.parts.jobs.show(house.owner, job)
    assert ended["state"] == "failed"
    assert "ours: the column 'income' may not be used" in ended["message"]
    house.parts.federation.set_up(*where, active=False, policy=FIRST_POLICY)
    house.agency.step()
    assert house.parts.federation.state(*where)["agency"]["listening"] is None


def test_only_those_inside_see_or_do_anything(house, people):
    federation, project = house.parts.federation, house.project
    for who, error in (
        ("analyst", NotFoundError), ("stranger", NotFoundError), ("administrator", NotFoundError),
        ("reviewer", NotAllowedError),
    ):  # fmt: skip
        for action in (
            lambda actor: federation.state(actor, project),
            lambda actor: federation.set_up(actor, project, active=False, policy=""),
            lambda actor: federation.decide(actor, project, "0" * 32, join=True),
            lambda actor: federation.to_ask(actor, project, MEAN),
        ):
            with pytest.raises(error):
                action(people[who])
    assert federation.state(house.owner, project)["agency"]["open"]


def test_what_is_wrong_is_said_at_once(house, people):
    federation, where = house.parts.federation, (house.owner, house.project)
    for analysis in ({"analysis": "mean"}, {"analysis": "no"}, {"analysis": "vector", "size": 1}):
        with pytest.raises(ParameterError):
            federation.to_ask(*where, analysis)
    with pytest.raises(ParameterError, match="norht"):
        federation.to_ask(*where, MEAN, ["norht"])
    with pytest.raises(ParameterError, match="min_agencies"):
        federation.set_up(*where, active=True, policy="min_agencies = 2")
    with pytest.raises(NotFoundError, match="waits"):
        federation.decide(*where, "0" * 32, join=True)
    other = house.parts.projects.create(house.owner, "Another")
    with pytest.raises(ConflictError, match="another project"):
        federation.set_up(house.owner, other, active=True, policy=FIRST_POLICY)


def test_a_house_without_keys_is_no_agency(parts, people, project):
    federation = Federation(parts.store, parts.settings)
    assert not federation.state(people["custodian"], project)["agency"]["set_up"]
    with pytest.raises(NotAllowedError, match="no agency"):
        federation.set_up(people["custodian"], project, active=True, policy="")
    with pytest.raises(NotAllowedError, match="may ask no"):
        federation.to_ask(people["custodian"], project, MEAN)


def test_every_analysis_of_records_is_offered():
    assert {"ols", "mean", "logistic", "contingency"} <= set(analyses())
