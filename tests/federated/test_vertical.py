"""Variables at different agencies: the regression of the joined file."""

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm

from tacit.core.errors import ParameterError
from tacit.federated.policy import Policy
from tacit.federated.stopped import RefusedError
from tacit.federated.vertical import regress_vertically


def joined(files, names):
    return (
        files["tax"].join(files["health"], on="id").join(files["school"], on="id").drop_nulls(names)
    )


def test_the_result_is_that_of_the_joined_file(files):
    answer = regress_vertically(files, unit="id", y="y", x=["a", "b", "c"])
    whole = joined(files, ["a", "b", "c", "y"])
    fit = sm.OLS(
        whole["y"].to_numpy(), sm.add_constant(whole.select("a", "b", "c").to_numpy())
    ).fit()
    assert answer["n"] == len(whole)
    assert np.allclose(list(answer["coefficients"].values()), fit.params, rtol=1e-9)
    assert np.allclose(list(answer["standard_errors"].values()), fit.bse, rtol=1e-9)
    assert answer["r_squared"] == pytest.approx(fit.rsquared, rel=1e-9)
    assert answer["residual_error"] == pytest.approx(np.sqrt(fit.mse_resid), rel=1e-9)


def test_two_agencies_and_the_response_elsewhere(files):
    answer = regress_vertically(files, unit="id", y="c", x=["b", "a"])
    assert list(answer["coefficients"]) == ["(constant)", "b", "a"]
    two = regress_vertically({k: files[k] for k in ("tax", "school")}, unit="id", y="c", x=["a"])
    assert two.agencies == ("school", "tax")


@pytest.mark.parametrize(
    "wrong",
    [{"y": "nothing"}, {"x": ["a", "a"]}, {"x": ["id"]}, {"y": "y", "x": ["a"]}],
    ids=["unknown", "twice", "unit", "one agency"],
)
def test_bad_requests_are_refused(files, wrong):
    given = {"unit": "id", "y": "y", "x": ["a", "b"], **wrong}
    with pytest.raises(ParameterError):
        regress_vertically(files, **given)


def test_rules_hold(files):
    with pytest.raises(RefusedError, match="fewer than 1000"):
        regress_vertically(files, unit="id", y="y", x=["a", "b"], policy=Policy(min_records=1000))
    marked = files["health"].with_columns(b=(pl.int_range(370) == 5).cast(pl.Float64))
    with pytest.raises(RefusedError, match=r"differ from all|constant"):
        regress_vertically({**files, "health": marked}, unit="id", y="y", x=["a", "b"])
    copied = files["tax"].select("id", b=pl.col("y") * 2)
    with pytest.raises(RefusedError, match="perfect"):
        regress_vertically({"tax": files["tax"], "health": copied}, unit="id", y="y", x=["a", "b"])


def test_attack_a_record_that_outweighs_all_others_is_refused(files):
    unit = joined(files, ["b"])["id"][0]
    marked = files["tax"].with_columns(a=pl.when(pl.col("id") == unit).then(1e8).otherwise("a"))
    with pytest.raises(RefusedError, match="leverage"):
        regress_vertically({**files, "tax": marked}, unit="id", y="y", x=["a", "b", "c"])


def test_attack_a_record_that_stands_out_only_in_all_variables_together_is_refused(files):
    """Each holder sees a usual value; between the agencies it is one that decides a coefficient."""
    rng = np.random.default_rng(5)
    base = files["tax"].select("id", "y", "a")
    unit = joined(files, ["b"])["id"][3]
    near = base.select(
        "id",
        b=pl.when(pl.col("id") == unit)
        .then(pl.col("a") + 6.0)
        .otherwise(pl.col("a") + pl.Series(rng.normal(0, 1e-3, len(base)))),
    )
    with pytest.raises(RefusedError, match="all variables together"):
        regress_vertically({"tax": base, "health": near}, unit="id", y="y", x=["a", "b"])
