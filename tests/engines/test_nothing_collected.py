"""Nothing big leaves an engine in silence: each call stays below the limit or refuses with advice.

Every frame that leaves DuckDB is weighed while every method of the registry runs, with a limit far
below the size of the file.
"""

import duckdb
import narwhals as nw
import numpy as np
import pytest
from tests.engines.everywhere import IN_ENGINE, on_every_engine

import tacit
from tacit import mask, query, tables
from tacit.core.engine import collecting_at_most
from tacit.core.errors import DataError, TacitError

DATA = tacit.datasets.census(400)
SECRET = "a long and secret phrase"  # noqa: S105
LIMIT = 150
"""Values; a single column of the file has more."""
RECORD_METHODS = [m for f in ("mask", "risk", "utility") for m in tacit.methods(f)]


@pytest.fixture
def weighed(monkeypatch):
    """Return a list to which every frame that is collected adds its number of values."""
    sizes, plain = [], nw.LazyFrame.collect

    def collect(self, *arguments, **options):
        found = plain(self, *arguments, **options)
        if self.implementation is nw.Implementation.DUCKDB:
            sizes.append(found.shape[0] * found.shape[1])
        return found

    monkeypatch.setattr(nw.LazyFrame, "collect", collect)
    return sizes


def in_duckdb(frame):
    return duckdb.from_arrow(frame.to_arrow())


def refusal(work):
    """Return what a call with a low limit says, or nothing if it went through."""
    with collecting_at_most(LIMIT):
        try:
            work()
        except TacitError as error:
            return str(error)
    return ""


@pytest.mark.parametrize("method", RECORD_METHODS, ids=lambda m: f"{m.family}-{m.key}")
def test_no_method_collects_beyond_the_limit(method, weighed, monkeypatch):
    monkeypatch.setattr("tacit.core.engine_keys.MANY_RECORDS", 10)
    monkeypatch.setattr("tacit.core.engine_quantile._FEW", 10)  # as if the column were long
    monkeypatch.setattr("tacit.core.engine_quantile._N_BINS", 16)
    data = tacit.Microdata.of(in_duckdb(DATA.frame)).with_schema(DATA.schema)
    step = method(**method.example)
    if method.family == "mask":
        said = refusal(lambda: step.apply(data, np.random.default_rng(1)))
    else:
        said = refusal(lambda: step.measure(data, data))
    assert weighed
    assert max(weighed) <= LIMIT + 20  # one row beyond the limit shows that there are more
    if method.at_scale == "native":
        assert "more than may be collected" not in said or method.family == "risk"
    assert "got" in said or not said


@on_every_engine(IN_ENGINE)
def test_a_plan_beyond_the_limit_is_refused_on_every_engine(enter):
    plan = tacit.Plan([tacit.find("mdav", "mask")(columns=["income"])])
    data = enter(DATA)
    with collecting_at_most(LIMIT), pytest.raises(DataError) as refused:
        plan.apply(data, seed=1)
    for part in ("more than may be collected", "400 records", "blocks=10_000", "TACIT_COLLECT"):
        assert part in str(refused.value)


@pytest.mark.parametrize(
    ("work", "says"),
    [
        (lambda f: tacit.tabulate(f, ["person_id"]), "cells of the table"),
        (lambda f: tacit.tabulate(f, ["sex"], "income", unit="person_id"), ""),
        (lambda f: query.Source(f, unit="person_id"), ""),
        (lambda f: query.Server(query.Source(f, unit="person_id", categories=["sex"], numbers=[]),
                                "strict", secret=SECRET), "with_record_keys"),
        (lambda f: tables.with_record_keys(f, SECRET, unit="person_id"), ""),
        (lambda f: mask.Recode(column="person_id", mapping={"P00000001": "1"}, other="2").apply(
            tacit.Microdata.of(f), None), ""),
        (lambda f: mask.Recode(column="income", width=0.5).apply(tacit.Microdata.of(f), None),
         "choose wider classes"),
    ],
    ids=["cells", "units", "source", "server", "keys", "mapping", "classes"],
)  # fmt: skip
def test_tables_and_queries_collect_no_more_than_the_limit(work, says, weighed):
    said = refusal(lambda: work(in_duckdb(DATA.frame)))
    assert (says in said) if says else not said
    assert max(weighed, default=0) <= LIMIT + 20
