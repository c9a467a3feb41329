"""Trees as synthpop draws from by default: leaves of five, nothing pruned, values of the leaf.

The algorithm and not the program: the trees are those of scikit-learn, with categories coded by
how frequent they are, as rpart and R are not at hand. For the utility that such trees reach, and
its price.
"""

from __future__ import annotations

import numpy as np
import polars as pl


def _codes(column: pl.Series) -> np.ndarray:
    if column.dtype.is_numeric():
        return np.nan_to_num(column.cast(pl.Float64).to_numpy(), nan=-1.0)
    text = column.cast(pl.String).fill_null("?")
    order = text.value_counts(sort=True)[column.name].to_list()
    return text.replace_strict({v: i for i, v in enumerate(order)}).to_numpy().astype(float)


def synthetic(frame: pl.DataFrame, seed: int, leaf: int = 5) -> pl.DataFrame:
    """Draw each column from the leaves of a tree on the columns before it."""
    rng, n = np.random.default_rng(seed), frame.height
    codes = np.column_stack([_codes(frame[c]) for c in frame.columns])
    made, columns = np.empty_like(codes), []
    for j, name in enumerate(frame.columns):
        if j == 0:
            donor = rng.integers(0, n, n)
        else:
            is_number = frame[name].dtype.is_numeric()
            donor = _donors(codes[:, : j + 1], made[:, :j], is_number, leaf, rng)
        made[:, j] = codes[donor, j]
        columns.append(frame[name].gather(donor))
    return pl.DataFrame(columns)


def _donors(
    known: np.ndarray, made: np.ndarray, is_number: bool, leaf: int, rng: np.random.Generator
) -> np.ndarray:
    from sklearn.tree import DecisionTreeClassifier, DecisionTreeRegressor

    kind = DecisionTreeRegressor if is_number else DecisionTreeClassifier
    tree = kind(min_samples_leaf=leaf, random_state=0).fit(known[:, :-1], known[:, -1])
    old, new = tree.apply(known[:, :-1]), tree.apply(made)
    order = np.argsort(old, kind="stable")
    first, last = (np.searchsorted(old[order], new, side) for side in ("left", "right"))
    return order[first + (rng.random(len(new)) * (last - first)).astype(np.int64)]
