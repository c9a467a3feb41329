"""A linear programme on HiGHS that stays warm while costs, bounds and rows change."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING, Any

import numpy as np

from tacit.core.errors import ProtectionError, optional

if TYPE_CHECKING:
    from scipy.sparse import csc_array

TOLERANCE = 1e-9
"""Feasibility tolerance asked of the solver."""

WORK_AROUND = 50_000
"""Columns and rows that count for the work around a pivot of an integer programme."""


class UnsolvedError(ProtectionError):
    """An answer that is needed is not known: time was over, or the solver failed."""

    @classmethod
    def of(cls, status: str) -> UnsolvedError:
        """Return the error for what the solver said when asked how far cells can change."""
        return cls(
            "how far a cell can change could not be worked out",
            got="time was over" if status == "time" else "the solver failed",
            do="give more seconds" if status == "time" else "report this table",
        )


class LinearProgram:
    """Minimise a linear cost over columns between bounds whose rows lie between bounds.

    Changes keep the basis, so that a small change costs a few pivots. One thread, same answer
    every time. `work` counts pivots times columns and rows: effort that is the same on any machine,
    about a second for a hundred million.
    """

    until: float = np.inf
    """When the solver must stop, with the status ``time`` (monotonic time)."""

    def __init__(
        self,
        matrix: csc_array,
        lower: np.ndarray,
        upper: np.ndarray,
        *,
        cost: np.ndarray | None = None,
        row_lower: np.ndarray | float = 0.0,
        row_upper: np.ndarray | float = 0.0,
        integer: bool = False,
    ) -> None:
        highspy = optional("highspy", extra="tables")
        self._highspy = highspy
        self.n_rows, self.n_columns = matrix.shape
        self.work, self._around = 0.0, WORK_AROUND * integer
        self.solver = highspy.Highs()
        settings: dict[str, Any] = {"output_flag": False, "threads": 1, "random_seed": 0}
        if not integer:
            settings |= {
                "presolve": "off",
                "solver": "simplex",
                "primal_feasibility_tolerance": TOLERANCE,
                "dual_feasibility_tolerance": TOLERANCE,
            }
        for name, setting in settings.items():
            self.solver.setOptionValue(name, setting)
        cost = np.zeros(self.n_columns) if cost is None else cost
        rows = [np.broadcast_to(side, self.n_rows) for side in (row_lower, row_upper)]
        self._pass(matrix, [cost, lower, upper, *rows], integer)

    def _pass(self, matrix: csc_array, numbers: list[Any], integer: bool) -> None:
        """Hand the programme over as arrays: element by element takes longer than solving it."""
        kinds = self._highspy.HighsVarType
        kind = int(kinds.kInteger if integer else kinds.kContinuous)
        self.solver.passModel(
            self.n_columns, self.n_rows, matrix.nnz, int(self._highspy.MatrixFormat.kColwise),
            int(self._highspy.ObjSense.kMinimize), 0.0, *map(self._limits, numbers),
            matrix.indptr.astype(np.int32), matrix.indices.astype(np.int32),
            matrix.data.astype(float), np.full(self.n_columns, kind, dtype=np.int32),
        )  # fmt: skip

    def _limits(self, values: np.ndarray) -> np.ndarray:
        infinity = self._highspy.kHighsInf
        return np.asarray(np.clip(np.asarray(values, dtype=float), -infinity, infinity))

    # -- changing -------------------------------------------------------------------------------

    def set_option(self, name: str, setting: Any) -> None:
        """Change a setting of the solver."""
        self.solver.setOptionValue(name, setting)

    def set_bounds(self, columns: Any, lower: Any, upper: Any) -> None:
        """Change the bounds of some columns."""
        at = np.atleast_1d(np.asarray(columns, dtype=np.int32))
        if not len(at):
            return
        low, high = (self._limits(np.broadcast_to(side, at.shape)) for side in (lower, upper))
        self.solver.changeColsBounds(len(at), at, low, high)

    def set_row_bounds(self, rows: Any, lower: Any, upper: Any) -> None:
        """Change the bounds of some rows."""
        at = np.atleast_1d(np.asarray(rows, dtype=np.int32))
        if not len(at):
            return
        low, high = (self._limits(np.broadcast_to(side, at.shape)) for side in (lower, upper))
        self.solver.changeRowsBounds(len(at), at, low, high)

    def set_cost(self, columns: Any, cost: Any) -> None:
        """Change the cost of some columns."""
        at = np.atleast_1d(np.asarray(columns, dtype=np.int32))
        values = np.ascontiguousarray(np.broadcast_to(np.asarray(cost, dtype=float), at.shape))
        self.solver.changeColsCost(len(at), at, values)

    def add_row(self, lower: float, upper: float, columns: np.ndarray, values: np.ndarray) -> None:
        """Add one row."""
        sides = self._limits(np.array([lower, upper]))
        self.solver.addRow(
            sides[0], sides[1], len(columns), columns.astype(np.int32), values.astype(float)
        )
        self.n_rows += 1

    def forget(self) -> None:
        """Start the next solution from all columns at their bounds, not from the last one.

        The dual simplex then needs a few dozen pivots to move one cell; from the basis of another
        cell it needs hundreds to undo that first.
        """
        self.solver.clearSolver()

    # -- solving --------------------------------------------------------------------------------

    def solve(self) -> str:
        """Solve; return ``optimal``, ``infeasible``, ``unbounded``, ``time`` or ``failed``."""
        if not np.isinf(self.until):
            left = self.until - time.monotonic()
            if left <= 0:
                return "time"
            # the solver counts the time of all its solutions
            self.set_option("time_limit", self.solver.getRunTime() + left)
        self.solver.run()
        pivots = max(int(self.solver.getInfo().simplex_iteration_count), 0)
        self.work += pivots * (self.n_rows + self.n_columns + self._around)
        status = self.solver.getModelStatus()
        kinds = self._highspy.HighsModelStatus
        if status == kinds.kUnboundedOrInfeasible:
            return "infeasible"
        words = {
            kinds.kOptimal: "optimal",
            kinds.kModelEmpty: "optimal",
            kinds.kInfeasible: "infeasible",
            kinds.kUnbounded: "unbounded",
            kinds.kTimeLimit: "time",
            kinds.kIterationLimit: "time",
            kinds.kSolutionLimit: "time",
        }
        return words.get(status, "failed")

    def settle(self, *wanted: str) -> str:
        """Solve; where the outcome is none of these, once more from the start."""
        status = self.solve()
        if status in wanted:
            return status
        self.forget()
        return self.solve()

    @property
    def values(self) -> np.ndarray:
        """The columns at the solution."""
        return np.asarray(self.solver.getSolution().col_value)

    @property
    def row_duals(self) -> np.ndarray:
        """The prices of the rows at the solution."""
        return np.asarray(self.solver.getSolution().row_dual)

    @property
    def reduced_costs(self) -> np.ndarray:
        """The reduced costs of the columns at the solution."""
        return np.asarray(self.solver.getSolution().col_dual)

    @property
    def objective(self) -> float:
        """The cost of the solution."""
        return float(self.solver.getInfo().objective_function_value)

    @property
    def bound(self) -> float:
        """What no solution of an integer programme can cost less than."""
        return float(self.solver.getInfo().mip_dual_bound)

    @property
    def has_solution(self) -> bool:
        """Whether the solver holds a feasible solution."""
        return bool(self.solver.getInfo().primal_solution_status == 2)
