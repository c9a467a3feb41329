"""Information loss 100 SSE/SST of the microaggregation methods on the CASC reference files.

MDAV's column equals the reference implementation (tests/golden/mdav). The column MD-MHM
(Domingo-Ferrer, Martinez-Balleste, Mateo-Sanz and Sebe, VLDB Journal 2006) is recalled and
unverified: no copy of a paper with such a table could be read from the machine this was written on.
Tables to check it against stand in doi:10.1007/s00778-006-0007-0, and, with later heuristics, in
doi:10.3390/sym10070262 and doi:10.3390/sym13060916.
"""

from __future__ import annotations

import numpy as np
import polars as pl
from measuring import cpu_seconds, markdown
from recipes import SHARED

from tacit.mask._grouped import group_means, standardised
from tacit.mask.mdav import mdav_groups
from tacit.mask.refined_microaggregation import refined_groups
from tacit.mask.v_mdav import v_mdav_groups

_QUOTED = {
    "Census": {3: 5.65},
    "Tarragona": {3: 16.98, 5: 22.53, 10: 33.18},
    "EIA": {3: 0.44, 5: 1.26, 10: 3.64},
}
_FILES = {"Census": "CASCrefmicrodata", "Tarragona": "Tarragona", "EIA": "EIA"}


def values_of(name: str) -> np.ndarray:
    table = pl.read_csv(SHARED / "casc" / f"{_FILES[name]}.csv")
    if name == "EIA":
        first = table.columns.index("RESREVENUE")
        table = table.select("UTILITYID", *table.columns[first : first + 10])
    return standardised(table.to_numpy().astype(float))


def loss(values: np.ndarray, groups: np.ndarray) -> float:
    return 100 * float(np.sum((values - group_means(values, groups)) ** 2) / np.sum(values**2))


def main() -> None:
    rows = []
    for name in _FILES:
        values = values_of(name)
        for k in (3, 5, 10):
            plain = loss(values, mdav_groups(values, k, standardise=False))
            variable = min(loss(values, v_mdav_groups(values, k, g)) for g in (0.2, 1.1))
            refined = [
                loss(values, refined_groups(values, k, np.random.default_rng(s))) for s in range(5)
            ]
            seconds = cpu_seconds(
                lambda v=values, k=k: refined_groups(v, k, np.random.default_rng(0))
            )
            rows.append([name, k, f"{plain:.4f}", f"{variable:.4f}", f"{np.mean(refined):.4f}",
                         f"{min(refined):.4f}", f"{np.mean(refined) / plain:.2f}", f"{seconds:.2f}",
                         _QUOTED[name].get(k, "")])  # fmt: skip
    header = ["file", "k", "MDAV", "V-MDAV (better gamma)", "refined, mean of 5 seeds", "best of 5",
              "refined / MDAV", "refined, CPU s", "MD-MHM (recalled, unverified)"]  # fmt: skip
    print(markdown(header, rows))


if __name__ == "__main__":
    main()
