"""A-priori files: what they say reaches the cells, and the outcome can be written as one."""

import polars as pl
import pytest

import tacit
from tacit import tables
from tacit.core.errors import DataError, ReadError, SchemaError
from tacit.io import apply_apriori, write_apriori


@pytest.fixture
def table():
    frame = pl.DataFrame(
        {
            "region": ["N", "N", "S", "S", "Ü, W", "Ü, W"] * 2,
            "size": ["1", "2"] * 6,
            "x": [90, 1, 20, 25, 30, 33, 3, 4, 5, 6, 7, 8],
        }
    )
    return tacit.tabulate(frame, ["region", "size"], "x")


@pytest.fixture
def told(tmp_path):
    def told(text):
        path = tmp_path / "before.hst"
        path.write_text(text, encoding="utf-8")
        return path

    return told


def test_every_word(table, told):
    text = 'N,1,u\nN,1,pl,2,3.5\nS,1,p\nS,2,m\n"Ü, W",2,s\nN,2,c,12\n"","",ab,0,500\n'
    made = apply_apriori(table, told(text))
    at = {k: made.cell(**k_) for k, k_ in (
        ("n1", {"region": "N", "size": "1"}), ("s1", {"region": "S", "size": "1"}),
        ("s2", {"region": "S", "size": "2"}), ("w2", {"region": "Ü, W", "size": "2"}),
        ("n2", {"region": "N", "size": "2"}), ("total", {}))}  # fmt: skip
    found = made.sensitive()
    assert found.primary.tolist() == [at["n1"]]
    assert (found.below[at["n1"]], found.above[at["n1"]]) == (2, 3.5)
    assert made.frozen.nonzero()[0].tolist() == [at["s1"]]
    assert made.forced.nonzero()[0].tolist() == [at["s2"]]
    assert made.waived.nonzero()[0].tolist() == [at["w2"]]
    assert made.cost[at["n2"]] == 12
    assert made.bounds[1][at["total"]] == 500
    assert table.unsafe is None
    assert table.cost is None, "the input is left as it is"


def test_later_lines_win_and_semicolons_do(table, told):
    made = apply_apriori(table, told("N;1;u\nN;1;s\n"))
    assert not len(made.sensitive())


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("N,1,u\nX,1,u\n", "line 2 of before.hst is about a cell"),
        ("N,1,q\n", "line 1 of before.hst: after 2 codes"),
        ("N,1\n", "after 2 codes"),
        ("N,1,pl,2\n", "needs 2 finite numbers"),
        ("N,1,c,much\n", "expected numbers"),
        ("N,1,pl,2,inf\n", "finite"),
    ],
)
def test_mistakes_are_named_by_their_line(table, told, text, said):
    with pytest.raises(ReadError, match=said):
        apply_apriori(table, told(text))


def test_bounds_must_hold_the_value(table, told):
    with pytest.raises(DataError, match="bounds"):
        apply_apriori(table, told("N,1,ab,0,5\n"))


def test_strange_cells_can_be_passed_over(table, told):
    made = apply_apriori(table, told("X,1,u\nN,1,u\n"), ignore_unknown=True)
    assert len(made.sensitive()) == 1


def test_the_outcome_binds_the_next_table(table, tmp_path):
    """Suppressed stays suppressed and published published when the file is applied again."""
    made = table.protect(tables.SuppressModular(), tables.Dominance(n=1, k=90))
    assert made.suppressed.any()
    write_apriori(made, tmp_path / "out.hst")
    bound = apply_apriori(table, tmp_path / "out.hst")
    again = bound.protect(tables.SuppressModular())
    assert (again.suppressed == made.suppressed).all()
    assert again.audit().passed
    assert again.sensitive.above.tolist() == pytest.approx(made.sensitive.above.tolist())


@pytest.mark.parametrize("published_before", [False, True])
def test_a_waived_cell_stays_waived_and_published(tmp_path, published_before):
    """Published because somebody agreed: neither sensitive next time nor there to hide others."""
    frame = pl.DataFrame({"r": list("AAAABBCCCDE"), "x": [70, 20, 6, 4, 50, 50, 9, 8, 7, 3, 2]})
    table, rule = tacit.tabulate(frame, "r", "x"), tables.PPercent(p=10)
    agreed = table.waive({"r": "B"}).freeze({"r": "B"}, flag=published_before)
    first = agreed.protect(tables.SuppressModular(), rule)
    write_apriori(first, tmp_path / "out.hst")
    bound = apply_apriori(table, tmp_path / "out.hst")
    at = [table.cell(r="B")]
    assert bound.flags("waived").nonzero()[0].tolist() == at
    assert bound.flags("frozen")[at].all()
    again = bound.protect(tables.SuppressModular(), rule)
    assert (again.suppressed == first.suppressed).all()


def test_the_file_wins_over_what_was_said_of_the_table(table, told):
    asked = table.declare_unsafe({"region": "N", "size": "1"}).freeze({"region": "S", "size": "2"})
    made = apply_apriori(asked, told("N,1,s\nS,2,m\n"))
    assert not made.flags("unsafe").any()
    assert not made.flags("frozen").any()
    assert made.flags("forced").sum() == made.flags("waived").sum() == 1


def test_published_cells_may_be_left_out(table, tmp_path):
    made = table.protect(tables.SuppressModular(), tables.Dominance(n=1, k=90))
    write_apriori(made, tmp_path / "out.hst", published=False)
    text = (tmp_path / "out.hst").read_text(encoding="utf-8")
    assert ",p\n" not in text
    assert ",u\n" in text


def test_changed_values_have_no_such_file(table, tmp_path):
    made = table.protect(tables.ConventionalRounding(base=10))
    with pytest.raises(SchemaError, match="not changed values"):
        write_apriori(made, tmp_path / "out.hst")
    assert not list(tmp_path.iterdir())


def test_the_sample_of_tau_argus(shared_data):
    folder = shared_data / "tables" / "tauargus"
    data = tacit.read(folder / "enterprise" / "example_enterprise.asc")
    table = tacit.tabulate(data, ["region", "product"], "turnover", missing="own category")
    made = apply_apriori(table, folder / "expected" / "test_3a.hst", ignore_unknown=True)
    # The file freezes 15 region totals.
    assert int(made.flags("frozen").sum()) == 15
