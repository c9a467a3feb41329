"""A plan on data beyond memory: each step in the engine or block by block."""

from __future__ import annotations

import time
from dataclasses import replace
from typing import TYPE_CHECKING, Any

import narwhals as nw
import numpy as np

from tacit.core.block_task import Assigner, BlockTask, Sampler
from tacit.core.blocks import (
    TARGET,
    Numbering,
    Partition,
    checked_size,
    require_some,
    sample_share,
    too_large,
)
from tacit.core.data import ROW, Microdata
from tacit.core.engine import collecting_at_most
from tacit.core.errors import PlanError
from tacit.core.progress import track
from tacit.core.release import Release, Step
from tacit.core.rng import step_generator

if TYPE_CHECKING:
    from tacit.core.families import Mask
    from tacit.core.plan import Plan

_SMALL = 5_000_000
"""Values that a step inside an engine may collect: categories, counts, the values of one bin."""


def apply_in_blocks(plan: Plan, original: Microdata, seed: int, size: int) -> Release:
    """Apply a plan without ever holding all records: in the engine, or block by block.

    Direct identifiers are removed first. The result is in the order of the original.
    """
    from tacit.core.plan import explaining, without_identifiers

    _check(plan, size)
    carrier = carrier_of(original)
    entered = carrier.enter(original)
    current, steps = entered, []
    identifiers = current.schema.identifiers
    if identifiers:
        current = without_identifiers(current, identifiers)
        note = f"Direct identifiers removed: {', '.join(identifiers)}"
        steps.append(Step(note, "Direct identifiers removed", 0.0, len(current)))
    with track("applying the plan", len(plan)) as advance, explaining(identifiers):
        for number, method in enumerate(plan):
            started = time.perf_counter()
            current = _applied(method, current, carrier, size, seed, number)
            seconds = time.perf_counter() - started
            note = f"{method.describe()} ({_manner(method, size)})"
            steps.append(Step(note, method.public_note(), seconds, len(current)))
            advance(1)
    in_memory = original.lazy.implementation is nw.Implementation.POLARS
    data = carrier.leave(current, original)
    return Release(original if in_memory else entered, data, plan, seed, tuple(steps), blocks=size)


def _check(plan: Plan, size: int) -> None:
    for method in plan:
        if method.at_scale == "collect":
            raise PlanError(
                f"{method.key} needs all records in memory at once, and cannot work in blocks",
                do="leave it out, apply the plan without blocks to data that fit in memory, or "
                "choose a method that works per block (see the page 'What runs where')",
            )
        objection = method.objection_to_blocks()
        if objection is not None:
            raise PlanError(f"{method.key} in blocks: {objection}")
        checked_size(size, method)


def _manner(method: Mask, size: int) -> str:
    return (
        "in the engine" if method.at_scale == "native" else f"in blocks of about {size:,} records"
    )


def carrier_of(data: Microdata) -> Any:
    """Return what moves blocks about: Spark for its own data, DuckDB for all others."""
    if data.lazy.implementation is nw.Implementation.PYSPARK:
        from tacit.core.block_spark import SparkCarrier

        return SparkCarrier(data.lazy.to_native().sparkSession)
    from tacit.core.block_duckdb import DuckDbCarrier

    return DuckDbCarrier.of(data)


def _applied(
    method: Mask, data: Microdata, carrier: Any, size: int, seed: int, number: int
) -> Microdata:
    if method.at_scale == "native":
        with collecting_at_most(_SMALL):
            return method.apply(data, step_generator(seed, number))
    return in_blocks(method, data, carrier, size, seed, (number, 0))


def in_blocks(
    method: Mask, data: Microdata, carrier: Any, size: int, seed: int, place: tuple[int, ...]
) -> Microdata:
    """Apply one method block by block."""
    n_records = data.n_records
    require_some(n_records)
    salt = _salt(seed, place)
    columns = (*data.columns, ROW)
    sample = carrier.filtered(data, Sampler(sample_share(n_records, size), salt))
    if sample.is_empty():  # few distinct records, and none of them was chosen
        sample = carrier.filtered(data, Sampler(1, salt))
    unmixed, similar = method.kept_together(data)
    share = sample.height / n_records
    partition = Partition.of(sample, unmixed, similar, TARGET * size * share)
    task = BlockTask(method, data.schema, columns, seed, place)
    schema, types = task.prototype(sample)
    staged = carrier.assigned(data, Assigner(partition, salt))
    counts = carrier.leaf_counts(staged, partition.n_leaves)
    buckets = carrier.bucket_counts(staged, too_large(counts, size))
    numbering = Numbering.of(counts, buckets, size)
    lazy = carrier.run(staged, numbering, replace(task, types=types))
    return replace(data, lazy=lazy, schema=schema)


def _salt(seed: int, place: tuple[int, ...]) -> int:
    """Return a secret number of the step: who shares a random block must not be foreseeable."""
    root = np.random.SeedSequence(entropy=seed, spawn_key=(*place, 1 << 31))
    return int(root.generate_state(1, np.uint64)[0])
