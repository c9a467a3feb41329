"""t-closeness against the numbers of the paper."""

import polars as pl
import pytest

import tacit
from tacit import risk


@pytest.fixture
def patients(shared_data):
    folder = shared_data / "arx-toy"
    table = pl.read_csv(folder / "test2.csv", separator=";")
    tree = tacit.read_hierarchy(folder / "test2_hierarchy_Disease.csv")
    return table, tree


def measured(table, groups, column, distance, tree=None):
    classes = {salary: i for i, group in enumerate(groups) for salary in group}
    data = tacit.Microdata.of(
        table.with_columns(group=pl.col("Salary").replace_strict(classes, return_dtype=pl.Int64))
    )
    if tree is not None:
        data = data.with_hierarchies(Disease=tree)
    measure = risk.TCloseness(keys=["group"], confidential=[column], distance=distance)
    return measure.measure(data)


def test_the_diverse_table_is_far_in_salary(patients):
    table, _ = patients
    found = measured(table, [(3, 4, 5), (6, 8, 11), (7, 9, 10)], "Salary", "ordered")
    by_salary = dict(zip(table["Salary"], found.per_unit, strict=True))
    assert by_salary[3] == pytest.approx(0.375, abs=5e-4)
    assert by_salary[6] == pytest.approx(0.167, abs=5e-4)


def test_the_close_table_has_the_closeness_of_the_paper(patients):
    table, tree = patients
    groups = [(3, 5, 9), (6, 11, 8), (4, 7, 10)]
    salary = measured(table, groups, "Salary", "ordered")
    assert salary.value == pytest.approx(0.167, abs=5e-4)
    disease = measured(table, groups, "Disease", "hierarchical", tree)
    by_salary = dict(zip(table["Salary"], disease.per_unit, strict=True))
    assert [by_salary[s] for s in (6, 3, 4)] == pytest.approx([8 / 27, 7 / 27, 5 / 27])
