"""Tasks of the harness that make synthetic records, and how near these are to the real ones."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from capability import Work
from measuring import pairs_distance


@lru_cache(1)
def people(n: int) -> Any:
    import tacit

    return tacit.datasets.census(n).frame.drop("person_id", "household", "weight")


def trees(n: int) -> Work:
    import tacit
    from tacit import mask

    table = people(n)
    return lambda: tacit.Plan([mask.Synthesise()]).apply(table, seed=1)


def copula(n: int) -> Work:
    import tacit
    from tacit import mask

    table = people(n)
    return lambda: tacit.Plan([mask.CopulaSynthesis()]).apply(table, seed=1)


def bare_trees(n: int) -> Work:
    """Grow one tree per column with scikit-learn, and nothing else."""
    import polars as pl

    codes = people(n).select(pl.all().rank("dense").fill_null(0)).to_numpy()

    def work() -> None:
        from sklearn.tree import DecisionTreeRegressor

        for j in range(1, codes.shape[1]):
            tree = DecisionTreeRegressor(min_samples_leaf=5, min_impurity_decrease=1e-8)
            tree.fit(codes[:, :j], codes[:, j]).apply(codes[:, :j])

    return work


def distance(release: Any) -> str:
    """Say how far the tables of all pairs of columns are from those of the original."""
    before, after = release.original.local, release.frame
    columns = [{name: side[name].to_list() for name in after.columns} for side in (before, after)]
    return f"pairs differ by {pairs_distance(*columns):.3f}"
