"""Least squares under sums and bounds: a quadratic programme on HiGHS."""

from __future__ import annotations

from typing import Any

import numpy as np

from tacit.core.errors import ProtectionError, optional
from tacit.tables.adjust._nearest import Adjustment


def least_squares(problem: Adjustment, low: np.ndarray, high: np.ndarray) -> np.ndarray:
    """Return the change of least weighted squares between bounds that keeps the relations."""
    from scipy.sparse import csc_array

    highspy: Any = optional("highspy", extra="tables")

    matrix = csc_array(problem.relations)
    missing = -np.asarray(problem.relations @ problem.value)
    model = highspy.HighsModel()
    lp = model.lp_
    lp.num_col_, lp.num_row_ = problem.n, matrix.shape[0]
    lp.col_cost_ = np.zeros(problem.n)
    infinity = highspy.kHighsInf
    lp.col_lower_, lp.col_upper_ = (
        np.clip(low, -infinity, infinity),
        np.clip(high, -infinity, infinity),
    )
    lp.row_lower_ = lp.row_upper_ = missing
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = matrix.indptr.astype(np.int32)
    lp.a_matrix_.index_ = matrix.indices.astype(np.int32)
    lp.a_matrix_.value_ = matrix.data.astype(float)
    hessian = model.hessian_
    hessian.dim_ = problem.n
    hessian.format_ = highspy.HessianFormat.kTriangular
    hessian.start_ = np.arange(problem.n + 1, dtype=np.int32)
    hessian.index_ = np.arange(problem.n, dtype=np.int32)
    hessian.value_ = 2.0 * problem.weight
    solver = highspy.Highs()
    solver.setOptionValue("output_flag", False)
    solver.setOptionValue("time_limit", problem.left)
    solver.passModel(model)
    solver.run()
    if solver.getModelStatus() != highspy.HighsModelStatus.kOptimal:
        raise ProtectionError(
            "least squares did not come to an end", do="minimise absolute changes, or allow time"
        )
    return np.asarray(solver.getSolution().col_value)
