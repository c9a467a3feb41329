"""Merged categories: the least loss there is, sums kept, merged cells judged as if tabulated."""

from itertools import product

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tacit.core.errors import DataError, ParameterError, ProtectionError, SchemaError
from tacit.tables import (
    Dimension,
    Dominance,
    GroupDisclosure,
    MinFrequency,
    PPercent,
    Table,
    UserRule,
    link,
    redesign,
    tabulate,
)

RULE = PPercent(p=20) | MinFrequency(n=4)
FLAT = {"Total": ["a0", "a1", "a2", "a3"]}
TREE = {"Total": ["N", "S", "W"], "N": ["n1", "n2"], "S": ["s1", "s2", "s3"]}


def _records(seed=0, n=400, codes=6):
    rng = np.random.default_rng(seed)
    weights = np.array([40, 30, 20, 6, 3, 1.0])[:codes]
    return pl.DataFrame(
        {
            "a": rng.choice([f"a{i}" for i in range(codes)], n, p=weights / weights.sum()),
            "b": rng.choice([f"b{i}" for i in range(4)], n),
            "x": np.round(np.exp(rng.normal(3, 1, n)), 1),
        }
    )


# -- every coarser table, by hand ------------------------------------------------------------------


def partitions(items):
    """Every way to put things into groups."""
    if not items:
        return [[]]
    first, rest = items[0], partitions(items[1:])
    joined = [[*p[:k], [first, *g], *p[k + 1 :]] for p in rest for k, g in enumerate(p)]
    return [*([[first], *p] for p in rest), *joined]


def leaves(tree, code):
    return [leaf for c in tree[code] for leaf in leaves(tree, c)] if code in tree else [code]


def designs(tree, code, ordered):
    """Every way to make what is below a code coarser: the tree that is left, and the new leaves."""
    if code not in tree:
        return [({}, {code: code})]
    found = [({}, dict.fromkeys(leaves(tree, code), code))]
    for groups in partitions(tree[code]):
        if len(groups) == 1:
            continue
        place = {c: k for k, c in enumerate(tree[code])}
        if ordered and any(place[g[-1]] - place[g[0]] != len(g) - 1 for g in map(sorted, groups)):
            continue
        ways = [
            designs(tree, g[0], ordered) if len(g) == 1
            else [({}, {leaf: "+".join(sorted(g)) for c in g for leaf in leaves(tree, c)})]
            for g in groups
        ]  # fmt: skip
        heads = [g[0] if len(g) == 1 else "+".join(sorted(g)) for g in groups]
        for chosen in product(*ways):
            below, into = {code: heads}, {}
            for sub, new in chosen:
                below |= sub
                into |= new
            found.append((below, into))
    return found


def tabulated(records, chosen, value):
    """Recode the records and tabulate them."""
    for name, (_, into) in chosen.items():
        records = records.with_columns(pl.col(name).replace_strict(into))
    single = {n: next(iter(into.values())) for n, (tree, into) in chosen.items() if not tree}
    by = [n for n in chosen if n not in single]
    trees = {n: chosen[n][0] for n in by}
    if not by:  # the total alone
        records, by = records.with_columns(all=pl.lit("all")), ["all"]
    return tabulate(records, by, value, hierarchies=trees, top=60)


def information(records, chosen, value):
    size = pl.col(value).sum() if value else pl.len()
    finest = records.group_by(list(chosen)).agg(x=size)
    into = [pl.col(name).replace_strict(new) for name, (_, new) in chosen.items()]
    groups = finest.with_columns(*into).group_by(list(chosen)).agg(pl.col("x").sum())
    return sum(v * np.log(v) for v in groups["x"] if v > 0) - sum(
        v * np.log(v) for v in finest["x"] if v > 0
    )


def least_loss(records, trees, value, rule, allow, ordered):
    ways = [designs(tree, "Total", name in ordered) for name, tree in trees.items()]
    found = []
    for combination in product(*ways):
        chosen = dict(zip(trees, combination, strict=True))
        table = tabulated(records, chosen, value)
        bad = rule.sensitive(table)
        if table.dimensions[0].name == "all":
            bad = bad.take(np.array([0]))  # its total and its only part are one cell
        if len(bad) <= allow:
            found.append(information(records, chosen, value))
    whole = {n: ({}, dict.fromkeys(leaves(t, "Total"), "Total")) for n, t in trees.items()}
    return min(found) / information(records, whole, value) if found else None


@settings(deadline=None, max_examples=25)
@given(
    st.integers(0, 10**6), st.integers(8, 60), st.sampled_from([None, "x"]),
    st.sampled_from([0, 0, 1]), st.sampled_from([(), ("r",), ("a", "r")]),
    st.sampled_from([MinFrequency(n=3), RULE, Dominance(n=1, k=70), GroupDisclosure()]),
)  # fmt: skip
def test_the_loss_is_the_least_there_is(seed, n, value, allow, ordered, rule):
    rng = np.random.default_rng(seed)
    trees = {"a": {"Total": ["a0", "a1", "a2"]}, "r": TREE}
    records = pl.DataFrame(
        {
            "a": rng.choice(trees["a"]["Total"], n, p=[0.6, 0.3, 0.1]),
            "r": rng.choice(leaves(TREE, "Total"), n, p=[0.3, 0.1, 0.3, 0.1, 0.05, 0.15]),
            "x": np.round(rng.lognormal(3, 1, n)) + 1,
        }
    )
    if value is None and not isinstance(rule, GroupDisclosure):
        rule = MinFrequency(n=5)
    best = least_loss(records, trees, value, rule, allow, ordered)
    table = tabulate(records, list(trees), value, hierarchies=trees, top=60)
    if best is None:
        with pytest.raises(ProtectionError, match="no coarser table"):
            redesign(table, rule, allow=allow, ordered=ordered, limit=10**6)
        return
    made = redesign(table, rule, allow=allow, ordered=ordered, limit=10**6)
    assert made.proved
    assert made.information_lost == pytest.approx(best, abs=1e-5)
    assert made.least <= made.loss + 1e-9
    assert len(made.sensitive) <= allow
    made.table.check_additive()
    first = redesign(table, rule, allow=allow, ordered=ordered, limit=0)
    assert first.loss >= made.loss - 1e-9
    assert first.least <= made.loss + 1e-9


# -- by hand ---------------------------------------------------------------------------------------


def test_the_two_rare_codes_are_merged_by_hand():
    """Counts 9, 1, 1: only y and z, one each, are below two, and merging them loses least."""
    table = tabulate(pl.DataFrame({"a": ["x"] * 9 + ["y", "z"]}), "a")
    result = redesign(table, MinFrequency(n=2))
    assert result.merged == {"a": {"y+z": ("y", "z")}}
    assert len(result.sensitive) == 0
    assert result.table.value.tolist() == [11, 9, 2]
    lost, whole = 2 * np.log(2), 11 * np.log(11) - 9 * np.log(9)
    assert result.information_lost == pytest.approx(lost / whole)
    assert result.cells_lost == 1
    assert result.proved
    assert "1 merged codes" in repr(result)


def test_cells_or_information():
    """Merging the two small codes loses less information, cutting neither loses fewer cells."""
    counts = {"A": 40, "B": 40, "y1": 1, "y2": 30, "y3": 30}
    records = pl.DataFrame({"r": [c for c, n in counts.items() for _ in range(n)]})
    tree = {"Total": ["A", "B", "Y"], "Y": ["y1", "y2", "y3"]}
    table = tabulate(records, "r", hierarchies={"r": tree})
    by_information = redesign(table, MinFrequency(n=3))
    by_cells = redesign(table, MinFrequency(n=3), loss="cells")
    assert by_information.merged in ({"r": {"y1+y2": ("y1", "y2")}}, {"r": {"y1+y3": ("y1", "y3")}})
    assert by_cells.cells_lost <= by_information.cells_lost
    assert by_information.information_lost <= by_cells.information_lost + 1e-9


def test_codes_merged_away_leave_their_parent(full_table):
    tree = Dimension.nested("r", {"Total": ["A", "B"], "A": ["a1", "a2"], "B": ["b1", "b2"]})
    table = full_table(np.array([1.0, 1, 30, 40]), tree)
    table = table.replace(count=table.value.astype(int))
    result = redesign(table, MinFrequency(n=2))
    assert result.table.dimensions[0].codes == ("Total", "A", "B", "b1", "b2")
    assert result.merged == {"r": {"A": ("a1", "a2")}}
    result.table.check_additive()


def test_only_neighbours_of_ordered_codes_are_merged():
    counts = {"9 to 10": 1, "1 to 2": 5, "3 to 4": 50, "5 to 6": 60, "11 up": 70}
    records = pl.DataFrame({"age": [c for c, n in counts.items() for _ in range(n)]})
    table = tabulate(records, "age")
    free = redesign(table, MinFrequency(n=3)).merged["age"]
    kept = redesign(table, MinFrequency(n=3), ordered="age").merged["age"]
    assert list(free.values()) == [("1 to 2", "9 to 10")]
    assert list(kept) == ["5 to 6+9 to 10"]


def test_two_breakdowns_of_the_same_codes():
    """Districts by region and by kind: only those of one region and one kind may be merged."""
    regions = {"Total": ["N", "S"], "N": ["n1", "n2", "n3"], "S": ["s1", "s2"]}
    kinds = {"Total": ["town", "land"], "town": ["n1", "n2", "s1"], "land": ["n3", "s2"]}
    counts = {"n1": 1, "n2": 20, "n3": 20, "s1": 20, "s2": 20}
    records = pl.DataFrame({"d": [c for c, n in counts.items() for _ in range(n)]})
    table = tabulate(records, "d", hierarchies={"d": [regions, kinds]})
    made = redesign(table, MinFrequency(n=3))
    assert made.merged == {"d": {"n1+n2": ("n1", "n2")}}
    assert set(made.table.dimensions[0].codes) == {
        "Total", "N", "S", "town", "land", "n1+n2", "n3", "s1", "s2",
    }  # fmt: skip
    made.table.check_additive()


# -- merged cells are judged as if they had been tabulated -----------------------------------------


def _again(records, made, **options):
    recode = {
        name: {old: new for new, several in codes.items() for old in several}
        for name, codes in made.merged.items()
    }
    again = records.with_columns(pl.col(c).replace(to) for c, to in recode.items())
    left = [d.name for d in made.table.dimensions if len(d.codes) > 1]
    return tabulate(again, left, "x", **options)


def _same_order(ours, theirs):
    """Return where the cells stand in a table that lacks what was merged into its total."""
    at = {theirs.labels(i): i for i in range(theirs.n_cells)}
    left = [len(d.codes) > 1 for d in ours.dimensions]
    labels = [ours.labels(i) for i in range(ours.n_cells)]
    return np.array([at[tuple(c for c, k in zip(one, left, strict=True) if k)] for one in labels])


@pytest.mark.parametrize("seed", range(6))
def test_a_merge_equals_tabulating_recoded_records(seed):
    records = _records(seed)
    made = redesign(tabulate(records, ["a", "b"], "x"), RULE)
    again = _again(records, made)
    at = _same_order(made.table, again)
    np.testing.assert_allclose(made.table.value, again.value[at])
    np.testing.assert_array_equal(made.table.count, again.count[at])
    np.testing.assert_array_equal(made.sensitive.cells, RULE.sensitive(again).cells[at])
    assert len(made.sensitive) == 0
    assert made.n_sensitive_before > 0
    assert made.table.n_cells == again.n_cells
    assert made.table.relations.shape == again.relations.shape


@pytest.mark.parametrize("seed", range(6))
@pytest.mark.parametrize("named", [False, True])
@pytest.mark.parametrize("top", [2, 40])
def test_respondents_in_several_cells_are_rather_too_few_than_too_many(seed, named, top):
    """Where it is not known who is where, every cell that is sensitive is found all the same."""
    rng = np.random.default_rng(seed)
    firm, weight = pl.Series(rng.integers(0, 70, 300)), rng.choice([1.0, 2.0, 3.5], 300)
    records = _records(seed, 300).with_columns(firm=firm, w=pl.Series(weight))
    options = {"unit": "firm", "top": top, "weights": "w" if seed % 2 else None}
    table = tabulate(records, ["a", "b"], "x", **options)
    if not named:
        table = table.replace(
            respondents=_without_names(table.respondents), count=table.respondents.n_units
        )
    rule = PPercent(p=15) | MinFrequency(n=3)
    made = redesign(table, rule, limit=500)
    if all(len(d.codes) == 1 for d in made.table.dimensions):
        assert top == 2  # the worst was assumed of all that is not known
        return
    again = _again(records, made, **options)
    theirs = rule.sensitive(again.replace(count=again.respondents.n_units))
    at = _same_order(made.table, again)
    missed = theirs.cells[at] & ~made.sensitive.cells
    assert not missed.any()
    units, true = made.table.respondents, again.respondents.take(at)
    assert np.all(units.n_units <= true.n_units)
    if named and top == 40:
        np.testing.assert_array_equal(units.n_units, true.n_units)
        np.testing.assert_allclose(units.top[:, :3], true.top[:, :3])
    np.testing.assert_allclose(units.absolute, true.absolute)


def _without_names(units):
    from dataclasses import replace

    return replace(units, unit=None)


def test_what_else_a_table_knows_is_merged():
    records = _records(3)
    table = tabulate(records, ["a", "b"], "x", cost="x")
    cells = [table.cell(a="a4", b="b0"), table.cell(a="a5", b="b0")]
    table = table.with_levels(cells, above=3.0).with_cost(cells, 7.0)
    made = redesign(table, RULE, dimensions="a")
    name = next(code for code, old in made.merged["a"].items() if {"a4", "a5"} <= set(old))
    cell = made.table.cell(a=name, b="b0")
    others = set(made.merged["a"][name]) - {"a4", "a5"}
    assert made.table.level_above[cell] == 6.0
    own = sum(table.value[table.cell(a=c, b="b0")] for c in others)
    assert made.table.cost[cell] == pytest.approx(14.0 + own)


def test_linked_tables_are_merged_alike():
    records = _records(5).with_columns(c=pl.Series(np.arange(400) % 3).cast(pl.String))
    parts = {"ab": tabulate(records, ["a", "b"], "x"), "ac": tabulate(records, ["a", "c"], "x")}
    made = redesign(link(parts), RULE)
    again = {name: _again(records, _Part(made, by)) for name, by in (("ab", "ab"), ("ac", "ac"))}
    for name, part in made.table.linked.items():
        at = _same_order(part, again[name])
        np.testing.assert_allclose(part.value, again[name].value[at])
    np.testing.assert_array_equal(made.sensitive.cells, RULE.sensitive(made.table).cells)
    assert len(RULE.sensitive(link(again))) == 0


def test_linked_tables_lose_what_each_of_them_says():
    """No cell is at the finest codes of both columns, yet merging rows loses information."""
    records = pl.DataFrame(
        {"a": ["u"] * 2 + ["v"] * 30 + ["w"] * 60, "b": (["p", "q", "r"] * 31)[:92]}
    )
    both = link({"a": tabulate(records, "a"), "b": tabulate(records, "b")})
    made = redesign(both, MinFrequency(n=4))
    assert made.merged == {"a": {"u+v": ("u", "v")}}  # u with w loses more

    def information(*cells):
        return sum(x * np.log(sum(cells) / x) for x in cells)

    most = information(2, 30, 60) + information(31, 31, 30)
    assert made.information_lost == pytest.approx(information(2, 30) / most)
    few = redesign(both, MinFrequency(n=4), loss="cells")
    assert few.loss == pytest.approx(1 / 6, abs=1e-5)
    assert few.cells_lost == 1


class _Part:
    """What was merged in one of the linked tables."""

    def __init__(self, made, by):
        self.table = made.table.linked[by]
        self.merged = {n: codes for n, codes in made.merged.items() if n in by}


# -- wishes and limits -----------------------------------------------------------------------------


def test_codes_of_frozen_cells_stay():
    table = tabulate(pl.DataFrame({"a": ["x"] * 9 + ["y"] * 5 + ["z"] + ["v"] * 8}), "a")
    assert redesign(table, MinFrequency(n=2)).merged == {"a": {"y+z": ("y", "z")}}
    kept = redesign(table.freeze({"a": "y"}), MinFrequency(n=2))
    assert kept.merged == {"a": {"v+z": ("v", "z")}}
    assert kept.table.flags("frozen").sum() == 1
    every = table.freeze([{"a": c} for c in ("x", "y", "v")])
    with pytest.raises(ProtectionError, match=r"\(z\)"):
        redesign(every, MinFrequency(n=2))


def test_declared_cells_need_no_rule():
    table = tabulate(pl.DataFrame({"a": ["x"] * 9 + ["y"] * 5 + ["z"] * 6}), "a")
    assert redesign(table).table is not None
    assert redesign(table).merged == {}
    with pytest.raises(ProtectionError, match="no coarser table"):  # what holds it is unsafe, too
        redesign(table.declare_unsafe({"a": "Total"}))


def test_limits_are_kept():
    table = tabulate(_records(), ["a", "b"], "x")
    before = len(RULE.sensitive(table))
    only_b = redesign(table, RULE, dimensions=["b"])
    assert set(only_b.merged) == {"b"}
    assert len(redesign(table, RULE, allow=before).merged) == 0
    some = redesign(table, RULE, allow=2)
    assert len(some.sensitive) <= 2
    assert some.loss <= redesign(table, RULE).loss


def test_large_tables_are_not_searched_for_ever():
    rng = np.random.default_rng(1)
    codes = [f"{i:02}" for i in range(40)]
    p = rng.dirichlet(np.full(40, 0.5))
    records = pl.DataFrame({"a": rng.choice(codes, 3000, p=p), "b": rng.choice(codes, 3000, p=p)})
    made = redesign(tabulate(records, ["a", "b"]), MinFrequency(n=3), limit=50)
    assert not made.proved
    assert len(made.sensitive) == 0
    assert 0 < made.least <= made.loss < 1


def test_bad_input_is_refused():
    table = tabulate(_records(), "a", "x")
    for name in ({"dimensions": ["region"]}, {"ordered": ["region"]}):
        with pytest.raises(SchemaError, match="region"):
            redesign(table, MinFrequency(n=3), **name)
    for number in ({"allow": -1}, {"allow": 1.5}, {"width": 0}, {"limit": -1}):
        with pytest.raises(ParameterError, match=next(iter(number))):
            redesign(table, MinFrequency(n=3), **number)
    with pytest.raises(ParameterError, match="loss"):
        redesign(table, MinFrequency(n=3), loss="infromation")
    with pytest.raises(SchemaError, match="dimensions"):
        redesign(Table(table.value, table.relations), MinFrequency(n=3))
    with pytest.raises(DataError, match="names cells"):
        redesign(table, UserRule(cells=[{"a": "a1"}]))
    ties = table.replace(ties=("a and b",))
    with pytest.raises(SchemaError, match="one hierarchy"):
        redesign(ties, MinFrequency(n=3))
