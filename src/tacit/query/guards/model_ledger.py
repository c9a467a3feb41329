"""How many numbers models may tell about a variable."""

from __future__ import annotations

import json
from collections import Counter
from math import prod
from typing import Annotated, ClassVar

from annotated_types import Gt

from tacit.query._model_request import formula_of
from tacit.query.analysis import Analysis
from tacit.query.formula import Factor, Formula
from tacit.query.guard import Context, Guard, Stage
from tacit.query.model import is_category
from tacit.query.source import MISSING, Registered


class ModelLedger(
    Guard,
    key="model-ledger",
    title="Limit of numbers that models tell",
    cites=("dinur2003",),
):
    r"""Refuse a model once too many numbers of models and tables would depend on a variable.

    A coefficient is a sum over units, as a cell is: with models of many universes the value of each
    unit can be solved for, whatever the noise. What was asked before costs nothing; what other
    rules refuse later costs as much as if it were answered. The refusal depends on earlier requests
    alone, of all users. Weights play no part.

    Missing values count as they do in the request. A unit may be a household.

    Notes
    -----
    A model of p coefficients tells p sums of its response. A predictor in k columns for each of its
    categories enters :math:`k (p + 1)` sums, a condition all of them; but no more than the
    :math:`2p + 2` numbers that are released: coefficients, their errors, squares, the number of
    units. Of q variables without a response each enters q + 1 sums. The counts are doubled, as what
    `ledger` counts comes in pairs, and added to those of tables; see there for what c numbers for
    each unit tell of a secret bit [dinur2003]_.

    Examples
    --------
    >>> ModelLedger().numbers_per_unit
    0.05
    """

    stage: ClassVar[Stage] = "universe"
    stops: ClassVar[str] = "reconstruction from models of many universes (T11, R6)"
    misses: ClassVar[str] = "the first few models"
    costs: ClassVar[str] = "an end: of small data a few models only"
    numbers_per_unit: Annotated[float, Gt(0)] = 0.05
    """Most numbers of models and tables that may depend on a variable, for each unit of the data;
    those of models count twice."""

    def check(self, request: Analysis, context: Context) -> Context:
        """Refuse what would exceed the limit, else write it down at once."""
        formula = formula_of(request)
        if formula is None:
            return context
        asked = {**request.as_step(), "universe": context.selection.fingerprint}
        name, ledger = json.dumps(asked, sort_keys=True), context.state.ledger
        if name in ledger.models:
            return context
        about = _about(formula, context)
        if ledger.would_exceed(about, self.numbers_per_unit * context.state.cube.engine.n_units):
            raise self.refuse(
                "too much has been asked about these variables already",
                "use models that were asked before, or fewer categories",
            )
        # At once, and not when it is released: many models may be on their way together.
        ledger.models.add(name)
        ledger.about.update(about)
        return context


def _about(formula: Formula, context: Context) -> Counter[str]:
    """Return how many numbers, times two, of a model depend on each variable."""
    schema = context.schema
    columns = [prod(_levels(f, schema) for f in t) for t in formula.terms]
    p = 1 + sum(columns)
    if formula.response is None:
        p, most = len(columns), (len(columns) + 1) * len(columns) // 2 + 1
    else:
        most = 2 * p + 2
    about = Counter(dict.fromkeys(context.selection.names, 2 * most))
    for variable in formula.predictors:
        times = _columns_each(formula, variable, columns, schema)
        about[variable] = max(about[variable], 2 * min(times * (p + 1), most))
    if formula.response is not None:
        own = formula.response.variable
        about[own] = max(about[own], 2 * p)
    return about


def _columns_each(formula: Formula, variable: str, columns: list[int], schema: Registered) -> int:
    """Return in how many columns each category of a variable is, or the number itself."""
    found = 0
    for term, n in zip(formula.terms, columns, strict=True):
        used = [f for f in term if f.variable == variable]
        found += sum(n // max(_levels(f, schema), 1) for f in used)
    return found


def _levels(factor: Factor, schema: Registered) -> int:
    """Return how many columns a factor has by itself."""
    if not is_category(factor, schema):
        return 1
    labels = schema.variable(factor.variable).labels
    return max(len([label for label in labels if label != MISSING]) - 1, 0)
