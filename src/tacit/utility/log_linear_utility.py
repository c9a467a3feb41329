"""Log-linear model utility: does the best model of the original's table fit the release's."""

from __future__ import annotations

from typing import Annotated, Any, Literal

import numpy as np
from annotated_types import Ge, Gt

from tacit.core.data import Microdata
from tacit.core.errors import DataError
from tacit.core.families import Utility
from tacit.core.measurement import Measurement
from tacit.core.method import Columns
from tacit.core.pairing import pair
from tacit.utility._log_linear import Fit, LogLinearModel, fitted, log_likelihood, searched
from tacit.utility._tables import SharedCodes, chosen_codes, objection_to_tables, recoded_warnings

_MOST_CELLS = 500_000
_MOST_COLUMNS = 8
_USUAL_CELLS = 20_000


class LogLinearUtility(
    Utility,
    key="log-linear-utility",
    title="Log-linear model utility",
    cites=("karr2004", "gomatam2005"),
    example={"columns": ["sex", "education", "marital"]},
):
    r"""Measure whether the best log-linear model of the original's table holds for the release.

    0 means that it fits as well as before; the further below, the more of the relations between
    categories has gone.

    Missing values: a gap is a category. Weights: not used; a log-likelihood counts records.
    Households: not considered.

    Notes
    -----
    The model :math:`M^*` is searched on the table of the original among the hierarchical log-linear
    models with interactions of at most `largest` variables: terms are added one by one while AIC or
    BIC falls, then taken out again while it falls. Then, (3) of [karr2004]_,

    .. math:: DU_{llm} = L_{M^*}(D_{post}) - L_{M^*}(D_{pre}), \qquad
       L_M(n) = \sum_c n_c \log \hat\pi_c .

    Swapping keeps the margins of single variables, so that it can only weaken relations and
    :math:`DU_{llm}` is below zero. Other methods make categories less evenly used, which raises a
    log-likelihood; a constant file has the largest. So :math:`DU_{llm}` is split into the change
    :math:`D_1` of the log-likelihood of independent variables and the rest, :math:`D_2`, that of
    their relations, and the value is :math:`-|D_1| - |D_2|`: the paper's where margins are kept,
    and never above zero. Its own number is in ``details["du_llm"]``.

    The paper gives the model by its sufficient margins, so its parameters are fitted to each table;
    ``likelihood = "fitted"`` keeps those of the original, which makes a combination that the
    original does not have impossible and the value minus infinity; it is not split. What each
    relation of the model lost is in ``details["worst"]``. A release of another number of records is
    scaled to that of the original. Cells without records count as possible: with many categories
    AIC keeps too few interactions rather than too many [gomatam2005]_.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask, utility
    >>> data = tacit.datasets.census(1000)
    >>> model = utility.LogLinearUtility(columns=["sex", "marital", "education"])
    >>> release = tacit.Plan([mask.DataSwap(columns=["marital"], rate=0.5)]).apply(data, seed=1)
    >>> model.measure(data, data).value, model.measure(data, release).value < 0
    (0.0, True)
    """

    default = False

    columns: Columns | None = None
    """Columns of the table; by default those of few categories, up to 20 000 cells."""
    criterion: Literal["aic", "bic"] = "bic"
    """What the model is chosen by; BIC takes fewer interactions."""
    largest: Annotated[int, Ge(1)] = 3
    """Most variables that may interact."""
    likelihood: Literal["refitted", "fitted"] = "refitted"
    """Fit the model to the release too, or keep the parameters fitted to the original."""
    most_cells: Annotated[int, Gt(1)] = _MOST_CELLS
    """Larger tables are refused."""

    def objection(self, original: Microdata) -> str | None:
        """Say that there is no table to model."""
        return objection_to_tables(original, self.columns, 2)

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the change of the log-likelihood of the best model of the original."""
        codes, other = chosen_codes(pair(original, release), self.columns)
        if self.columns is None:
            codes = _small_enough(codes)
        before, after = _dense_tables(codes, self.most_cells)
        penalty = 2.0 if self.criterion == "aic" else float(np.log(before.sum()))
        best = searched(before, penalty, self.largest)
        change = self._change(best, before, after)
        value = change["value"]
        names = [[codes.columns[j] for j in sorted(g)] for g in best.model.generators]
        return Measurement(
            key=self.key, title=self.title, value=value, better="higher",
            bounds=(-np.inf, 0.0),
            details={
                "columns": codes.columns, "criterion": self.criterion, "generators": names,
                "parameters": best.model.n_parameters(before.shape), "cells": before.size,
                "log_likelihood": best.log_likelihood, "per_record": float(value / before.sum()),
                **{name: number for name, number in change.items() if name != "value"},
                "impossible_records": int(after[best.expected <= 0].sum()),
                "worst": _terms_lost(best, before, after, codes.columns),
            },
            explanation=_explanation(value, names, int(before.sum())),
            warnings=_warnings(best, other, "left out" if self.columns is None else "all new"),
        )  # fmt: skip

    def _change(self, best: Fit, before: np.ndarray, after: np.ndarray) -> dict[str, float]:
        """Return the value, DU_llm, and its parts by single variables and by relations."""
        scale, rounding = before.sum() / after.sum(), 1e-9 * max(abs(best.log_likelihood), 1.0)

        def exact(change: float) -> float:
            return 0.0 if abs(change) <= rounding else float(change)

        if self.likelihood == "fitted":
            reached = log_likelihood(after, best.expected) * scale
            change = exact(reached - best.log_likelihood)  # Eq. (3) of karr2004
            return {"value": 0.0 - abs(change), "du_llm": change}
        single = LogLinearModel.independence(before.ndim)
        reached = fitted(after, best.model).log_likelihood * scale
        change = exact(reached - best.log_likelihood)  # Eq. (3) of karr2004
        old, new = (fitted(t, single).log_likelihood for t in (before, after))
        margins = exact(new * scale - old)
        relations = exact(change - margins)
        value = 0.0 - abs(margins) - abs(relations)
        return {"value": value, "du_llm": change, "margins": margins, "relations": relations}


def _small_enough(codes: SharedCodes) -> SharedCodes:
    """Take the columns of fewest categories as long as their table stays small."""
    both = np.concatenate([codes.before, codes.after])
    levels = [len(np.unique(column)) for column in both.T]
    chosen: list[int] = []
    for j in sorted(range(len(levels)), key=lambda j: (levels[j], j)):
        cells = int(np.prod([levels[i] for i in [*chosen, j]]))
        if levels[j] > 1 and cells <= _USUAL_CELLS and len(chosen) < _MOST_COLUMNS:
            chosen.append(j)
    chosen.sort()
    if len(chosen) < 2:
        raise DataError("no two columns have few enough categories", do="name the columns")
    return SharedCodes(
        [codes.columns[j] for j in chosen], codes.before[:, chosen], codes.after[:, chosen],
        codes.weights,
    )  # fmt: skip


def _dense_tables(codes: SharedCodes, most: int) -> tuple[np.ndarray, np.ndarray]:
    """Count both files in the same table of all combinations."""
    both = np.concatenate([codes.before, codes.after])
    labels = [np.unique(column, return_inverse=True) for column in both.T]
    shape = tuple(len(values) for values, _ in labels)
    n_cells = int(np.prod([float(s) for s in shape]))
    if n_cells > most or len(shape) > _MOST_COLUMNS:
        raise DataError(
            "the table is too large for a log-linear model",
            got=f"{n_cells:,} cells of {len(shape)} columns",
            do=f"name at most {_MOST_COLUMNS} columns of fewer categories",
        )
    cells = np.ravel_multi_index([inverse for _, inverse in labels], shape)
    n = len(codes.before)
    before, after = (np.bincount(part, minlength=n_cells) for part in (cells[:n], cells[n:]))
    return before.reshape(shape).astype(float), after.reshape(shape).astype(float)


def _terms_lost(
    best: Fit, before: np.ndarray, after: np.ndarray, columns: list[str]
) -> list[dict[str, Any]]:
    """Say for each interaction of the model how much of its log-likelihood the release lost."""
    singles = LogLinearModel.independence(before.ndim)
    scale = before.sum() / after.sum()
    rows = []
    for term in (g for g in best.model.generators if len(g) > 1):
        together = LogLinearModel(singles.terms | {term})
        old, new = (
            fitted(t, together).log_likelihood - fitted(t, singles).log_likelihood
            for t in (before, after)
        )
        names = " by ".join(columns[j] for j in sorted(term))
        rows.append({"what": f"relation of {names}", "change": float(new * scale - old)})
    return sorted(rows, key=lambda row: row["change"])


def _warnings(best: Fit, recoded: list[str], verdict: str) -> tuple[str, ...]:
    said = recoded_warnings(recoded, verdict)
    return said if best.converged else (*said, "The fit did not settle; read it with care.")


def _explanation(value: float, names: list[list[str]], n: int) -> str:
    model = ", ".join(" × ".join(g) for g in names)
    if value == 0:
        return f"The model of the original, {model}, fits the release as well."
    if np.isinf(value):
        return f"The release has combinations that the model of the original, {model}, excludes."
    return (
        f"The log-likelihood of the model of the original, {model}, has changed by "
        f"{abs(value):.4g} on the release ({abs(value) / n:.3g} per record)."
    )
