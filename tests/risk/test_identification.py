"""Identification risk of TFB: per target unit and for the file."""

import json

import numpy as np
import polars as pl
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

import tacit
from tacit import Microdata, risk
from tacit.core.data import ROW
from tacit.core.errors import DataError, ParameterError


def microdata(keys=("x", "y"), **columns):
    frame = pl.DataFrame(columns, strict=False)
    return Microdata.of(frame).with_roles(keys=[k for k in keys if k in columns])


def released(data, rows, **changes):
    """Take some records of `data`, -1 standing for a copy of the first as a simulated record."""
    rows = np.asarray(rows)
    taken = data.numbered().take(np.where(rows < 0, 0, rows))
    table = taken.local.with_columns(pl.Series(ROW, rows), **changes)
    return taken._holding(table, data.schema)


# -- Eq. (4.10) -----------------------------------------------------------------------------------


def test_several_matching_records_share_the_probability():
    found = risk.identification_probability(0.5, 10, [4.0, 4.0])
    # 0.05 * 4 / (0.05 * 8 + 0.5)
    assert found.tolist() == pytest.approx([0.2 / 0.9, 0.2 / 0.9])


@settings(deadline=None)
@given(
    st.floats(0, 1),
    st.integers(5, 10**6),
    st.lists(st.floats(0, 1e9), min_size=1, max_size=5),
)
def test_probabilities_stay_between_0_and_1_and_sum_to_at_most_1(inclusion, n_released, ratios):
    found = risk.identification_probability(inclusion, n_released, ratios)
    assert np.all((found >= 0) & (found <= 1))
    assert found.sum() <= 1 + 1e-9


@settings(deadline=None)
@given(st.floats(0.001, 1), st.floats(0.001, 1), st.floats(1, 1e6), st.floats(1, 1e6))
def test_probability_rises_with_inclusion_and_ratio(pi_1, pi_2, ratio_1, ratio_2):
    low, high = sorted([pi_1, pi_2]), sorted([ratio_1, ratio_2])
    small = risk.identification_probability(low[0], 100, high[0])
    assert small <= risk.identification_probability(low[1], 100, high[0]) + 1e-12
    assert small <= risk.identification_probability(low[0], 100, high[1]) + 1e-12


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((1.2, 10, 5.0), "between 0 and 1"),
        ((float("nan"), 10, 5.0), "between 0 and 1"),
        ((0.5, 0, 5.0), "each released record"),
        ((0.5, 1, [5.0, 5.0]), "each released record"),
        ((0.5, 10, -1.0), "0 or above"),
        ((0.5, 10, float("inf")), "0 or above"),
    ],
)
def test_impossible_arguments_are_refused(arguments, message):
    with pytest.raises(ParameterError, match=message):
        risk.identification_probability(*arguments)


def test_nobody_is_identified_where_nothing_matches():
    assert risk.identification_probability(1.0, 10, 0.0) == 0


# -- the file -------------------------------------------------------------------------------------


def test_unique_keys_released_as_they_are_identify_everybody():
    data = microdata(x=["a", "b", "c"], y=[1, 2, 3])
    found = risk.IdentificationRisk().measure(data)
    assert found.value == 1
    assert found.per_unit.tolist() == [1, 1, 1]
    assert found.details["inclusion"] == 1
    assert found.details["expected_identifications"] == 3


def test_records_that_look_alike_share_the_risk():
    found = risk.IdentificationRisk().measure(tacit.datasets.patients())
    expected = [1 / 3, 1 / 3, 1 / 3, 1 / 3, 1 / 3, 1 / 2, 1, 1, 1 / 3, 1 / 2]
    assert found.per_unit.tolist() == pytest.approx(expected)
    assert found.value == pytest.approx(0.5)


def test_sampling_enters_through_inclusion_and_those_left_out_are_safe():
    data = microdata(x=["a", "a", "b", "c"])
    found = risk.IdentificationRisk().measure(data, released(data, [0, 2]))
    # pi = 1/2, t = 2; r(a) = 4/2, r(b) = 4/1: P = (r/4) / (r/4 + 1/2)
    assert found.per_unit.tolist() == pytest.approx([0.5, 0, 2 / 3, 0])
    assert found.details["sampling_factor"] == 0.5
    assert found.details["simulated_factor"] == 0


def test_simulated_records_add_confusion():
    data = microdata(x=["a", "b"])
    simulated = released(data, [0, 1, -1])
    found = risk.IdentificationRisk().measure(data, simulated)
    assert found.per_unit.tolist() == pytest.approx([1 / 2, 1]), "a has a simulated double"
    assert found.details["simulated_factor"] == pytest.approx(1 / 3)
    assert found.details["sampling_factor"] == 1


def test_a_unit_released_twice_is_identified_by_either_record():
    data = microdata(x=["a", "b"])
    found = risk.IdentificationRisk().measure(data, released(data, [0, 0]))
    assert found.details["real"] == 1
    assert found.details["sampling_factor"] == 0.5
    # two records of a, each (0.5/2 * 2) / (0.5/2 * 4 + 0.5)
    assert found.per_unit.tolist() == pytest.approx([2 / 3, 0])


def test_population_and_weights_lower_the_risk():
    data = microdata(x=["a", "b"], w=[100.0, 300.0])
    alone = risk.IdentificationRisk().measure(data)
    large = risk.IdentificationRisk(population=400).measure(data)
    weighted = risk.IdentificationRisk().measure(data.with_roles(weight="w"))
    assert alone.value == 1
    # one match each; pi = 2/400, so P = 1 / (1 + (1 - pi) * 400 * share)
    share = np.array([0.5, 0.5])
    assert large.per_unit.tolist() == pytest.approx((1 / (1 + 0.995 * 400 * share)).tolist())
    share = np.array([0.25, 0.75])
    assert weighted.per_unit.tolist() == pytest.approx((1 / (1 + 0.995 * 400 * share)).tolist())
    assert weighted.details["population"] == 400


def test_weights_that_sum_to_less_than_the_file_are_not_taken_for_a_population():
    data = microdata(x=["a", "b"], w=[0.5, 0.5]).with_roles(weight="w")
    found = risk.IdentificationRisk().measure(data)
    assert found.details["inclusion"] == 1
    assert any("weights" in w for w in found.warnings)
    with pytest.raises(DataError, match="population"):
        risk.IdentificationRisk(population=1).measure(data)


codes = st.lists(st.tuples(*[st.integers(0, 2)] * 3), min_size=2, max_size=25)


@settings(deadline=None, max_examples=60)
@given(codes, st.data())
def test_knowing_more_never_lowers_the_risk(rows, draw):
    data = microdata((), **{n: [r[i] for r in rows] for i, n in enumerate("xyz")})
    kept = draw.draw(st.lists(st.integers(0, len(rows) - 1), min_size=1, unique=True))
    base = draw.draw(st.sampled_from(["joint", "independent"]))
    release = released(data, sorted(kept))
    values = [
        risk.IdentificationRisk(keys=keys, base=base).measure(data, release).per_unit
        for keys in (["x"], ["x", "y"], ["x", "y", "z"])
    ]
    assert np.all(values[0] <= values[1] + 1e-12)
    assert np.all(values[1] <= values[2] + 1e-12)


gappy = st.lists(st.tuples(*[st.none() | st.integers(0, 1)] * 3), min_size=2, max_size=12)


@settings(deadline=None, max_examples=60)
@given(gappy, st.permutations("xyz"), st.data())
def test_gaps_in_the_original_never_make_knowing_more_safer(rows, order, draw):
    complete = [i for i, row in enumerate(rows) if None not in row]
    assume(complete)
    kept = draw.draw(st.lists(st.sampled_from(complete), min_size=1, unique=True))
    base = draw.draw(st.sampled_from(["joint", "independent"]))
    columns = {n: pl.Series([r[i] for r in rows], dtype=pl.Int64) for i, n in enumerate("xyz")}
    data = microdata((), **columns)
    values = [
        risk.IdentificationRisk(keys=list(order[:n]), base=base, population=2 * len(rows))
        .measure(data, released(data, sorted(kept)))
        .per_unit
        for n in (1, 2, 3)
    ]
    assert np.all(values[0] <= values[1] + 1e-12)
    assert np.all(values[1] <= values[2] + 1e-12)


def test_a_gap_in_the_population_counts_as_the_others_do():
    # x is known of b and c only through y: 2 of 3 with y have 0, so the gap counts 2/3
    data = microdata(("x", "y"), x=["a", "a", "a", "b"], y=[0, 0, 1, None])
    found = risk.IdentificationRisk(population=8).measure(data, released(data, [0, 2]))
    # pi = 1/4, t = 2; P(a, 0) = 2/4, P(a, 1) = 1/4 (b does not agree on x): r = 2 and 4
    expected = [r / 8 / (r / 8 + 3 / 4) for r in (2, 4)]
    assert found.per_unit[[0, 2]].tolist() == pytest.approx(expected)
    gap = microdata(("x", "y"), x=["a", "a", "a", "a"], y=[0, 0, 1, None])
    found = risk.IdentificationRisk(population=8).measure(gap, released(gap, [0, 2]))
    # now the gap agrees on x: P(a, 0) = (2 + 2/3)/4 = 2/3, P(a, 1) = (1 + 1/3)/4 = 1/3
    expected = [r / 8 / (r / 8 + 3 / 4) for r in (3 / 2, 3)]
    assert found.per_unit[[0, 2]].tolist() == pytest.approx(expected)


def test_a_released_gap_that_fits_better_is_evidence_against_the_own_record():
    # B is found by y; once z is known, A's record, whose y is missing, fits B as well on z
    data = microdata((), y=[None, 1, 0], z=[0, 0, 1])
    release = released(data, [0, 1])
    one, two = (
        risk.IdentificationRisk(keys=keys, population=6).measure(data, release).per_unit[1]
        for keys in (["y"], ["y", "z"])
    )
    # pi/t = 1/6; y alone: own 1/P(y=1) = 2, A without a field 1; with z: own 2, A 1/P(z=0) = 1.5
    assert one == pytest.approx((2 / 6) / (3 / 6 + 4 / 6))
    assert two == pytest.approx((2 / 6) / (3.5 / 6 + 4 / 6))


@settings(deadline=None, max_examples=60)
@given(codes, st.data())
def test_a_smaller_sample_has_a_lower_risk(rows, draw):
    data = microdata(("x", "y", "z"), **{n: [r[i] for r in rows] for i, n in enumerate("xyz")})
    order = draw.draw(st.permutations(range(len(rows))))
    size = draw.draw(st.integers(1, len(rows)))
    fewer = draw.draw(st.integers(1, size))
    population = 3 * len(rows)
    measure = risk.IdentificationRisk(population=population)
    large = measure.measure(data, released(data, sorted(order[:size]))).value
    small = measure.measure(data, released(data, sorted(order[:fewer]))).value
    assert small <= large + 1e-12


def test_suppressed_values_lower_the_risk_of_their_own_record():
    data = microdata(x=["a", "b", "c", "d"], y=[1, 2, 3, 4])
    hidden = pl.Series("x", [None, "b", "c", "d"])
    more = pl.Series("y", [None, 2, 3, 4])
    one = risk.IdentificationRisk(population=40).measure(data, released(data, range(4), x=hidden))
    both = risk.IdentificationRisk(population=40).measure(
        data, released(data, range(4), x=hidden, y=more)
    )
    full = risk.IdentificationRisk(population=40).measure(data)
    assert both.per_unit[0] < one.per_unit[0] <= full.per_unit[0]
    assert both.per_unit[0] == pytest.approx(1 / 37), "three records belong to others of the 40"


def test_knowledge_of_a_confidential_field_singles_one_person_out():
    data = microdata(("x",), x=["a", "a", "a"], pay=[1, 2, 3])
    assert risk.IdentificationRisk().measure(data).per_unit.tolist() == pytest.approx([1 / 3] * 3)
    told = data.with_knowledge(some={"pay": [True, False, False]})
    assert risk.IdentificationRisk().measure(told).per_unit.tolist() == pytest.approx(
        [1, 1 / 3, 1 / 3]
    )


def test_perturbed_numbers_are_matched_by_distance():
    ages = np.arange(20.0, 80.0)
    data = microdata(x=ages)
    rng = np.random.default_rng(2)
    values = []
    for noise in (0.2, 2.0, 20.0):
        after = pl.DataFrame({"x": ages + rng.normal(0, noise, len(ages))})
        exact = risk.IdentificationRisk(matching="exact").measure(data, after)
        assert exact.value == 0, "no value is equal, but that protects nobody"
        values.append(risk.IdentificationRisk().measure(data, after).value)
    assert values[0] > values[1] > values[2] > 0
    assert values[0] > 0.8


def test_larger_errors_of_the_intruder_lower_the_risk():
    data = microdata(x=np.arange(40.0), y=["a", "b"] * 20)
    risks = [risk.IdentificationRisk(errors={"x": e}).measure(data).value for e in (0, 0.3, 2, 30)]
    assert risks == sorted(risks, reverse=True)
    assert risks[0] == 1
    misread = [risk.IdentificationRisk(errors={"y": e}).measure(data).value for e in (0, 0.2, 0.5)]
    assert misread == sorted(misread, reverse=True)


def test_coarsening_is_known_to_the_intruder():
    data = microdata(x=[20, 21, 22, 30, 31, 45])
    found = risk.IdentificationRisk().measure(data, pl.DataFrame({"x": [20, 20, 20, 30, 30, 45]}))
    assert found.per_unit.tolist() == pytest.approx([1 / 3] * 3 + [1 / 2] * 2 + [1])
    bands = pl.DataFrame({"x": ["20-29"] * 3 + ["30-39"] * 2 + ["40+"]})
    assert risk.IdentificationRisk().measure(data, bands).per_unit.tolist() == pytest.approx(
        [1 / 3] * 3 + [1 / 2] * 2 + [1]
    )


def test_independent_base_multiplies_the_margins():
    data = microdata(x=["a", "a", "b", "b"], y=[1, 2, 1, 2])
    found = risk.IdentificationRisk(base="independent", population=8).measure(data)
    # r = 1 / (1/2 * 1/2); P = (0.5/4 * 4) / (0.5/4 * 4 + 0.5)
    assert found.per_unit.tolist() == pytest.approx([0.5] * 4)


def test_a_release_without_any_known_field_leaves_a_guess():
    data = microdata(("x",), x=["a", "b"], pay=[1, 2])
    found = risk.IdentificationRisk().measure(data, pl.DataFrame({"pay": [1, 2]}))
    assert found.per_unit.tolist() == [0.5, 0.5]
    assert found.details["fields_not_released"] == ["x"]


def test_groups_broken_by_sampling_are_reported():
    data = microdata(("x",), x=[1.0, 2.0, 5.0, 6.0, 9.0, 10.0, 11.0])
    means = pl.Series("x", [5.5, 5.5, 10, 10, 1.5])
    release = released(data, [2, 3, 4, 6, 0], x=means)
    found = risk.IdentificationRisk().measure(data, release)
    assert found.details["unpaired"] == {"x": 1}
    assert any("1 released record is alone with a value of x" in w for w in found.warnings)
    noise = pl.Series("x", [5.1, 6.2, 9.3, 11.4, 1.5])
    found = risk.IdentificationRisk().measure(data, released(data, [2, 3, 4, 6, 0], x=noise))
    assert found.details["unpaired"] == {"x": 5}
    assert not found.warnings, "noise never made groups, so none is broken"


def test_swapped_suppressed_and_renamed_values_made_no_groups():
    data = microdata(("x", "y"), x=[1, 1, 1, 2, 2, 2, 3], y=list("aaabbbc"))
    swapped = released(data, range(7), x=pl.Series([1, 1, 2, 2, 2, 1, 3]))
    hidden = released(data, range(7), x=pl.Series([None, 1, 1, 2, 2, 2, 3]))
    renamed = released(data, range(7), y=pl.Series(list("AAABBBC")))
    for release in (swapped, hidden, renamed):
        assert not risk.IdentificationRisk().measure(data, release).warnings


def test_what_cannot_be_measured_says_so():
    plain = Microdata.of(pl.DataFrame({"x": [1, 2]}))
    assert "key" in risk.IdentificationRisk().objection(plain)
    assert risk.IdentificationRisk().objection(plain.with_knowledge(["x"])) is None
    with pytest.raises(DataError, match="key"):
        risk.IdentificationRisk().measure(plain)
    with pytest.raises(DataError, match="at least one record"):
        risk.IdentificationRisk(keys=["x"]).measure(plain, pl.DataFrame({"x": [1]}).clear())
    with pytest.raises(DataError, match="paired"):
        risk.IdentificationRisk(keys=["x"]).measure(plain, pl.DataFrame({"x": [1]}))
    for wrong in ({"population": 0}, {"errors": {"x": -1}}, {"base": "other"}):
        with pytest.raises(ParameterError, match=next(iter(wrong))):
            risk.IdentificationRisk(**wrong)


def test_one_record_and_all_missing_keys():
    assert risk.IdentificationRisk().measure(microdata(x=["ä"])).value == 1
    empty = microdata(x=pl.Series([None, None], dtype=pl.String))
    found = risk.IdentificationRisk().measure(empty)
    assert found.per_unit.tolist() == [0.5, 0.5]
    json.dumps(found.as_dict(), allow_nan=False)


@pytest.mark.slow
def test_a_hundred_thousand_records_take_about_a_second():
    import time

    data = tacit.datasets.census(100_000)
    risk.IdentificationRisk().measure(tacit.datasets.census(50))
    started = time.perf_counter()
    found = risk.IdentificationRisk(population=1e6).measure(data)
    assert time.perf_counter() - started < 60, "generous: the machine may be busy"
    assert 0 < found.value < 1


@settings(deadline=None, max_examples=40)
@given(
    x=st.lists(st.integers(0, 2), min_size=6, max_size=12),
    base=st.sampled_from(["joint", "independent"]),
    error=st.sampled_from([0.0, 1.5]),
    seed=st.integers(0, 1000),
)
def test_who_else_is_known_does_not_change_the_risk_of_a_person(x, base, error, seed):
    rng = np.random.default_rng(seed)
    pay = rng.permutation(len(x)).astype(float)
    data = microdata(x=x, pay=pay.tolist())
    person = int(rng.integers(len(x)))
    alone = data.with_knowledge(some={"pay": np.arange(len(x)) == person})
    all_known = data.with_knowledge(["pay"])
    measure = risk.IdentificationRisk(population=50, base=base, errors={"pay": error})
    one, everyone = (measure.measure(d).per_unit[person] for d in (alone, all_known))
    assert one == pytest.approx(everyone)
    if error == 0:  # somebody told apart by a value of their own is not safer for it
        assert one >= measure.replace(errors={}).measure(data).per_unit[person] - 1e-12


def test_shuffled_rows_are_refused_not_called_safe():
    data = tacit.datasets.census(300)
    shuffled = data.frame.sample(fraction=1.0, shuffle=True, seed=3)
    with pytest.raises(DataError, match="another order"):
        risk.IdentificationRisk(keys=["region", "sex", "age"]).measure(data, shuffled)


# -- labels that differ from record to record -----------------------------------------------------


BOXES = {"x": ["20", "21", "20", "25"], "y": ["f", "f", "m", "m"]}
RANGES = ["[20, 21]", "[20, 21]", "[20, 25]", "[20, 25]"]


def test_a_range_matches_the_values_released_under_it():
    """Who knows x alone finds 20 under both ranges, 21 and 25 under one each."""
    data = microdata(keys=["x"], **BOXES)
    found = risk.IdentificationRisk().measure(data, released(data, range(4), x=pl.Series(RANGES)))
    assert found.per_unit.tolist() == pytest.approx([1 / 4, 1 / 2, 1 / 4, 1 / 2])
    assert "labels tell" in found.details["fields"]["x"]
    assert found.warnings == ()


def test_a_range_beside_an_equal_field_matches_within_its_box():
    data = microdata(**BOXES)
    found = risk.IdentificationRisk().measure(data, released(data, range(4), x=pl.Series(RANGES)))
    assert found.per_unit.tolist() == pytest.approx([1 / 2] * 4)


def test_ranges_of_a_sample_are_as_risky_as_their_boxes_in_the_population():
    """Each of the two records of a box stands for 100 people: 1 in 200."""
    data = microdata(**BOXES, w=[100.0] * 4).with_roles(weight="w")
    found = risk.IdentificationRisk().measure(data, released(data, range(4), x=pl.Series(RANGES)))
    assert found.per_unit.tolist() == pytest.approx([1 / 200] * 4)


def test_ranges_known_with_an_error_are_less_risky():
    data = microdata(**BOXES)
    release = released(data, range(4), x=pl.Series(RANGES))
    sure = risk.IdentificationRisk().measure(data, release).value
    unsure = risk.IdentificationRisk(errors={"x": 0.3, "y": 0.2}).measure(data, release).value
    assert 0.25 < unsure < sure


def test_exchanged_values_are_still_taken_for_errors():
    data = microdata(**BOXES)
    release = released(data, range(4), x=pl.Series(["21", "20", "20", "25"]))
    note = risk.IdentificationRisk().measure(data, release).details["fields"]["x"]
    assert "differ with probability" in note


@settings(deadline=None, max_examples=25)
@given(st.integers(2, 6), st.integers(0, 10**6), st.booleans())
def test_boxes_are_as_risky_as_the_records_that_a_person_fits(k, seed, strict):
    """An independent count, by comparing every person with every record."""
    rng = np.random.default_rng(seed)
    columns = {
        "a": rng.integers(0, 9, 60), "b": rng.choice(list("uvwxyz"), 60),
        "c": rng.integers(0, 3, 60).astype(str),
    }  # fmt: skip
    data = microdata(keys=["a", "b", "c"], **columns)
    release = tacit.Plan([tacit.mask.Mondrian(k=k, strict=strict)]).apply(data, seed=1)
    found = risk.IdentificationRisk().measure(data, release)
    after = release.data.local.select("a", "b", "c").cast(pl.String)
    before = data.local.select("a", "b", "c").cast(pl.String)
    under = [set(zip(before[n], after[n], strict=True)) for n in before.columns]
    for i, person in enumerate(before.rows()):
        fits = [
            all(
                pair in known
                for pair, known in zip(zip(person, r, strict=True), under, strict=True)
            )
            for r in after.rows()
        ]
        assert found.per_unit[i] == pytest.approx(1 / sum(fits))
    if strict:
        sizes = np.asarray(risk.KAnonymity().measure(data, release).per_unit)
        assert found.per_unit == pytest.approx(1 / sizes)
