"""Durations that may be censored: trees of martingale residuals, draws by event."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from tacit.core.errors import DataError
from tacit.mask.synthesis.predictors import View
from tacit.mask.synthesis.synthesisers import cart
from tacit.mask.synthesis.synthesisers.model import Bounds, Fit, Settings, Target, is_shared


@dataclass(frozen=True)
class Survival:
    """A tree whose leaves hold the durations of each kind of end by themselves."""

    event: int
    """Place of the event among the predictors."""
    everyone: cart.Tree
    by_event: dict[int, cart.Tree]

    def draw(self, new: View, bounds: Bounds, rng: np.random.Generator) -> np.ndarray:
        """Draw durations of records that ended alike."""
        from tacit.mask.synthesis import _leaf_kernel as kernel

        leaf = kernel.leaf_of(new.codes, new.is_nominal, *self.everyone.nodes)
        ends = new.values[self.event]
        drawn = np.empty(new.n)
        for end in np.unique(ends):
            tree = self.by_event.get(int(end), self.everyone)
            alike = ends == end
            there = alike & (tree.last[leaf] > tree.first[leaf])
            for rows, source in ((there, tree), (alike & ~there, self.everyone)):
                at = np.flatnonzero(rows)
                if len(at):
                    drawn[at] = source.draw(new.take(at), bounds.take(at), rng)
        return drawn


def fit_survival(event: str) -> Fit:
    """Return the fit of durations whose end is told by a column drawn before them."""

    def fit(target: Target, seen: View, settings: Settings, rng: np.random.Generator) -> Survival:
        place = [c.name for c in seen.codings].index(event)
        ends = seen.values[place].astype(np.int64)
        if not seen.codings[place].column.is_class or len(np.unique(ends[ends >= 0])) > 2:
            raise DataError(f"the event {event!r} must have two classes: censored, and ended")
        residuals = martingale_residuals(target.values, ends == ends.max())
        everyone = cart.fit(target, seen, settings, rng, split_on=residuals)
        order = _leaf_order(everyone, seen)
        trees = {
            int(end): _only(everyone, order, target, ends == end, settings)
            for end in np.unique(ends)
        }
        return Survival(place, everyone, trees)

    return fit


def martingale_residuals(time: np.ndarray, ended: np.ndarray) -> np.ndarray:
    r"""Return :math:`\delta_i - \hat H(t_i)` with the Nelson-Aalen estimate [therneau1990]_.

    Examples
    --------
    >>> martingale_residuals(np.array([1.0, 2.0]), np.array([True, True])).tolist()
    [0.5, -0.5]
    """
    distinct, number = np.unique(time, return_inverse=True)
    events = np.bincount(number, ended.astype(np.float64), minlength=len(distinct))
    at_risk = len(time) - np.concatenate([[0], np.cumsum(np.bincount(number))[:-1]])
    hazard = np.cumsum(events / at_risk)
    return np.asarray(ended.astype(np.float64) - hazard[number])


def _leaf_order(tree: cart.Tree, seen: View) -> np.ndarray:
    """Return the records leaf by leaf, as the tree counts them."""
    from tacit.mask.synthesis import _leaf_kernel as kernel

    leaf = kernel.leaf_of(seen.codes, seen.is_nominal, *tree.nodes)
    return np.argsort(tree.first[leaf], kind="stable")


def _only(
    tree: cart.Tree, order: np.ndarray, target: Target, kept: np.ndarray, settings: Settings
) -> cart.Tree:
    """Return the same tree with some of its records."""
    from tacit.mask.synthesis import _leaf_kernel as kernel

    before = np.concatenate([[0], np.cumsum(kept[order])])
    first, last = before[tree.first], before[tree.last]
    ordered = kernel.sort_leaves(tree.nodes[0], first, last, order[kept[order]], target.values)
    shared = is_shared(ordered, target, settings.common)
    return replace(tree, first=first, last=last, values=ordered, shared=shared)
