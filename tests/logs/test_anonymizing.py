"""The whole job, and attacks on what it promises."""

import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy.sparse import coo_array

import tacit
from tacit import logs
from tacit.core.errors import DataError, ParameterError, ProtectionError
from tacit.logs.aggregation import aggregate
from tacit.logs.anonymizing import random_groups
from tacit.logs.profiles import classify
from tacit.logs.remaining_interests import remain_by_level

WORDS = ["flu", "migraine", "risotto", "lasagne", "apple pie", "chess", "nothing known"]


def logs_of(frame):
    """Return the sorted lines of each user."""
    rows = frame.group_by("user").agg(pl.struct(pl.exclude("user")).sort().alias("lines"))
    return [tuple(map(str, lines)) for lines in rows["lines"].to_list()]


@st.composite
def small_logs(draw):
    n_users = draw(st.integers(2, 14))
    asked = st.lists(st.sampled_from(WORDS), min_size=1, max_size=10)
    return [(user, query) for user in range(n_users) for query in draw(asked)]


@settings(max_examples=60)
@given(small_logs(), st.integers(2, 5), st.sampled_from(["greedy", "mdav"]), st.booleans())
def test_every_released_log_is_shared_by_k_users(rows, k, way, fill):
    taxonomy = logs.Taxonomy.of({w: [f"A/{w[0]}/{w}"] for w in WORDS[:-1]})
    frame = pl.DataFrame(rows, schema=["user", "query"], orient="row")
    options = {"k": k, "levels": 3, "partition": way, "fill": fill, "cleaning": None, "seed": 1}
    try:
        release = logs.anonymize(frame, taxonomy, **options)
    except (ProtectionError, DataError):
        known = frame["query"].is_in(WORDS[:-1]).any()
        n_users = frame["user"].n_unique()
        # Fewer than k users, an unknown log, or (without filling) no line drawn at all.
        assert n_users < k or not known or not fill
        return
    released = logs_of(release.frame)
    assert min(released.count(log) for log in released) >= k
    assert logs.user_k_anonymity(release.frame).value >= k
    asked = set(frame["query"])
    assert set(release.frame["query"]) <= asked


def test_the_promise_of_the_architecture(made_up, demonstration):
    release = logs.anonymize(made_up, demonstration, k=3, levels=5)
    assert release.frame.columns == ["user", "query"]
    assert logs.user_k_anonymity(release.frame).value >= 3


def test_same_seed_same_release_other_seed_other_release(made_up, demonstration):
    first, second, other = (
        logs.anonymize(made_up, demonstration, seed=seed).frame for seed in (5, 5, 6)
    )
    assert first.equals(second)
    assert not first.equals(other)


def test_details_are_the_same_for_all_users_of_a_group(made_up, demonstration):
    rules = logs.Cleaning(time="day", url="domain")
    release = logs.anonymize(made_up, demonstration, cleaning=rules, seed=1)
    assert release.frame.columns == ["user", "query", "time", "rank", "url"]
    assert logs.user_k_anonymity(release.frame).value >= 3
    assert all(t.hour == 0 for t in release.frame["time"])


def test_nobody_is_identified_and_no_identifier_is_left(release):
    text = " ".join(release.frame["query"])
    assert "@" not in text
    assert "555" not in text
    assert set(release.frame["user"]) <= set(range(1, 151))
    same = (release.truth["user"].cast(pl.Int64) == release.truth["pseudonym"]).sum()
    assert same < 10  # a random order, not the order of the file


@pytest.mark.parametrize("rules", [{"time": "hour"}, {"time": "keep"}, {"url": "keep"}])
def test_exact_details_are_refused(made_up, demonstration, rules):
    with pytest.raises(ProtectionError, match="belong together"):
        logs.anonymize(made_up, demonstration, cleaning=logs.Cleaning(**rules))


def test_refusals(log_of, made_up, taxonomy, demonstration):
    with pytest.raises(ProtectionError):
        logs.anonymize(log_of({}), taxonomy)
    with pytest.raises(ProtectionError, match="k = 3"):
        logs.anonymize(log_of({"u": ["flu"], "v": ["flu"]}), taxonomy)
    with pytest.raises(ProtectionError, match="needs at least"):
        # Cleaning leaves no query that two users asked.
        logs.anonymize(log_of({str(n): [w] for n, w in enumerate(WORDS)}), taxonomy)
    with pytest.raises(ParameterError):
        logs.anonymize(made_up, {"flu": ["Health"]})
    with pytest.raises(ParameterError, match="no parameter"):
        logs.anonymize(made_up, demonstration, level=3)


def test_input_is_not_changed(demonstration):
    data = tacit.datasets.query_log(40)
    before = data.frame.clone()
    logs.anonymize(data, demonstration, k=2)
    assert data.frame.equals(before)


def test_cleaning_that_leaves_too_few_is_named(log_of, taxonomy):
    log = log_of({"a": ["flu"], "b": ["flu"], "c": ["only mine"]})
    with pytest.raises(ProtectionError, match=r"cleaning leaves fewer.*2 of 3"):
        logs.anonymize(log, taxonomy, k=3)
    with pytest.raises(ParameterError, match="seed"):
        logs.anonymize(log, taxonomy, k=2, seed=-1)


def test_similar_users_lose_less_than_random_groups(made_up, demonstration):
    """Semantic groups must beat groups put together at random (section 2.2 of ODP)."""
    release = logs.anonymize(made_up, demonstration, k=4, cleaning=None, seed=2)
    found = classify(made_up.queries, demonstration, levels=5, categories=5)
    before = found.profiles(made_up.counts())

    def remain(groups):
        lines = aggregate(made_up, groups, np.random.default_rng(2))
        cells = (groups[made_up.user[lines]], made_up.query[lines])
        shape = (groups.max() + 1, len(made_up.queries))
        counts = coo_array((np.ones(len(lines), dtype=np.int32), cells), shape=shape).tocsr()
        return remain_by_level(before, found.profiles(counts)[groups], found.level, 5)

    chance = remain(random_groups(made_up.n_users, 4, np.random.default_rng(1)))
    ours = np.array(logs.semantic_remain(release).details["by_level"])
    assert np.all(ours > chance + 0.03)
