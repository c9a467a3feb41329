"""Sequential synthesis: what it keeps, what it promises, and attacks on the promises."""

import datetime as dt

import narwhals as nw
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import inference, mask, risk, utility
from tacit.core.errors import DataError, ParameterError, ProtectionError


def synthetic(data, seed=1, **parameters):
    return tacit.Plan([mask.Synthesise(**parameters)]).apply(data, seed=seed)


@pytest.fixture(scope="module")
def census():
    return tacit.datasets.census(2000, missing=0.03)


@pytest.fixture(scope="module")
def release(census):
    return synthetic(census)


def test_no_record_belongs_to_anybody(release):
    assert (release.rows == -1).all()
    assert "person_id" not in release.frame.columns


def test_edit_rules_hold_on_every_record_of_every_data_set(census):
    release = synthetic(census, m=3)
    assert len(release.data_sets) == 3
    for data in release.data_sets:
        assert not any(data.broken_constraints().values())
    assert not release.newly_broken


@settings(max_examples=10)
@given(seed=st.integers(0, 1000), method=st.sampled_from(["cart", "sample", "forest"]))
def test_rules_hold_whatever_the_model(seed, method):
    data = tacit.datasets.census(80, seed=seed, missing=0.1)
    assert not any(synthetic(data, seed, method=method).data.broken_constraints().values())


def test_an_if_then_rule_holds_on_every_record(census):
    rule = {"column": "age", "comparison": "<", "value": 16, "then": "marital",
            "becomes": "never married"}  # fmt: skip
    frame = synthetic(census, rules=[rule]).frame
    young = frame.filter(pl.col("age") < 16)
    assert young.height > 0
    assert set(young["marital"]) == {"never married"}


def test_rules_that_contradict_each_other_release_nothing(census):
    rules = [
        {"column": "age", "comparison": ">=", "value": 0, "then": "marital", "becomes": value}
        for value in ("married", "widowed")
    ]
    with pytest.raises(ProtectionError, match="contradict"):
        synthetic(census, rules=rules)


def test_margins_and_pairs_are_kept():
    data = tacit.datasets.census(4000).drop(["household"])
    release = synthetic(data)
    moved = utility.ContingencyLoss(distance="total-variation").measure(data, release).value
    apart = synthetic(data, method="sample")
    assert moved < 0.06
    assert moved < utility.ContingencyLoss(distance="total-variation").measure(data, apart).value
    assert utility.Propensity().measure(data, release).details["ratio"] < 3


def test_missing_values_come_as_often_as_they_were(census, release):
    for name in ("age", "income", "marital"):
        before, after = (f[name].null_count() / len(f) for f in (census.frame, release.frame))
        assert after == pytest.approx(before, abs=0.015)


def test_households_are_drawn_whole(census, release):
    sizes = [
        f.group_by("household").len()["len"].value_counts(normalize=True).sort("len")
        for f in (census.frame, release.frame)
    ]
    for (size, share), (other, found) in zip(*(s.rows() for s in sizes), strict=True):
        assert size == other
        assert found == pytest.approx(share, abs=0.04)
    regions = release.frame.group_by("household").agg(pl.col("region").drop_nulls().n_unique())
    complete = tacit.datasets.census(400)
    shared = synthetic(complete).frame.group_by("household").agg(pl.col("region").n_unique())
    assert shared["region"].max() == 1
    assert regions.height > 100


def test_members_resemble_each_other_as_before():
    data = tacit.datasets.census(6000)
    first_two = pl.col("age").head(2)
    found = []
    for frame in (data.frame, synthetic(data).frame):
        pairs = frame.group_by("household", maintain_order=True).agg(first_two)
        ages = np.array([a for a in pairs["age"].to_list() if len(a) == 2], dtype=float)
        found.append(np.corrcoef(ages.T)[0, 1])
    assert found[1] == pytest.approx(found[0], abs=0.12)


def test_waves_of_a_person_stay_in_order_and_correlated():
    rng = np.random.default_rng(3)
    level = np.repeat(rng.normal(50, 10, 400), 4)
    frame = pl.DataFrame(
        {"person": np.repeat(np.arange(400), 4), "wave": np.tile(np.arange(4), 400),
         "wage": np.round(level + rng.normal(0, 2, 1600), 2)}
    )  # fmt: skip
    data = tacit.Microdata.of(frame).with_roles(household="person")
    made = synthetic(data, order_by="wave").frame
    lagged = made.with_columns(before=pl.col("wage").shift(1).over("person")).drop_nulls()
    assert np.corrcoef(lagged["wage"], lagged["before"])[0, 1] > 0.85
    assert made["wave"].to_list()[:4] == [0, 1, 2, 3]


def test_weights_keep_their_total(census, release):
    assert release.frame["weight"].sum() == pytest.approx(census.frame["weight"].sum())


def test_dates_come_back_as_dates_in_their_range():
    days = [dt.date(2020, 1, 1) + dt.timedelta(days=int(d)) for d in np.arange(300) % 97]
    frame = pl.DataFrame({"born": days, "late": [d + dt.timedelta(days=3) for d in days]})
    data = tacit.Microdata.of(frame).with_constraints(tacit.AtLeast(larger="late", smaller="born"))
    made = synthetic(data).frame
    assert made.schema == frame.schema
    assert made["born"].min() >= frame["born"].min()
    assert (made["late"] >= made["born"]).all()


def test_numbers_keep_their_decimals_and_zeros(census, release):
    cents = release.frame["income"].drop_nulls() * 100
    assert (cents - cents.round()).abs().max() < 1e-6
    shares = [(f["income"] == 0).mean() for f in (census.frame, release.frame)]
    assert shares[1] == pytest.approx(shares[0], abs=0.04)
    smallest = census.frame.filter(pl.col("income") > 0)["income"].min()
    assert release.frame.filter(pl.col("income") > 0)["income"].min() >= smallest


def test_many_levels_do_not_freeze():
    rng = np.random.default_rng(1)
    level = rng.integers(0, 3000, 30_000)
    frame = pl.DataFrame(
        {
            "firm": [f"f{i}" for i in level],
            "wage": level % 7 + rng.normal(size=30_000),
            "kind": [("a", "b", "c")[i % 3] for i in level],
        }
    )
    made = synthetic(frame).frame
    kinds = made.group_by("kind").len().sort("kind")["len"].to_list()
    expected = frame.group_by("kind").len().sort("kind")["len"].to_list()
    assert kinds == pytest.approx(expected, rel=0.05)


@pytest.mark.parametrize("originals", ["none", "no-uniques"])
def test_no_original_record_when_asked(originals):
    """The promise, checked by another way than the method uses: texts of whole records."""
    data = tacit.datasets.census(600).drop(["household", "weight"])
    release = synthetic(data, originals=originals)
    originally = data.frame.drop("person_id").select(
        pl.concat_str(pl.all(), separator="|").alias("t")
    )["t"]
    forbidden = set(originally)
    if originals == "no-uniques":
        counts = originally.value_counts()
        forbidden = set(counts.filter(pl.col("count") == 1)["t"])
    made = release.frame.select(pl.concat_str(pl.all(), separator="|").alias("t"))["t"]
    assert not forbidden & set(made)
    copies = synthetic(data).frame.select(pl.concat_str(pl.all(), separator="|").alias("t"))["t"]
    assert forbidden & set(copies), "without asking there are some, or the test shows nothing"


def test_a_file_in_which_all_is_taken_is_refused():
    frame = pl.DataFrame({"a": ["x", "y"] * 20, "b": [1, 2] * 20})
    frame = pl.concat([frame, pl.DataFrame({"a": ["x", "y"], "b": [2, 1]})])
    with pytest.raises(ProtectionError, match="equal no original"):
        synthetic(frame, originals="none")


def test_names_are_refused_and_not_copied():
    frame = pl.DataFrame({"name": [f"person {i}" for i in range(100)], "x": range(100)})
    with pytest.raises(DataError, match="one record only"):
        synthetic(frame)


def test_hold_out_attack_on_defaults_is_near_its_baseline():
    data = tacit.datasets.census(5000, seed=3).drop(["household"])
    members = np.arange(5000) < 2500
    release = synthetic(data.take(np.flatnonzero(members)))
    everyone = data.frame.with_columns(member=pl.Series(members))
    for names in (["income"], ["region", "sex", "age", "education", "marital", "hours", "income"]):
        attack = risk.MembershipInference(attributes=names, members="member")
        found = attack.measure(everyone, release.frame)
        assert found.value < 0.55, names
    copied = synthetic(data.take(np.flatnonzero(members)), smooth=False, evidence=0, leaf=2)
    weak = risk.MembershipInference(attributes=["income"], members="member")
    assert weak.measure(everyone, copied.frame).value > 0.6, "the attack can succeed"


@pytest.mark.parametrize(("name", "separator"), [("EIA", ","), ("CASCrefmicrodata", ",")])
def test_hold_out_attack_on_data_the_defaults_were_not_tuned_on(shared_data, name, separator):
    """Attack on the defaults with files and seeds that played no part in choosing them.

    Measured once, over three seeds: EIA 0.507 to 0.518, Census 0.506 to 0.542 (540 members, so
    that one standard error is 0.018), Adult 0.504 to 0.509, Tarragona 0.519 to 0.545.
    """
    frame = pl.read_csv(shared_data / "casc" / f"{name}.csv", separator=separator)
    frame = frame.select(c for c in frame.columns if frame[c].dtype.is_numeric())
    members = pl.Series("member", np.random.default_rng(101).permutation(len(frame)) % 2 == 0)
    attack = risk.MembershipInference(attributes=frame.columns, members="member")

    def found(**parameters):
        release = synthetic(frame.filter(members), seed=101, **parameters)
        return attack.measure(frame.with_columns(members), release.frame).value

    assert found() < 0.56
    assert found(smooth=False, evidence=0, leaf=2) > 0.6, "the attack can succeed"


def test_same_seed_same_data_sets_and_all_of_them_differ(census):
    first, second = (synthetic(census, seed=5, m=2) for _ in range(2))
    for one, other in zip(first.data_sets, second.data_sets, strict=True):
        assert one.frame.equals(other.frame)
    assert not first.data.frame.equals(first.copies[0].frame)


def test_visit_order_and_predictors_are_obeyed(census):
    x = np.random.default_rng(1).normal(size=800)
    frame = pl.DataFrame({"x": x, "y": x + 1})
    for wishes, related in (
        ({}, True), ({"predictors": {"y": []}}, False),
        ({"visit": ["y"], "predictors": {"y": ["x"]}}, True), ({"learn_visit": True}, True),
    ):  # fmt: skip
        made = synthetic(frame, **wishes).frame
        assert (np.corrcoef(made["x"], made["y"])[0, 1] > 0.9) == related, wishes


@pytest.mark.parametrize(
    ("parameters", "error", "words"),
    [
        ({"visit": ["sex"], "learn_visit": True}, ParameterError, "declared or learnt"),
        ({"methods": {"sex": "normal"}}, ParameterError, "not made"),
        ({"methods": {"income": "survival"}}, ParameterError, "ended"),
        ({"order_by": "age"}, ParameterError, "household"),
        ({"rules": [{"column": "age", "comparison": "<", "value": 5, "then": "sex",
                     "becomes": "robot"}]}, DataError, "robot"),
        ({"rules": [{"column": "sex", "comparison": "<", "value": "male", "then": "marital",
                     "becomes": "married"}]}, DataError, "no order"),
    ],
)  # fmt: skip
def test_bad_wishes_are_refused(parameters, error, words):
    data = tacit.datasets.census(60).drop(["household"])
    with pytest.raises(error, match=words):
        synthetic(data, **parameters)


def test_too_few_records_are_refused():
    with pytest.raises(DataError, match="at least 10 records"):
        synthetic(tacit.datasets.census(5))


CHILD = {"column": "age", "comparison": "<", "value": 16}
WED = {"column": "marital", "comparison": "==", "value": "married"}


@pytest.mark.parametrize("visit", [["age", "marital"], ["marital", "age"]])
def test_impossible_combinations_never_appear(census, visit):
    """Whichever of the two is drawn last gives way; nobody else does."""
    young = nw.when(nw.col("age") < 40).then(nw.lit("married")).otherwise(nw.col("marital"))
    data = census.with_columns(marital=young).drop(["household"])  # plenty in the original
    wish = {"visit": visit, "method": "cart"}
    for data_set in synthetic(data, impossible=[[CHILD, WED]], m=2, **wish).data_sets:
        made = data_set.frame
        assert made.filter((pl.col("age") < 16) & (pl.col("marital") == "married")).height == 0
        assert made.filter(pl.col("marital") == "married").height > 100
    plain = synthetic(data, **wish).frame
    assert plain.filter((pl.col("age") < 16) & (pl.col("marital") == "married")).height > 0


@pytest.mark.parametrize("method", ["forest", "sample", "parametric"])
def test_impossible_combinations_never_appear_in_households(method):
    data = tacit.datasets.census(200)
    zero = {"sex": "female", "employed": False}
    made = synthetic(data, impossible=[zero], method=method).frame
    assert made.filter((pl.col("sex") == "female") & ~pl.col("employed")).height == 0
    assert set(made["sex"]) == {"female", "male"}


def test_a_rule_about_what_households_share_is_obeyed():
    """The region is drawn before its members: their ages give way."""
    data = tacit.datasets.census(400)
    region = data.frame["region"][0]
    rule = {"column": "age", "comparison": ">", "value": 60, "then": "region", "becomes": region}
    made = synthetic(data, rules=[rule]).frame
    assert set(made.filter(pl.col("age") > 60)["region"]) == {region}


def test_what_is_impossible_everywhere_releases_nothing(census):
    everybody = [{"column": "age", "comparison": comparison, "value": 40}
                 for comparison in ("<", ">=")]  # fmt: skip
    with pytest.raises(ProtectionError, match="impossible"):
        synthetic(census.drop(["household"]).take(np.flatnonzero(census.frame["age"].is_not_null())),
                  impossible=[[c] for c in everybody])  # fmt: skip


def test_unique_keys_are_not_replicated_when_asked(census):
    """Post-processing as in synthpop: no record with the keys of a person alone with them."""
    keys = ["sex", "age", "region", "marital"]
    data = census.drop(["household"])
    asked = synthetic(data, originals="no-uniques", originals_on=keys)
    measure = risk.ReplicatedUniques(keys=keys)
    assert measure.measure(data, asked).value == 0
    assert measure.measure(data, synthetic(data)).value > 0


def test_other_masks_may_follow(census):
    """Post-processing by masks of the plan, on each of the data sets."""
    steps = [
        mask.Synthesise(m=2),
        mask.TopCode(column="income", threshold=50_000.0),
        mask.Round(columns=["hours"], base=5),
    ]
    release = tacit.Plan(steps).apply(census, seed=4)
    for data in release.data_sets:
        assert data.frame["income"].max() <= 50_000
        assert set(data.frame["hours"].drop_nulls() % 5) == {0}
    assert inference.analyse(release, inference.Mean(columns=["age"])).rule == "simple"


def test_a_person_who_finds_themselves_is_reported(census, tmp_path):
    """DF07: keys and confidential values in one record; the report of the release says so."""
    release = synthetic(census.with_roles(confidential=["education", "hours"]), m=2)
    card = release.measure()
    found = next(m for m in card.risks if m.key == "matching-people")
    assert found.value > 0
    assert len(found.details["data_sets"]) == 2
    report = (release.save(tmp_path / "out") / "dossier" / "report.html").read_text()
    assert "find their" in report
    assert "Replicated uniques" in report


def test_small_types_take_what_a_model_draws():
    rng = np.random.default_rng(1)
    ages = pl.Series("age", rng.integers(0, 127, 300), dtype=pl.Int8)
    made = synthetic(pl.DataFrame([ages]), method="normal").frame
    assert made.schema["age"] == pl.Int8
    assert made["age"].max() == 127


def test_numbers_of_a_panel_need_no_model_of_classes():
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"who": np.repeat(np.arange(60), 3), "wage": rng.normal(size=180)})
    data = tacit.Microdata.of(frame).with_roles(household="who")
    assert synthetic(data, method="normal").frame.group_by("who").len()["len"].unique().item() == 3


def outsiders(n=400, seed=1):
    """People of whom one has an occupation of their own."""
    rng = np.random.default_rng(seed)
    work = rng.choice(["farmer", "clerk", "smith"], n).astype(object)
    work[0], work[2:5] = "astronaut", "miller"
    return pl.DataFrame(
        {"age": rng.integers(18, 80, n), "work": work, "pay": rng.lognormal(10, 1, n)}
    )


@pytest.mark.parametrize(
    "method",
    [
        *(mask.Synthesise(method=m) for m in ("cart", "forest", "parametric", "sample")),
        mask.Synthesise(proper=True), mask.CopulaSynthesis(), mask.BayesianNetwork(),
        mask.PartiallySynthetic(columns=["work"]),
        mask.LogLinearSynthesis(columns=["work", "kind"]),
    ],
    ids=lambda method: f"{method.key}-{getattr(method, 'method', '')}",
)  # fmt: skip
def test_a_category_of_one_person_is_drawn_by_no_model(method):
    frame = outsiders().with_columns(kind=pl.lit("k"))
    made = tacit.Plan([method]).apply(frame, seed=3).frame
    assert "astronaut" not in made["work"].to_list()
    assert set(made["work"]) >= {"farmer", "clerk", "smith"}
    wary = tacit.Plan([method.model_copy(update={"common_category": 4})]).apply(frame, seed=3)
    assert "miller" not in wary.frame["work"].to_list()
    everybody = tacit.Plan([method.model_copy(update={"common_category": 1, "size": 20_000})])
    if "size" in type(method).model_fields:
        assert "astronaut" in everybody.apply(frame, seed=3).frame["work"].to_list()


def test_a_category_that_makes_a_rule_true_is_still_never_drawn():
    """What is impossible is drawn again, in the end from all records: not from the rare ones."""
    millers = pl.when(pl.int_range(pl.len()) > 300).then(pl.lit("miller")).otherwise("work")
    frame = outsiders().with_columns(pl.lit("x").alias("place"), millers.alias("work"))
    zero = [{"work": name, "place": "x"} for name in ("farmer", "clerk", "smith")]
    made = synthetic(frame, impossible=zero, visit=["place", "age", "pay", "work"]).frame
    assert set(made["work"]) == {"miller"}


def test_a_column_of_rare_categories_only_is_refused():
    frame = pl.DataFrame({"who": [f"n{i // 2}" for i in range(40)], "x": np.arange(40.0)})
    with pytest.raises(DataError, match="no category of 'who' is shared by 3 records"):
        synthetic(frame, common_category=3)


@pytest.mark.parametrize("seed", range(12))
def test_a_bootstrap_sample_makes_nobodys_number_common(seed):
    """In a small file a bootstrap sample may hold one person five times: still one person."""
    frame = outsiders(40, seed).drop("work")
    for method in (mask.PartiallySynthetic(columns=["pay"]), mask.Synthesise(proper=True)):
        made = tacit.Plan([method]).apply(frame, seed=seed).frame
        assert not set(made["pay"]) & set(frame["pay"])


def test_a_number_of_one_person_in_many_waves_is_no_common_one():
    rng = np.random.default_rng(2)
    height = np.repeat(rng.normal(170, 9, 150), 4)
    height[0] += 0.5  # one person has grown: the column is not one that all waves share
    frame = pl.DataFrame({"who": np.repeat(np.arange(150), 4), "height": height})
    data = tacit.Microdata.of(frame).with_roles(household="who")
    made = synthetic(data).frame["height"]
    assert not set(made) & set(height)


def test_an_original_record_is_not_let_in_by_other_steps():
    """The promise is about the release: what is rounded or sampled beside it counts."""
    rng = np.random.default_rng(1)
    frame = pl.DataFrame({"a": rng.integers(0, 30, 300), "b": rng.integers(0, 30, 300)})
    step = mask.Synthesise(originals="none")
    for plan in ([step, mask.Round(columns=["a", "b"], base=5)], [mask.Sample(fraction=0.3), step]):
        with pytest.raises(ProtectionError, match="other steps"):
            tacit.Plan(plan).apply(frame, seed=1)
    careful = [mask.Round(columns=["a"], base=2), step, mask.Sample(fraction=0.3)]
    made = tacit.Plan(careful).apply(frame, seed=1).frame
    assert not set(made.rows()) & set(frame.rows())
