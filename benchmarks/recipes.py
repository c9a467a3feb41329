"""Benchmark data: the recipes of shared/spec/peers-microdata.md, so that peers' figures compare."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import polars as pl

import tacit

SHARED = Path(__file__).resolve().parents[2] / "shared" / "data"


def normal(n: int, p: int = 6) -> pl.DataFrame:
    """Standard normal columns x0, x1, ..."""
    values = np.random.default_rng(1).standard_normal((n, p))
    return pl.DataFrame({f"x{j}": values[:, j] for j in range(p)})


def survey(n: int) -> tacit.Microdata:
    """Households resampled from sdcMicro's testdata with 5 % of each key redrawn (cat_n)."""
    source = pl.read_csv(SHARED / "casc" / "testdata.csv").to_dict(as_series=False)
    table = {name: np.asarray(values) for name, values in source.items()}
    order = np.argsort(table["ori_hid"], kind="stable")
    ids, starts = np.unique(table["ori_hid"][order], return_index=True)
    bounds = np.append(starts, len(order))
    rng = np.random.default_rng(1)
    drawn = rng.integers(0, len(ids), n)
    sizes = bounds[drawn + 1] - bounds[drawn]
    n_households = int(np.searchsorted(np.cumsum(sizes), n)) + 1
    drawn, sizes = drawn[:n_households], sizes[:n_households]
    within = np.arange(sizes.sum()) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    rows = order[np.repeat(bounds[drawn], sizes) + within][:n]
    out = {name: values[rows] for name, values in table.items()}
    out["hid"] = np.repeat(np.arange(1, n_households + 1), sizes)[:n]
    for key in ("urbrur", "roof", "walls", "water", "electcon", "relat", "sex"):
        redrawn = rng.random(n) < 0.05
        levels = np.unique(out[key])
        out[key] = np.where(redrawn, levels[rng.integers(0, len(levels), n)], out[key])
    for name in ("expend", "income", "savings"):
        out[name] = out[name] * np.exp(0.1 * rng.standard_normal(n))
    out["w"] = rng.integers(20, 201, n)
    out["ageg"] = out["age"] // 5
    keys = ["urbrur", "roof", "walls", "water", "electcon", "relat", "sex", "ageg"]
    return tacit.Microdata.of(pl.DataFrame(out)).with_roles(keys=keys, household="hid", weight="w")


def areas(n: int) -> tacit.Microdata:
    """Persons in households in three levels of areas (swap_n)."""
    rng = np.random.default_rng(1)
    sizes = rng.integers(1, 7, n)
    sizes = sizes[: int(np.searchsorted(np.cumsum(sizes), n)) + 1]
    n_households, n_persons = len(sizes), int(sizes.sum())
    nuts1 = rng.integers(1, 4, n_households)
    nuts2 = nuts1 * 10 + rng.integers(1, 6, n_households)
    nuts3 = nuts2 * 100 + rng.integers(1, 16, n_households)
    columns = {
        "hid": np.arange(n_households), "nuts1": nuts1, "nuts2": nuts2, "nuts3": nuts3,
        "hsize": sizes, "htype": rng.integers(1, 11, n_households),
        "hincome": rng.integers(1, 11, n_households),
    }  # fmt: skip
    table = pl.DataFrame({name: np.repeat(values, sizes) for name, values in columns.items()})
    persons = {
        "ageGroup": rng.integers(1, 8, n_persons),
        "gender": rng.integers(1, 3, n_persons),
        "national": rng.integers(1, 6, n_persons),
    }
    return tacit.Microdata.of(table.with_columns(**{k: pl.Series(v) for k, v in persons.items()})
                              ).with_roles(household="hid")  # fmt: skip
