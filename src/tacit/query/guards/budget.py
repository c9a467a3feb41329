"""Differential privacy with a budget."""

from __future__ import annotations

import json
from typing import Annotated, Any, ClassVar

import numpy as np
from annotated_types import Ge, Gt

from tacit.core.errors import optional
from tacit.query.analysis import Analysis
from tacit.query.evidence import Cells
from tacit.query.guard import Context, Guard, Memory, Stage


class Budget(Guard, key="budget", title="Differential privacy with a budget", cites=("dwork2006",)):
    r"""Answer counts with noise of differential privacy until the budget of all users is spent.

    Every cell of a table and its margins gets noise, empty ones too. The same request is answered
    from memory at no cost; a server with a folder keeps its answers and what is spent when it
    starts again, and charges anew for an answer that was lost. Only counts, unweighted, of data
    with one record per unit. Categories and cutpoints should be declared, not taken from the data.
    Missing values are a category.

    A unit may be a household.

    Notes
    -----
    One unit is in one cell of each level of margins, so that a table of L levels changes by at
    most L in all when one unit comes or goes; discrete Laplace noise of scale
    :math:`L / \varepsilon` (made by OpenDP) makes the table :math:`\varepsilon`-differentially
    private [dwork2006]_, and tables add up: the odometer refuses beyond `total`.

    Examples
    --------
    >>> Budget().key
    'budget'
    """

    stage: ClassVar[Stage] = "output"
    memory: ClassVar[Memory] = "tables"
    stops: ClassVar[str] = "everything, within its epsilon"
    misses: ClassVar[str] = "nothing beyond it"
    costs: ClassVar[str] = "noise on every cell; counts only; an end"
    epsilon: Annotated[float, Gt(0)] = 0.1
    """Privacy loss of one table."""
    total: Annotated[float, Gt(0)] = 5.0
    """Privacy loss of all tables together."""
    least: Annotated[int, Ge(0)] = 0
    """Released counts are at least this."""

    def check(self, request: Analysis, context: Context) -> Context:
        """Return the context with private counts, or refuse when the budget is spent."""
        cells = self._suitable(context)
        kept = context.state.kept.setdefault(self.key, {"spent": 0.0, "paid": set()})
        name = self._name(request, context)
        given = context.state.answers.get(name)
        is_paid = given is not None and name in kept["paid"]
        if given is None:
            noisy, loss = _private(cells, self.epsilon)
        else:
            noisy, loss = np.array(given, dtype=np.int64), self.epsilon
        if not is_paid and kept["spent"] + loss > self.total * (1 + 1e-9):
            raise self.refuse("the privacy budget is spent", "use tables that were asked before")

        def spend() -> None:
            # An answer that was logged and then lost is charged, and never taken for a new one.
            if given is None and context.now is not None:
                context.state.answers.put(name, noisy.tolist())
            kept["spent"] += 0.0 if is_paid else loss
            kept["paid"].add(name)

        change = np.maximum(noisy, self.least) - cells.n
        note = f"Counts are differentially private, epsilon = {self.epsilon:g} for this table."
        return context.amended(note, evidence=cells.with_(change=change)).and_then(spend)

    def _name(self, request: Analysis, context: Context) -> str:
        """Return what makes two answers the same: request, data and privacy loss."""
        asked = [request.as_step(), context.schema.version, self.epsilon]
        return json.dumps(asked, sort_keys=True)

    def _suitable(self, context: Context) -> Cells:
        cells = context.cells
        if cells is None or cells.sums or cells.weighted:
            raise self.refuse("only unweighted counts are private here", "ask for counts")
        if not context.state.cube.engine.one_record_per_unit:
            raise self.refuse("privacy of units needs one record per unit")
        return cells


def _private(cells: Cells, epsilon: float) -> tuple[np.ndarray, float]:
    """Return noisy counts, and the privacy loss that OpenDP states for them."""
    dp: Any = optional("opendp.prelude", extra="dp")
    dp.enable_features("contrib")
    levels = len(cells.levels)
    space = dp.vector_domain(dp.atom_domain(T=int)), dp.l1_distance(T=int)
    laplace = dp.m.make_laplace(*space, scale=levels / epsilon)
    return np.array(laplace(cells.n.tolist()), dtype=np.int64), float(laplace.map(levels))
