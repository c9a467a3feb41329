"""Attacks F1-F5 on federated computations, and what coalitions see over many runs.

A view is independent of the others' values when its distribution does not change with them. The
tests draw views for two very different sets of values (with the same sum and the same own value,
which a party may know) and compare: every view must be uniform under both.
"""

from itertools import combinations

import numpy as np
import polars as pl
import pytest
from scipy import stats

from tacit.core.errors import ProtectionError
from tacit.federated import Policy, StoppedError, masks, neighbours_learn, ring_sum, simulate
from tacit.federated import messages as m
from tacit.federated.analysis import analysis_from
from tacit.federated.coordinator import Coordinator
from tacit.federated.fixed_point import COUNTS
from tacit.federated.identity import Identity, Roster
from tacit.federated.integrity import N_TAGS
from tacit.federated.shamir import PRIME, SHARE_BYTES, restore
from tacit.federated.simulator import InProcess, agencies
from tacit.federated.summation import Summation, pair_purpose
from tacit.federated.unmasking import Unmasking

NAMES = ("a", "b", "c", "d", "e")
LENGTH, RUNS = 250, 8
ONE_WORLD = {"a": 1.0, "b": 2.0, "c": 3.0, "d": 4.0, "e": 5.0}
OTHER_WORLD = {"a": 1.0, "b": 1e6, "c": -1e6, "d": 9.0, "e": 5.0}
"""The same sum and the same value of agency a."""
SMALLEST_P = 1e-8  # masks are drawn anew in each run, so this is how often it fails for nothing


def one_run(values, threshold=4, names=NAMES):
    """Run one sum by hand and keep everything that anybody saw."""
    identities = [Identity.new(name) for name in names]
    roster = Roster.of(identities)
    proposal = m.Proposal(
        computation="0" * 32, analysis={}, participants=names, threshold=threshold, encoding=COUNTS
    )
    members = {i.name: Summation(proposal, 0, i, roster) for i in identities}
    keys = {n: one.public() for n, one in members.items()}
    sent = {n: one.share(keys).sealed for n, one in members.items()}
    masked = {
        n: one.mask({o: sent[o][n] for o in names if o != n}, np.full(LENGTH, values[n]))
        for n, one in members.items()
    }
    arrived = {n: COUNTS.unpack(x.payload, LENGTH + N_TAGS) for n, x in masked.items()}
    return members, keys, arrived


def on_unit(words):
    return words[0, :LENGTH] / 2.0**64


def assert_uniform_in_both(view):
    """`view` maps the values of a world to numbers on the unit interval."""
    drawn = [np.concatenate([view(world) for _ in range(RUNS)]) for world in
             (ONE_WORLD, OTHER_WORLD)]  # fmt: skip
    for sample in drawn:
        assert stats.kstest(sample, "uniform").pvalue > SMALLEST_P
    assert stats.ks_2samp(*drawn).pvalue > SMALLEST_P


def test_the_comparison_can_fail():
    """A mask of 32 bits would be found out."""

    def weak(world):
        return (world["b"] + np.random.default_rng().integers(0, 2**32, LENGTH)) / 2.0**64

    with pytest.raises(AssertionError):
        assert_uniform_in_both(weak)


# -- the coordinator ---------------------------------------------------------------------------


def test_the_coordinator_sees_uniform_contributions():
    for name in ("b", "c"):
        assert_uniform_in_both(lambda world, n=name: on_unit(one_run(world)[2][n]))


def test_contributions_of_two_agencies_are_independent():
    _, _, arrived = one_run(ONE_WORLD)
    tested = stats.spearmanr(on_unit(arrived["b"]), on_unit(arrived["c"]))
    assert tested.pvalue > SMALLEST_P


def test_the_coordinator_does_not_see_the_sum():
    def total(world):
        members, keys, arrived = one_run(world)
        given = {n: members[n].unmask(NAMES) for n in NAMES}
        return on_unit(Unmasking(members["a"].proposal, 0, keys, arrived, given).total())

    assert_uniform_in_both(total)


def test_the_lowest_bits_of_the_sum_of_four_stay_hidden():
    """Four times a mask is a multiple of four: it alone would show every count modulo four."""
    names = ("a", "b", "c", "d")
    members, keys, arrived = one_run(ONE_WORLD, 3, names)
    given = {n: members[n].unmask(names) for n in names}
    total = Unmasking(members["a"].proposal, 0, keys, arrived, given).total()
    counts = np.bincount((total[0, :LENGTH] % 4).astype(int), minlength=4)
    assert stats.chisquare(counts).pvalue > SMALLEST_P
    assert np.all(members["b"].reveal(names, COUNTS.pack(total), LENGTH) == 10)


def test_a_contribution_that_arrives_late_stays_hidden():
    """The key of an agency that was given up is known, and a partner may tell the common mask."""

    def late(world, told=False):
        members, keys, arrived = one_run(world)
        left = ("a", "b", "d", "e")
        given = {n: members[n].unmask(left) for n in left}
        unmasking = Unmasking(members["a"].proposal, 0, keys, {n: arrived[n] for n in left}, given)
        found = unmasking._mask_key("c")
        assert found == members["c"].mask_key
        assert "c" not in {n for one in given.values() for n in one.seeds}
        words = without_pairs(arrived["c"], "c", found, keys, NAMES)
        common = members["a"].common_mask(("c",), words.shape[1])
        return on_unit(COUNTS.subtract(words, common) if told else words)

    assert_uniform_in_both(late)
    assert_uniform_in_both(lambda world: late(world, told=True))


def without_pairs(words, name, key, keys, others):
    """Take away the masks that an agency made with others, given its key."""
    purpose = pair_purpose(
        m.Proposal(
            computation="0" * 32, analysis={}, participants=NAMES, threshold=4, encoding=COUNTS
        ).digest() + (0).to_bytes(4, "big")
    )  # fmt: skip
    for other in others:
        if other != name:
            seed = masks.agree(key, bytes.fromhex(keys[other].mask), purpose)
            stream = masks.expand(seed, 1, words.shape[1])
            words = (COUNTS.subtract if other > name else COUNTS.add)(words, stream)
    return words


# -- agencies ----------------------------------------------------------------------------------


def test_one_agency_sees_shares_that_are_uniform():
    def shares(world):
        members, _, _ = one_run(world)
        parcels = [members["a"].inbox[n] for n in ("b", "c")]
        parts = [p[k * SHARE_BYTES : (k + 1) * SHARE_BYTES] for p in parcels for k in (0, 1)]
        return np.array([int.from_bytes(part, "big") / PRIME for part in parts])

    drawn = [np.concatenate([shares(w) for _ in range(25)]) for w in (ONE_WORLD, OTHER_WORLD)]
    for sample in drawn:
        assert stats.kstest(sample, "uniform").pvalue > SMALLEST_P
    assert stats.ks_2samp(*drawn).pvalue > SMALLEST_P


def coalition_view(world, colluders, target, taken=None):
    """All that colluders and coordinator can take off a contribution, after the unmasking.

    They know the target's own mask, the common one, and those between the target and each of them;
    of these they take off those of `taken`, all unless told otherwise.
    """
    members, keys, arrived = one_run(world)
    given = {n: members[n].unmask(NAMES) for n in NAMES}
    unmasking = Unmasking(members["a"].proposal, 0, keys, arrived, given)
    words = arrived[target]
    length = words.shape[1]
    words = COUNTS.subtract(words, masks.expand(unmasking._own_seed(target), 1, length))
    words = COUNTS.subtract(words, members[colluders[0]].common_mask((target,), length))
    for other in colluders if taken is None else taken:
        seed = members[other]._pair_seed(target)
        stream = masks.expand(seed, 1, length)
        words = (COUNTS.subtract if other > target else COUNTS.add)(words, stream)
    return words


@pytest.mark.parametrize("colluders", ["a", "ade"], ids=["one agency", "t - 1 agencies"])
def test_colluders_with_the_coordinator_see_uniform_values(colluders):
    """Whichever masks they take off: one they did not make must be left in each case."""
    for taken in ("", colluders[0], colluders):
        assert_uniform_in_both(
            lambda world, taken=taken: on_unit(coalition_view(world, colluders, "b", taken))
        )


def test_the_test_of_colluders_fails_without_masks_between_pairs(monkeypatch):
    """The comparison is able to fail: the same sum without these masks is found out."""
    monkeypatch.setattr(Summation, "_pair_seed", lambda self, name: bytes(32))
    monkeypatch.setattr(masks, "expand", unless_zero(masks.expand))
    with pytest.raises(AssertionError):
        assert_uniform_in_both(lambda world: on_unit(coalition_view(world, "ade", "b")))


def unless_zero(expand):
    """Return no mask at all for the seed of zeros."""

    def expanded(seed, words, length):
        return (
            np.zeros((words, length), np.uint64)
            if seed == bytes(32)
            else expand(seed, words, length)
        )

    return expanded


def test_before_the_unmasking_t_minus_1_colluders_lack_every_secret():
    """Their shares of an honest agency's seed fit any seed equally well."""
    members, _, _ = one_run(ONE_WORLD)
    t = members["b"].proposal.threshold

    def guess(holders, length=66):
        known = {NAMES.index(n) + 1: members[n].inbox["b"][:SHARE_BYTES] for n in holders}
        return restore(known, len(holders), length)[-32:]

    assert guess(("a", "c", "d", "e")) == members["b"].own_seed  # t of them have it
    for few in combinations("acde", t - 1):
        assert guess(few) != members["b"].own_seed


def test_all_but_one_colluders_learn_the_one_by_subtraction():
    """No protocol for sums can prevent this: the limit is stated, not hidden."""
    words = coalition_view(ONE_WORLD, ("a", "c", "d", "e"), "b")
    assert np.array_equal(COUNTS.decode(words)[:LENGTH], np.full(LENGTH, ONE_WORLD["b"]))


def told_two_stories(threshold):
    """Return what a coordinator finds of b who tells some that b was lost, and others not."""
    members, keys, arrived = one_run(ONE_WORLD, threshold)
    without_b = tuple(n for n in NAMES if n != "b")
    given = {n: members[n].unmask(NAMES) for n in "abc"}
    given |= {n: members[n].unmask(without_b) for n in "de"}
    told = Unmasking(members["a"].proposal, 0, keys, arrived, given)
    words = COUNTS.subtract(arrived["b"], masks.expand(told._own_seed("b"), 1, LENGTH + N_TAGS))
    proposal = members["a"].proposal
    purpose = pair_purpose(proposal.digest() + (0).to_bytes(4, "big"))
    key = told._mask_key("b")
    for other in without_b:
        seed = masks.agree(key, bytes.fromhex(keys[other].mask), purpose)
        stream = masks.expand(seed, 1, LENGTH + N_TAGS)
        words = (COUNTS.subtract if other > "b" else COUNTS.add)(words, stream)
    return COUNTS.subtract(words, members["a"].common_mask(("b",), LENGTH + N_TAGS))


def test_different_lists_of_survivors_for_different_agencies_show_nobody():
    """With a partner's help seed and key of one agency give its value; half are not enough."""
    assert np.all(COUNTS.decode(told_two_stories(threshold=2))[:LENGTH] == ONE_WORLD["b"])
    with pytest.raises(ProtectionError, match="2 shares, 3 needed"):
        told_two_stories(threshold=3)  # the smallest that an agency of five accepts


# -- whole computations, as they run -----------------------------------------------------------


def transcripts(swapped):
    """Run a regression and return what passed each channel; two agencies may swap their records.

    Then all pooled sums and the answer are the same, and so must everything else be that anybody
    but these two sees.
    """
    parts = frames()
    if swapped:
        parts["agency-1"], parts["agency-2"] = parts["agency-2"], parts["agency-1"]
    channels = {a.name: InProcess(a, []) for a in agencies(parts)}
    answer = Coordinator(channels, workers=1).run(
        analysis_from({"analysis": "ols", "y": "y", "x": ["x"]})
    )
    return {
        n: [tuple(map(m.decode, both)) for both in c.transcript] for n, c in channels.items()
    }, answer


def payloads(seen, kind):
    """Return the vectors of one kind of message, in order."""
    return [o.payload for both in seen for o in both if o.kind == kind]


def assert_bytes_uniform(text):
    counts = np.bincount(np.frombuffer(text, dtype=np.uint8), minlength=256)
    assert stats.chisquare(counts).pvalue > SMALLEST_P


def test_all_that_the_coordinator_sees_of_a_regression_is_uniform_or_the_answer():
    for swapped in (False, True):
        masked, totals = [], []
        for _ in range(6):
            seen, _ = transcripts(swapped)
            masked += [b"".join(payloads(s, "masked")) for s in seen.values()]
            totals += payloads(seen["agency-0"], "finish")
        assert_bytes_uniform(b"".join(masked))
        assert_bytes_uniform(b"".join(totals))


def test_no_mask_is_used_twice():
    """The same records again: the difference of two contributions would be zero."""
    (one, _), (other, _) = transcripts(False), transcripts(False)
    for name in one:
        drawn = [np.frombuffer(b"".join(payloads(s[name], "masked")), "<u8") for s in (one, other)]
        assert_bytes_uniform((drawn[0] - drawn[1]).tobytes())
        lengths = [len(p) for p in payloads(one[name], "masked")]
        assert len(lengths) == 4  # and in different sums of one computation
        shared = min(lengths)
        sums = [np.frombuffer(p[:shared], "<u8") for p in payloads(one[name], "masked")]
        assert not any(np.any(a == b) for a, b in combinations(sums, 2))


def test_sizes_and_order_of_messages_do_not_depend_on_the_records():
    shapes = []
    for swapped in (False, True):
        seen, answer = transcripts(swapped)
        shapes.append(
            {n: [(o.kind, len(o.encode())) for both in s for o in both] for n, s in seen.items()}
        )
        assert answer["n"] == 120
    assert shapes[0] == shapes[1]


# -- F1 to F5 ----------------------------------------------------------------------------------


def frames(k=3, n=40, seed=1):
    rng = np.random.default_rng(seed)
    return {
        f"agency-{i}": pl.DataFrame(
            {"x": rng.normal(size=n), "y": rng.normal(size=n), "s": rng.choice(["a", "b"], n)}
        )
        for i in range(k)
    }


def test_f1_neighbours_break_the_ring_and_not_the_secure_sum():
    assert neighbours_learn(ring_sum([10, 20, 30, 40]), 2) == 30
    assert_uniform_in_both(lambda world: on_unit(coalition_view(world, ("a", "c"), "b")))


def test_f2_two_agencies_are_refused_by_each_agency_itself():
    two = agencies(frames(2))
    wanted = m.Proposal(
        computation="0" * 32,
        analysis={"analysis": "count"},
        participants=tuple(a.name for a in two),
        threshold=2,
    )
    for agency in two:
        reply = m.decode(agency.handle(m.Propose(proposal=wanted).encode()))
        assert "subtracting its own" in reply.reason


def test_f3_the_same_statistic_without_one_agency_is_refused():
    members = agencies(frames(4))
    mean = analysis_from({"analysis": "mean", "variables": ["x"]})
    Coordinator({a.name: InProcess(a) for a in members}, workers=1).run(mean)
    fewer = Coordinator({a.name: InProcess(a) for a in members[:3]}, workers=1)
    with pytest.raises(StoppedError, match="what one agency contributed"):
        fewer.run(mean)
    # Another statistic of the same column gives the difference as well.
    with pytest.raises(StoppedError, match="what one agency contributed"):
        fewer.run(analysis_from({"analysis": "covariance", "variables": ["x", "y"]}))


def test_f3_an_agency_lost_on_purpose_is_refused_too():
    """After a result with all four, a coordinator cannot repeat it and pretend a loss."""
    members = agencies(frames(5))
    channels = {a.name: InProcess(a) for a in members}
    mean = analysis_from({"analysis": "mean", "variables": ["x"]})
    Coordinator(channels, workers=1, threshold=4).run(mean)

    class Cut:
        def send(self, request):
            from tacit.federated import LostError

            if b'"ask-masked"' in request[:100]:
                raise LostError("cut on purpose")
            return channels["agency-4"].send(request)

        def close(self):
            pass

    with pytest.raises(StoppedError, match="what one agency contributed"):
        Coordinator({**channels, "agency-4": Cut()}, workers=1, threshold=4).run(mean)


def test_f3_a_plain_sum_without_one_agency_is_refused():
    members = agencies([np.array([float(k)]) for k in range(4)], Policy(max_length=1))
    vector = analysis_from({"analysis": "vector", "size": 1})
    Coordinator({a.name: InProcess(a) for a in members}, workers=1).run(vector)
    with pytest.raises(StoppedError, match="what one agency contributed"):
        Coordinator({a.name: InProcess(a) for a in members[:3]}, workers=1).run(vector)


def test_records_are_not_singled_out_by_a_missing_value():
    """A mean with and without a variable that one record lacks differ by that record."""
    parts = {
        n: p.with_columns(z=pl.when(pl.int_range(pl.len()) > 0).then("y"))
        for n, p in frames().items()
    }
    together = Coordinator({a.name: InProcess(a) for a in agencies(parts)}, workers=1)
    together.run(analysis_from({"analysis": "mean", "variables": ["x"]}))
    together.run(analysis_from({"analysis": "mean", "variables": ["y", "z"]}))
    with pytest.raises(StoppedError, match="an earlier computation"):
        together.run(analysis_from({"analysis": "mean", "variables": ["x", "z"]}))


def test_records_are_not_singled_out_by_moving_an_edge():
    parts = frames()
    values = np.sort(np.concatenate([p["x"].to_numpy() for p in parts.values()]))
    edges = [float(values[k : k + 2].mean()) for k in (60, 61, 90)]
    together = Coordinator({a.name: InProcess(a) for a in agencies(parts)}, workers=1)
    asked = [{"analysis": "histogram", "variable": "x", "edges": [edge]} for edge in edges]
    together.run(analysis_from(asked[0]))
    together.run(analysis_from(asked[2]))
    with pytest.raises(StoppedError, match="an earlier computation"):
        together.run(analysis_from(asked[1]))


def smallest_by_refusals(agency, column, most):
    """Ask for histograms that never run: those with one or two records below the edge are refused.

    Returns how near the edge came to the smallest value of the agency.
    """
    low, high = -10.0, 0.0  # none below the one, many below the other
    for k in range(most):
        edge = (low + high) / 2
        wanted = m.Proposal(
            computation=f"{k:032x}", participants=("agency-0", "agency-1", "agency-2"), threshold=2,
            analysis={"analysis": "histogram", "variable": column, "edges": [edge]},
        )  # fmt: skip
        reply = m.decode(agency.handle(m.Propose(proposal=wanted).encode()))
        if "limit of" in getattr(reply, "reason", "") or "operator" in getattr(reply, "reason", ""):
            break
        # Accepted above the third smallest value, too: then the edge is within the bulk.
        accepted = isinstance(reply, m.Accepted)
        if accepted and edge < agency.data.local[column].min():
            low = edge
        else:
            high = edge
    return float(abs(agency.data.local[column].min() - high))


def test_refusals_alone_do_not_tell_a_value():
    """Without limits the smallest value is found to the last digit; with them it stays open."""
    most = 10_000
    unlimited = Policy(max_computations=most, max_per_column=most, max_refusals=most)
    assert smallest_by_refusals(agencies(frames(), unlimited)[0], "x", 60) < 1e-12
    assert smallest_by_refusals(agencies(frames())[0], "x", 60) > 1e-3
    few = Policy(max_per_column=10, max_refusals=most)
    assert smallest_by_refusals(agencies(frames(), few)[0], "x", 60) > 1e-3


def test_f4_covariances_with_a_mark_on_one_record_are_refused():
    parts = frames()
    marked = {
        n: p.with_columns(mark=(pl.int_range(pl.len()) == 0).cast(pl.Float64)).with_columns(
            nearly=pl.col("mark") + 1
        )
        for n, p in parts.items()
    }
    for key, given in (
        ("covariance", {"variables": ["mark", "y"]}),
        ("ols", {"y": "y", "x": ["mark"]}),
        ("ols", {"y": "mark", "x": ["y"]}),
        ("poisson", {"y": "mark", "x": ["y"]}),
        ("wls", {"y": "x", "x": ["y"], "weight": "nearly"}),
        ("mean", {"variables": ["mark"]}),
    ):
        with pytest.raises(StoppedError, match="differ from all the others"):
            simulate(marked, key, **given)


@pytest.mark.parametrize("key", ["ols", "logistic", "poisson"])
def test_f5_a_record_that_determines_a_coefficient_is_refused(key):
    parts = frames()
    parts = {
        n: p.with_columns(
            x=pl.when((pl.int_range(pl.len()) == 0) & (pl.lit(n) == "agency-0"))
            .then(1e8)
            .otherwise("x"),
            y=(pl.col("y") > 0).cast(pl.Float64),
        )
        for n, p in parts.items()
    }
    with pytest.raises(StoppedError, match=r"leverage|converge|separate"):
        simulate(parts, key, y="y", x=["x"])


def test_f5_a_response_that_outweighs_all_others_is_refused():
    """X'y would be the predictors of that record, times its response."""
    parts = frames()
    outlier = pl.when(pl.int_range(pl.len()) == 0).then(1e6).otherwise("y")
    parts["agency-0"] = parts["agency-0"].with_columns(y=outlier)
    with pytest.raises(StoppedError, match="leverage"):
        simulate(parts, "ols", y="y", x=["x"])


def test_a_coordinator_cannot_lift_small_cells_over_the_rule():
    """It adds 100 to each cell of the sum, to subtract it from the answer."""
    rare = {
        n: p.with_columns(s=pl.when(pl.int_range(pl.len()) == 0).then(pl.lit("b")).otherwise(
            pl.lit("a"))) for n, p in frames().items()
    }  # fmt: skip
    members = agencies(rare, Policy(min_cell=1))
    strict = agencies(rare, Policy(min_cell=5))
    for agency, rules in zip(members, strict, strict=True):
        # The pooled rule is strict, the own one is not, so that the sum is reached.
        part = analysis_from({"analysis": "contingency", "levels": {"s": ["a", "b"]}})
        assert part.part(agency.data, agency.policy) is not None
        agency._strict = rules.policy

    class Lifting(InProcess):
        def send(self, request):
            message = m.decode(request)
            if isinstance(message, m.Finish):
                self.agency.policy = self.agency._strict
                from tacit.federated.fixed_point import FixedPoint

                ring = FixedPoint()
                words = ring.unpack(message.payload, 2 + N_TAGS)
                words = ring.add(words, ring.encode([100.0, 100.0] + [0.0] * N_TAGS))
                request = message.replace(payload=ring.pack(words)).encode()
            return super().send(request)

    coordinator = Coordinator({a.name: Lifting(a) for a in members}, workers=1)
    with pytest.raises(StoppedError, match="the sum was changed"):
        coordinator.run(analysis_from({"analysis": "contingency", "levels": {"s": ["a", "b"]}}))


def test_a_coordinator_cannot_put_itself_between_two_agencies():
    members = agencies(frames())
    fake = Identity.new("agency-1")

    class Between(InProcess):
        def send(self, request):
            message = m.decode(request)
            if isinstance(message, m.AskShares) and self.agency.name != "agency-1":
                step = Summation(
                    self.agency._open[message.computation].proposal, 0, fake, members[0].roster
                )
                keys = {**message.keys, "agency-1": step.public()}
                request = message.replace(keys=keys).encode()
            return super().send(request)

    with pytest.raises(StoppedError, match="signature of agency-1 is false"):
        Coordinator({a.name: Between(a) for a in members}, workers=1).run(
            analysis_from({"analysis": "count"})
        )
