"""One plan, one result: whatever kind of frame comes in, and the same kind goes out."""

from functools import cache

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from tests.engines.everywhere import IN_ENGINE, every, on_every_engine

import tacit
from tacit import mask
from tacit.core.constraints import AtLeast, NonNegative
from tacit.core.errors import TacitError

ENGINES = {
    "polars": (lambda table: table, pl.DataFrame),
    "polars lazy": (lambda table: table.lazy(), pl.LazyFrame),
    "pandas": (lambda table: table.to_pandas(), pd.DataFrame),
    "arrow": (lambda table: table.to_arrow(), pa.Table),
    "duckdb": (lambda table: duckdb.from_arrow(table.to_arrow()), duckdb.DuckDBPyRelation),
}
OTHERS = [name for name in ENGINES if name != "polars"]
"""Engines that are compared with Polars, which the expected results come from."""
PLAN = tacit.Plan(
    [
        mask.Recode(column="age", width=10),
        mask.Recode(column="region", level=1),
        mask.Recode(column="employed", mapping={"true": "yes", "false": "no"}),
        mask.Mdav(columns=["income", "taxes"], k=3),
        mask.TopCode(column="hours", quantile=0.9, replacement="mean"),
        mask.BottomCode(column="education", threshold="primary", replacement="category"),
        mask.Sample(fraction=0.6, by=["region", "sex"]),
        mask.Round(columns=["income"], base=50, direction="random"),
    ]
)
DATA = tacit.datasets.census(300, missing=0.05)
COMPLETE = tacit.datasets.census(300)


def entered(engine, data=DATA):
    """Bring the same records in by way of another engine, with the same schema."""
    build, _kind = ENGINES[engine]
    return tacit.Microdata.of(build(data.frame)).with_schema(data.schema)


@cache
def usable(method):
    """Return data that a method's example accepts: with missing values, or else without."""
    try:
        tacit.Plan([method(**method.example)]).apply(DATA, seed=5)
    except TacitError:
        return COMPLETE
    return DATA


@cache
def expected_of(method):
    """Return what Polars gives, once for all the engines that are compared with it."""
    return tacit.Plan([method(**method.example)]).apply(usable(method), seed=5)


@cache
def expected_alone(method):
    """Return what Polars gives without a plan."""
    data = usable(method)
    data = data.drop(data.schema.identifiers)  # a plan does this first
    return data, method(**method.example).apply(data, np.random.default_rng(3))


@cache
def expected_of_the_plan():
    return PLAN.apply(DATA, seed=11)


@cache
def expected_card():
    return expected_of_the_plan().measure()


def as_rows(frame):
    """Return any frame as rows of plain values, missing ones as None."""
    if isinstance(frame, pd.DataFrame):
        frame = pl.from_pandas(frame)
    elif isinstance(frame, pa.Table):
        frame = pl.from_arrow(frame)
    elif isinstance(frame, duckdb.DuckDBPyRelation):
        frame = frame.pl()
    elif isinstance(frame, pl.LazyFrame):
        frame = frame.collect()
    elif hasattr(frame, "to_pyarrow"):  # of Ibis
        frame = pl.from_arrow(frame.to_pyarrow())
    elif hasattr(frame, "toArrow"):  # of Spark
        frame = pl.from_arrow(frame.toArrow())
    return frame.columns, frame.rows()


@pytest.mark.parametrize("engine", ENGINES)
def test_same_plan_same_release(engine):
    release = PLAN.apply(entered(engine), seed=11)
    assert isinstance(release.frame, ENGINES[engine][1])
    assert as_rows(release.frame) == as_rows(expected_of_the_plan().frame)
    assert np.array_equal(release.rows, expected_of_the_plan().rows)


@pytest.mark.parametrize("engine", ENGINES)
def test_the_comparison_can_fail(engine):
    other = PLAN.apply(entered(engine), seed=12)
    assert as_rows(other.frame) != as_rows(expected_of_the_plan().frame)


@every(tacit.methods("mask"))
def test_every_method_on_every_engine(method, enter):
    expected = expected_of(method)
    data = enter(usable(method))
    release = expected.plan.apply(data, seed=5)
    assert type(release.frame) is type(data.frame)
    assert as_rows(release.frame) == as_rows(expected.frame)
    assert np.array_equal(release.rows, expected.rows)
    assert release.data.schema == expected.data.schema


@every(tacit.methods("mask"), IN_ENGINE)
def test_every_method_without_a_plan(method, enter):
    """A method called by itself works where the data are, also inside an engine."""
    data, expected = expected_alone(method)
    alone = method(**method.example).apply(enter(data), np.random.default_rng(3))
    assert alone.columns == expected.columns
    found, wanted = as_rows(alone.frame)[1], as_rows(expected.frame)[1]
    assert sorted(found, key=_order) == sorted(wanted, key=_order)


RECODINGS = {
    "mapping": mask.Recode(column="marital", mapping={"single": "alone", "widowed": "alone"}),
    "numbers": mask.Recode(column="hours", mapping={"40": "full"}, other="else"),
    "width": mask.Recode(column="income", width=5000),
    "bins": mask.Recode(column="age", bins=[18, 40, 65]),
    "tree": mask.Recode(column="region", level=1),
    "tail": mask.TopCode(column="age", threshold=70, replacement="category"),
}


@pytest.mark.parametrize("step", RECODINGS)
@on_every_engine(["duckdb", "postgresql"])
def test_every_way_of_recoding_works_inside_the_engine(step, enter):
    data = DATA.drop(DATA.schema.identifiers)
    there = RECODINGS[step].apply(enter(data), np.random.default_rng(3))
    here = RECODINGS[step].apply(data, np.random.default_rng(3))
    assert there.lazy.implementation is not here.lazy.implementation
    column = RECODINGS[step].column
    assert there.local[column].to_list() == here.local[column].to_list()
    assert there.schema[column] == here.schema[column]


@on_every_engine(["duckdb", "postgresql"])
def test_broken_edit_rules_are_counted_inside_the_engine(enter):
    kept = AtLeast(larger="income", smaller="taxes"), NonNegative(column="age")
    data = DATA.with_constraints(*kept, AtLeast(larger="taxes", smaller="income"))
    counted = enter(data).broken_constraints()
    assert counted == data.broken_constraints()
    assert any(counted.values())


def _order(row):
    """Sort rows of an engine that promises no order; 1 and 1.0 are the same."""
    return [str(float(v)) if isinstance(v, int | float) else str(v) for v in row]


@pytest.mark.parametrize("engine", ENGINES)
def test_the_frame_that_came_in_is_untouched(engine):
    build, _kind = ENGINES[engine]
    frame = build(DATA.frame)
    PLAN.apply(tacit.Microdata.of(frame).with_schema(DATA.schema), seed=1)
    assert as_rows(frame) == as_rows(DATA.frame)


@pytest.mark.parametrize("engine", OTHERS)
def test_the_scorecard_is_the_same(engine):
    card = PLAN.apply(entered(engine), seed=11).measure()
    expected = expected_card()
    assert {m.key: m.value for m in card} == pytest.approx(
        {m.key: m.value for m in expected}, nan_ok=True
    )
    assert card.left_out == expected.left_out


def test_pandas_index_and_types_come_back_clean():
    frame = pd.DataFrame(
        {"x": pd.array([11, 25, 39], dtype="int32"), "c": pd.Categorical(["a", "b", "a"])},
        index=["Ann", "Bob", "Cid"],
    )
    released = tacit.Plan([mask.Sample(size=2)]).apply(frame, seed=1).frame
    assert released.index.tolist() == [0, 1]
    assert released["x"].dtype == np.dtype("int32")
    assert isinstance(released["c"].dtype, pd.CategoricalDtype)
