"""Rare categories count with the reference, as if they had no dummy."""

import polars as pl
import pytest
import statsmodels.formula.api as smf

from tacit import query


@pytest.fixture(scope="module")
def rare(model_data):
    few = pl.int_range(pl.len()) < 4
    return model_data.with_columns(
        region=pl.when(few).then(pl.lit("Isle")).otherwise(pl.col("region"))
    )


def test_absorbed(guarded, rare):
    server = guarded(rare, query.SparseCategories(minimum=5))
    answer = server.ask({"method": "ols", "formula": "wage ~ region + sex"})
    joined = rare.to_pandas().assign(region=lambda d: d.region.replace("Isle", "North"))
    fitted = smf.ols("wage ~ C(region, Treatment('North')) + C(sex)", joined).fit()
    assert answer.columns["term"] == ["(intercept)", "region[East]", "region[Süd]", "sex[m]"]
    assert answer.columns["coefficient"] == pytest.approx(fitted.params.tolist())
    assert any("region[Isle]" in note for note in answer.notes)


def test_interactions_with_it_go_too(guarded, rare):
    server = guarded(rare, query.SparseCategories(minimum=5))
    answer = server.ask({"method": "ols", "formula": "wage ~ region*age"})
    assert not [t for t in answer.columns["term"] if "Isle" in t]


def test_sizes_are_those_of_the_complete_records(guarded, model_data):
    """A category whose units mostly have missing values is rare, whatever its size."""
    gone = (pl.col("region") == "Süd") & (pl.int_range(pl.len()) > 40)
    server = guarded(
        model_data.with_columns(age=pl.when(~gone).then(pl.col("age"))),
        query.SparseCategories(minimum=30),
    )
    terms = server.ask({"method": "ols", "formula": "wage ~ region + age"}).columns["term"]
    assert terms == ["(intercept)", "region[East]", "age"]


def test_units_count_not_records(guarded, rare):
    copies = pl.concat([rare.with_row_index("unit")] * 3)
    server = guarded(copies, query.SparseCategories(minimum=5), unit="unit")
    terms = server.ask({"method": "ols", "formula": "wage ~ region"}).columns["term"]
    assert "region[Isle]" not in terms
