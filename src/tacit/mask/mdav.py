"""Microaggregation by MDAV."""

from __future__ import annotations

import numpy as np

from tacit.core.gpu import Device, enough_memory, gpu_arrays
from tacit.core.progress import Advance, track
from tacit.mask._grouped import MeansOfGroups, standardised
from tacit.mask._whole_units import whole_units

_STEPS_PER_REPORT = 256
"""Pairs of groups formed between two progress reports, where an interrupt is noticed."""


class Mdav(
    MeansOfGroups,
    key="mdav",
    title="Microaggregation (MDAV)",
    cites=("domingoferrer2005", "domingoferrer2007"),
    example={"columns": ["income", "taxes"], "k": 3},
    at_scale="blocks",
):
    r"""Replace values by the mean of groups of at least ``k`` similar records.

    Missing values: records are grouped with records that miss the same columns; where fewer than
    ``k`` records share a pattern, all the columns are blanked on them, and on one more group if
    fewer than ``k`` records are blank then. Weights: means are
    weighted where the schema has a weight, so that weighted totals are kept. Households: not
    considered; records are grouped one by one.

    When not to use it: on large files, where refined microaggregation is faster and loses less, or
    on variables with few distinct values, whose means fall between them.

    Notes
    -----
    The steps are those of DF07 [domingoferrer2007]_: the record :math:`x_r` farthest from the mean
    of the free records, and the record :math:`x_s` farthest from :math:`x_r`, each form a group
    with their :math:`k-1` nearest free records, until fewer than :math:`3k` are left. The aim is a
    small within-groups sum of squares

    .. math:: SSE = \sum_{i=1}^{g} \sum_{j=1}^{n_i} (x_{ij} - \bar x_i)'(x_{ij} - \bar x_i).

    Distances are Euclidean on standardised columns. The cost is about :math:`n^2/k`: a graphics
    processor (``device="gpu"``) makes a million records a matter of seconds, with the same groups.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> data = tacit.datasets.patients()
    >>> ages = tacit.Plan([mask.Mdav(columns=["Age"], k=2)]).apply(data, seed=1).frame["Age"]
    >>> ages.to_list()
    [44.0, 44.0, 55.0, 44.5, 55.0, 50.0, 30.0, 30.0, 50.0, 44.5]
    """

    standardise: bool = True
    """Give all columns the same weight in distances, whatever their units."""
    device: Device = "cpu"
    """Where distances are computed; the groups are the same."""

    def _groups(self, values: np.ndarray, rng: np.random.Generator) -> np.ndarray:
        return mdav_groups(values, self.k, standardise=self.standardise, device=self.device)

    def describe(self) -> str:
        """Say in plain words what this method does with these parameters."""
        return (
            f"{self.title}: the values of {', '.join(self.columns)} were replaced by the means of "
            f"groups of at least {self.k} similar records"
        )


def mdav_groups(
    values: np.ndarray, k: int, *, standardise: bool = True, device: Device = "cpu"
) -> np.ndarray:
    """Return the MDAV group (0, 1, ...) of each record of a complete numeric array."""
    # A copy, always: the kernels move records about.
    X = np.array((standardised(values) if standardise else values).T, order="C")
    form = _formed_on_gpu if device == "gpu" else _formed
    with track("microaggregation", len(values)) as advance:
        return form(X, *whole_units(X), k, advance)


def _formed(
    X: np.ndarray, total: np.ndarray, scale: np.ndarray, k: int, advance: Advance
) -> np.ndarray:
    from tacit.mask import _mdav_kernel as kernel

    n_records = X.shape[1]
    ids, position = np.arange(n_records), np.arange(n_records)
    groups = np.full(n_records, -1, dtype=np.int64)
    candidates = np.empty(min(kernel._CANDIDATES, n_records), dtype=np.int64)
    reference, state, counters = (
        np.zeros_like(scale),
        np.array([0.0, -1.0]),
        np.array([n_records, 0]),
    )
    done = False
    while not done:
        before = counters[0]
        done = kernel.form_pairs(
            X, ids, position, groups, total, scale, reference, candidates, state,
            counters, k, _STEPS_PER_REPORT,
        )  # fmt: skip
        advance(int(before - counters[0]))
    kernel.close(X, ids, position, groups, total, scale, counters, k)
    return groups


def _formed_on_gpu(
    X: np.ndarray, total: np.ndarray, scale: np.ndarray, k: int, advance: Advance
) -> np.ndarray:
    from tacit.mask._mdav_gpu import CudaRecords, formed

    arrays = gpu_arrays(by=Mdav.key)
    with enough_memory(arrays, by=Mdav.key):
        return formed(CudaRecords(arrays, X, total, scale, k), X.shape[1], scale, k, advance)
