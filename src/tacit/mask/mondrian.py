"""Mondrian multidimensional generalisation."""

from __future__ import annotations

from typing import Literal

import numpy as np

from tacit.core.data import Microdata
from tacit.core.errors import ProtectionError
from tacit.core.keys import encode, group_ids
from tacit.core.method import Columns
from tacit.mask._mondrian_axes import Axis, axes
from tacit.mask._mondrian_labels import released
from tacit.mask._privacy_models import ConditionedMask, Conditions


class Mondrian(
    ConditionedMask,
    key="mondrian",
    title="Multidimensional generalisation (Mondrian)",
    cites=("lefevre2006", "machanavajjhala2007", "li2007", "truta2006"),
    example={"keys": ["region", "sex", "age", "education"], "k": 5},
):
    r"""Cut the space of the keys into boxes of at least ``k`` records, fine where records are many.

    Every record of a box gets the same keys: the range of the box, or its centre.

    Missing values: records are first divided by which keys they miss, and a key stays missing;
    where too few records miss the same keys, all their keys are blanked, and those of the smallest
    boxes too until the blank records meet the conditions themselves. Missing confidential values
    are read as in `Generalise`.
    Weights are not used; records are counted one by one.
    Households are not considered.

    Notes
    -----
    A box is cut in two at the median of one key, the one whose values in the box span the largest
    share of the key's whole domain, as long as both halves meet the conditions; else the next key
    is tried, and a box that no key can divide is final [lefevre2006]_. Its size is below
    :math:`2dk` plus ties for :math:`d` keys, and the work grows as :math:`n\log n`. With ``strict``
    equal values stay together, so that boxes do not overlap; otherwise ties at the median are
    shared between the halves, which makes smaller boxes that do overlap.

    Numbers, dates and ordinal categories have their own order. The leaves of a nominal key with a
    hierarchy are ordered as in the tree and cut only between children of the lowest label that
    covers the box; a nominal key without one is cut in alphabetical order.

    Conditions on confidential values (diversity [machanavajjhala2007]_, closeness [li2007]_,
    p-sensitivity [truta2006]_) are those of `Generalise`; each cut is made only if both halves meet
    them. In a range release numbers read ``[20, 34]``, ordinal categories ``low - high``, nominal
    ones are the lowest common label of their tree or a set ``{a, b}``.

    When not to use it: where users need the same categories on all records, as for tables; the
    ranges of different boxes do not line up, so use `Generalise` then.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask
    >>> keys = ["region", "sex", "age"]
    >>> plan = tacit.Plan([mask.Mondrian(keys=keys, k=5)])
    >>> frame = plan.apply(tacit.datasets.census(500), seed=1).frame
    >>> bool(frame.group_by(keys).len()["len"].min() >= 5)
    True
    """

    keys: Columns | None = None
    """Variables of any kind whose space is cut; by default all keys of the schema."""
    strict: bool = True
    """Keep equal values together, so that boxes do not overlap."""
    release: Literal["range", "centre"] = "range"
    """What stands for a box: its range as text, or the mean, median category or mode."""

    def describe(self) -> str:
        """Say in plain words what the boxes meet."""
        keys = "all keys" if self.keys is None else ", ".join(self.keys)
        return f"{self.title} of {keys}: {self.models.describe()}; released as {self.release}"

    def apply(self, data: Microdata, rng: np.random.Generator) -> Microdata:
        """Return the records with the common keys of their boxes."""
        data = data.in_memory()
        names = self.key_names(data)
        conditions = self.models.bound_to(data)
        found = axes(data, names)
        boxes = mondrian_boxes(found, conditions, strict=self.strict)
        release = released(data, found, boxes, self.release)
        _verify(release, names, conditions)
        return release


def mondrian_boxes(found: list[Axis], conditions: Conditions, *, strict: bool = True) -> np.ndarray:
    """Return the box of each record, -1 where all keys must be blanked."""
    missing = np.column_stack([axis.codes < 0 for axis in found])
    pattern, n_patterns = group_ids(missing.astype(np.int32))
    order = np.argsort(pattern, kind="stable")
    parts = np.split(order, np.cumsum(np.bincount(pattern, minlength=n_patterns))[:-1])
    boxes, n_boxes = np.full(len(pattern), -1, dtype=np.int64), 0
    # Of boxes of one size those that miss most are blanked first: they lose least.
    for rows in sorted(parts, key=lambda rows: -int(missing[rows[0]].sum())):
        if missing[rows[0]].all() or not conditions.hold(rows):
            continue
        here = [axis for j, axis in enumerate(found) if not missing[rows[0], j]]
        inside = _boxes_of(rows, here, conditions, strict=strict)
        boxes[rows] = inside + n_boxes
        n_boxes += int(inside.max()) + 1
    return _with_blanks_hidden(boxes, n_boxes, conditions)


def _with_blanks_hidden(boxes: np.ndarray, n_boxes: int, conditions: Conditions) -> np.ndarray:
    """Blank the smallest boxes too until the blanked records meet the conditions.

    Records that are blanked look alike, so they are a class like any other. The number of boxes is
    doubled until they do, so that hard conditions do not take a look per box.
    """
    blank = boxes < 0
    if not blank.any() or conditions.hold(np.flatnonzero(blank)):
        return boxes
    order = np.argsort(np.bincount(boxes[~blank], minlength=n_boxes), kind="stable")
    n_more = 1
    while n_boxes:
        tried = np.where(np.isin(boxes, order[:n_more]), -1, boxes)
        if conditions.hold(np.flatnonzero(tried < 0)):
            return tried
        if n_more >= n_boxes:
            break
        n_more *= 2
    raise ProtectionError(
        "even all records together do not meet the conditions",
        got=conditions.models.describe(),
        do="ask for less",
    )


def _boxes_of(
    rows: np.ndarray, here: list[Axis], conditions: Conditions, *, strict: bool
) -> np.ndarray:
    from tacit.mask import _mondrian_kernel as kernel

    points = np.column_stack([axis.codes[rows] for axis in here]).astype(np.int32)
    values = np.empty((len(rows), len(conditions.columns)), dtype=np.int32)
    for j, column in enumerate(conditions.columns):
        values[:, j] = column.codes[rows]
    starts = kernel.cut(
        points, order := np.arange(len(rows)), values, conditions.k, strict,
        kernel.axis_arguments(here), kernel.condition_arguments(conditions.columns),
    )  # fmt: skip
    boxes = np.empty(len(rows), dtype=np.int64)
    boxes[order] = np.repeat(np.arange(len(starts) - 1), np.diff(starts))
    return boxes


def _verify(release: Microdata, names: list[str], conditions: Conditions) -> None:
    """Count the classes of the release itself, and refuse it if one fails."""
    groups, n_groups = group_ids(encode(release, names))
    fails = conditions.failing(groups, n_groups)[groups]
    if fails.any():
        raise ProtectionError(
            "the release does not meet the conditions it promises",
            got=f"{int(fails.sum())} records in failing classes",
            do="please report this with the hierarchies used",
        )
