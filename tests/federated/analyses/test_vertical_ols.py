"""Variables at different agencies that talk to each other: the regression of the joined file."""

import numpy as np
import polars as pl
import pytest
import statsmodels.api as sm
from scipy.stats import ks_2samp, kstest

from tacit.core.data import Microdata
from tacit.core.errors import ParameterError
from tacit.federated import messages as m
from tacit.federated import routing
from tacit.federated.admission import check_units
from tacit.federated.alignment import intersect
from tacit.federated.analyses import _held
from tacit.federated.analyses._vertical import as_limbs, from_limbs
from tacit.federated.analysis import analysis_from
from tacit.federated.coordinator import Coordinator
from tacit.federated.ledger import Ledger
from tacit.federated.matrix_product import PRODUCT
from tacit.federated.policy import Policy
from tacit.federated.simulator import InProcess, agencies, simulate
from tacit.federated.stopped import RefusedError, StoppedError

ASKED = {
    "unit": "id",
    "y": "y",
    "x": ["a", "b", "c"],
    "holders": {"tax": ["y", "a"], "health": ["b"], "school": ["c"]},
}
ANALYSIS = analysis_from({"analysis": "vertical-ols", **ASKED})


PROPOSAL = m.Proposal(
    computation="0" * 32, analysis=ANALYSIS.described(), threshold=3,
    participants=("health", "school", "tax"),
)  # fmt: skip


def joined(files):
    whole = files["tax"].join(files["health"], on="id").join(files["school"], on="id")
    return whole.drop_nulls(["a", "b", "c", "y"])


def fit_of(files, x=("a", "b", "c")):
    whole = joined(files)
    return sm.OLS(whole["y"].to_numpy(), sm.add_constant(whole.select(x).to_numpy())).fit()


def test_the_result_is_that_of_the_joined_file(files):
    answer = simulate(files, "vertical-ols", **ASKED)
    fit = fit_of(files)
    assert answer["n"] == len(joined(files))
    assert np.allclose(list(answer["coefficients"].values()), fit.params, rtol=1e-9, atol=0)
    assert np.allclose(list(answer["standard_errors"].values()), fit.bse, rtol=1e-9, atol=0)
    assert answer["r_squared"] == pytest.approx(fit.rsquared, rel=1e-9)
    assert answer["residual_error"] == pytest.approx(np.sqrt(fit.mse_resid), rel=1e-9)
    assert answer.agencies == ("health", "school", "tax")
    assert answer.n_sums == 2


def test_five_agencies_in_any_order_of_variables():
    rng = np.random.default_rng(3)
    n = 80
    x = rng.normal(size=(n, 5)) @ rng.normal(size=(5, 5)) + 1e4
    whole = pl.DataFrame(x, schema=[f"x{i}" for i in range(5)]).with_columns(
        id=pl.int_range(n), y=pl.Series(x @ rng.normal(size=5) + rng.normal(0, 5, n))
    )
    holders = {"e": ["x0"], "b": ["x4", "x1"], "a": ["x2"], "d": ["y"], "c": ["x3"]}
    parts = {name: whole.select("id", *own).reverse() for name, own in holders.items()}
    answer = simulate(
        parts, "vertical-ols", unit="id", y="y", x=[f"x{i}" for i in range(5)], holders=holders
    )
    fit = sm.OLS(whole["y"].to_numpy(), sm.add_constant(x)).fit()
    assert np.allclose(list(answer["coefficients"].values()), fit.params, rtol=1e-8)


@pytest.mark.parametrize(
    "wrong",
    [
        {"x": ["a", "a"]},
        {"x": ["id", "b", "c"]},
        {"holders": {"tax": ["y", "a"], "health": ["b"]}},
        {"holders": {"tax": ["y", "a"], "health": ["b", "c"], "school": []}},
        {"holders": {"tax": ["y", "a"], "health": ["b", "a"], "school": ["c"]}},
    ],
    ids=["twice", "unit", "nobody", "nothing", "two holders"],
)
def test_bad_requests_are_refused(wrong):
    with pytest.raises(ParameterError):
        analysis_from({"analysis": "vertical-ols", **ASKED, **wrong})


def spoilt(files, name, **changed):
    return {**files, name: files[name].with_columns(**changed)}


def test_rules_of_each_agency_hold(files, federation):
    def reason(parts, policy=None):
        with pytest.raises(StoppedError) as stopped:
            federation(parts, policy)[0].run(ANALYSIS)
        return stopped.value.who

    assert reason(files, {"health": Policy(analyses=("ols",))}).keys() == {"health"}
    assert "'b'" in reason(files, {"health": Policy(columns=("id", "z"))})["health"]
    assert "'id'" in reason(files, {"health": Policy(columns=("b",))})["health"]
    assert "fewer than 360" in reason(files, {"school": Policy(min_records=360)})["school"]
    nameless = spoilt(files, "school", id=pl.lit(None, pl.String))
    assert "no identifier" in reason(nameless)["school"]
    twice = spoilt(files, "school", id=pl.lit("ü1"))
    assert "twice" in reason(twice)["school"]
    assert "p >= n" in reason(spoilt(files, "tax", id=pl.int_range(350).cast(str)))["tax"]
    other = {"tax": files["tax"], "health": files["health"], "police": files["school"]}
    assert set(reason(other)) == {"tax", "health", "police"}


def test_attack_a_unit_that_stands_out_in_all_variables_together_is_refused(files, federation):
    rng = np.random.default_rng(5)
    unit = joined(files)["id"][3]
    near = files["tax"].select(
        "id",
        b=pl.when(pl.col("id") == unit)
        .then(pl.col("a") + 6.0)
        .otherwise(pl.col("a") + pl.Series(rng.normal(0, 1e-3, 350))),
    )
    coordinator, _ = federation({**files, "health": near})
    with pytest.raises(StoppedError, match="all variables together"):
        coordinator.run(ANALYSIS)


def test_attack_a_perfect_fit_is_refused(files, federation):
    copied = files["tax"].select("id", b=pl.col("y") * 2)
    with pytest.raises(StoppedError, match="perfect"):
        federation({**files, "health": copied})[0].run(ANALYSIS)


# -- what goes wrong on the way -------------------------------------------------------------------

EXCHANGES = ["propose", "ask-public", "ask-parts", "ask-tags", "ask-aligned", "ask-hidden",
             "ask-joined", "ask-keys", "ask-masked", "ask-unmask", "finish"]  # fmt: skip


@pytest.mark.parametrize("cut", EXCHANGES)
def test_a_lost_agency_stops_everything(files, federation, cut):
    coordinator, channels = federation(files)
    channels["health"].cut_at = cut
    with pytest.raises(StoppedError) as stopped:
        coordinator.run(ANALYSIS)
    assert stopped.value.who == {"health": "cannot be reached"}


def changed(kind, edit):
    """Change the payload or a field of what passes in one kind of message."""

    def change(passing, data):
        return edit(m.decode(data)).encode() if passing == kind else data

    return change


def flipped(message):
    return message.replace(payload=message.payload[:-1] + bytes([message.payload[-1] ^ 1]))


LIES = {
    "short tags": ("ask-tags", lambda r: r.replace(payload=r.payload[:-1]), "tags"),
    "tags twice": ("ask-tags", lambda r: r.replace(payload=r.payload[:16] * 2), "tags"),
    "short text": ("ask-hidden", lambda r: r.replace(payload=r.payload[:-1]), "wrong shape"),
    "short texts": ("ask-hidden", lambda r: r.replace(payload=r.payload[:-2]), "wrong shape"),
    "changed text": ("ask-hidden", flipped, "what health sent was changed"),
    "no parts": ("ask-parts", lambda r: m.Parts(sealed={}), "no part for each"),
    "another reply": ("ask-joined", lambda r: m.Closed(), "instead of"),
}


@pytest.mark.parametrize("lie", LIES)
def test_a_lying_agency_stops_everything(files, federation, lie):
    kind, edit, told = LIES[lie]
    coordinator, channels = federation(files)
    channels["health"].change_reply = changed(kind, edit)
    with pytest.raises(StoppedError, match=told):
        coordinator.run(ANALYSIS)
    assert not any(c.agency.ledger.released() for c in channels.values())


FALSE = {
    "fewer units": ("ask-aligned", lambda r: r.replace(payload=r.payload[16:]), "wrong shape"),
    "unsorted units": (
        "ask-aligned",
        lambda r: r.replace(payload=r.payload[16:] + r.payload[:16]),
        "rising order",
    ),
    "units nobody has": ("ask-aligned", lambda r: r.replace(payload=bytes(16) + r.payload),
                         "does not have"),
    "cut units": ("ask-aligned", lambda r: r.replace(payload=r.payload[:-1]), "wrong shape"),
    "own key": ("ask-parts", lambda r: r.replace(keys={**r.keys, "tax": r.keys["health"]}),
                "signature of tax"),
    "fewer keys": ("ask-parts", lambda r: r.replace(
        keys={n: k for n, k in r.keys.items() if n != "tax"}), "all agencies are needed"),
    "fewer parts": ("ask-tags", lambda r: r.replace(
        sealed={n: k for n, k in r.sealed.items() if n != "tax"}), "each other agency"),
    "fewer factors": ("ask-hidden", lambda r: r.replace(
        seeds={n: k for n, k in r.seeds.items() if n != "tax"}), "each other agency"),
    "cut factors": ("ask-hidden", lambda r: r.replace(payload=r.payload[:-16]), "wrong shape"),
    "exchanged texts": ("ask-joined", lambda r: r.replace(
        payload=r.payload[len(r.payload) // 2:] + r.payload[: len(r.payload) // 2]), "wrong|chang"),
    "another round": ("ask-hidden", lambda r: r.replace(round="squares"), "not the exchange"),
}  # fmt: skip


@pytest.mark.parametrize("lie", FALSE)
def test_attack_a_coordinator_who_hands_out_something_else(files, federation, lie):
    kind, edit, told = FALSE[lie]
    coordinator, channels = federation(files)
    channels["health"].change_request = changed(kind, edit)
    with pytest.raises(StoppedError, match=told):
        coordinator.run(ANALYSIS)
    assert not any(c.agency.ledger.released() for c in channels.values())


def test_attack_a_coordinator_who_deals_false_factors_does_not_get_a_false_result(
    files, federation
):
    """Shares that do not fit add up to anything, which is no correlation matrix."""
    coordinator, channels = federation(files)
    seeds = {"school": "00" * 32, "tax": "11" * 32}
    channels["health"].change_request = changed("ask-hidden", lambda r: r.replace(seeds=seeds))
    with pytest.raises(StoppedError, match="not plausible"):
        coordinator.run(ANALYSIS)


def leave_out(monkeypatch, how_many):
    """Let the coordinator leave out some of the common units."""
    monkeypatch.setattr(
        routing, "intersect", lambda tags, at_least: intersect(tags, at_least=0)[how_many:]
    )


def test_attack_a_unit_left_out_the_second_time_is_refused(files, federation, monkeypatch):
    """The difference of two sums of products would be that unit's values."""
    coordinator, channels = federation(files)
    first = coordinator.run(ANALYSIS)
    assert coordinator.run(ANALYSIS)["coefficients"] == pytest.approx(first["coefficients"])
    leave_out(monkeypatch, 1)
    with pytest.raises(StoppedError, match="fewer than 3 records differ"):
        coordinator.run(ANALYSIS)
    assert all(len(c.agency.ledger.released()) == 2 for c in channels.values())


def test_attack_many_sets_of_units_count_as_many_questions(files, federation, monkeypatch):
    coordinator, _ = federation(files, Policy(max_computations=2))
    for left_out in (0, 10):
        leave_out(monkeypatch, left_out)
        coordinator.run(ANALYSIS)
    with pytest.raises(StoppedError, match="limit of 2 computations"):
        coordinator.run(ANALYSIS)


def test_attack_agencies_that_were_told_different_units_notice(files, federation):
    coordinator, channels = federation(files)
    for name, channel in channels.items():
        cut = slice(16, None) if name == "health" else slice(None, -16)
        channel.change_request = changed(
            "ask-aligned", lambda r, cut=cut: r.replace(payload=r.payload[cut])
        )
    with pytest.raises(StoppedError, match="about other units"):
        coordinator.run(ANALYSIS)


def test_attack_too_many_products_for_so_few_units_are_refused(files, federation):
    """Each variable of a partner is an equation about the own ones; enough of them solve."""
    n = len(joined(files))
    few = Policy(max_leverage=(len(ASKED["x"]) + 1.5) / n)  # the variables and the units
    with pytest.raises(StoppedError) as stopped:
        federation(files, {"school": few})[0].run(ANALYSIS)
    assert "leverage" in stopped.value.who["school"]
    asked = ANALYSIS.held_by("school", PROPOSAL)
    used = np.arange(40) < 12
    for policy, told in ((Policy(), None), (Policy(max_leverage=0.4), "too many products")):
        if told is None:
            check_units(used, asked, policy, Ledger(), Microdata.of(files["school"]))
        else:
            with pytest.raises(RefusedError, match=told):
                check_units(used, asked, policy, Ledger(), Microdata.of(files["school"]))


def test_an_exchange_is_answered_once_and_in_order(files):
    member = next(a for a in agencies(files) if a.name == "tax")
    at = {"computation": "0" * 32, "step": 0}
    member.handle(m.Propose(proposal=PROPOSAL).encode())

    def told(message):
        return m.decode(member.handle(message.encode()))

    assert "not the exchange" in told(m.AskTags(**at, sealed={})).reason
    assert told(m.AskPublic(**at)) == told(m.AskPublic(**at))
    told(m.AskKeys(**at))
    assert "not the exchange" in told(m.AskAligned(**at)).reason
    assert "not the exchange" in told(m.Exchange(**at)).reason


def test_a_threshold_below_all_is_refused(files):
    member = next(a for a in agencies(files) if a.name == "tax")
    proposal = PROPOSAL.replace(threshold=2)
    reply = m.decode(member.handle(m.Propose(proposal=proposal).encode()))
    assert "to the end" in reply.reason


def test_sums_only_analyses_have_no_exchange(parts):
    member = agencies(parts)[0]
    mean = analysis_from({"analysis": "mean", "variables": ["age"]})
    proposal = m.Proposal(
        computation="0" * 32, analysis=mean.described(), threshold=3, participants=tuple(parts)
    )
    member.handle(m.Propose(proposal=proposal).encode())
    reply = member.handle(m.AskPublic(computation="0" * 32, step=0).encode())
    assert "sums only" in m.decode(reply).reason


# -- privacy --------------------------------------------------------------------------------------


def seen_in(monkeypatch, files):
    """Run a regression; return what the agencies decrypt, and what passes the coordinator."""
    opened = []
    true_open = _held.Pairs.open

    def spy(self, name, about, sealed):
        text = true_open(self, name, about, sealed)
        opened.append((self.name, name, about[32:].decode(errors="ignore"), text))
        return text

    monkeypatch.setattr(_held.Pairs, "open", spy)
    members = agencies(files)
    channels = {a.name: InProcess(a, []) for a in members}
    Coordinator(channels, workers=1).run(ANALYSIS)
    monkeypatch.undo()
    routed = [
        reply.payload
        for c in channels.values()
        for reply in (m.decode(r) for _, r in c.transcript)
        if reply.kind == "hidden"
    ]
    return opened, routed


def words(text):
    return np.frombuffer(text, dtype="<u8") / 2.0**64


def other_values(files):
    """The same units with other values: other variances, signs and shapes."""
    rng = np.random.default_rng(8)
    b = pl.when(pl.col("b").is_null()).then(None).otherwise(pl.Series(rng.exponential(1e6, 370)))
    return {
        **files,
        "health": files["health"].with_columns(b=b),
        "school": files["school"].with_columns(c=pl.Series(rng.integers(0, 2, 380) * 1e-6)),
    }


def test_attack_what_agencies_and_coordinator_see_does_not_depend_on_the_values(files, monkeypatch):
    views = [seen_in(monkeypatch, f) for f in (files, other_values(files))]
    for opened, routed in views:
        for _, _, round_, text in opened:
            if round_:
                assert kstest(words(text), "uniform").pvalue > 1e-9
        assert all(kstest(words(t[: len(t) // 8 * 8]), "uniform").pvalue > 1e-9 for t in routed)
    (one, routed), (other, routed_other) = views
    for (*route, text), (*same, text_other) in zip(one, other, strict=True):
        assert route == same
        if route[2]:
            assert len(text) == len(text_other)
            assert ks_2samp(words(text), words(text_other)).pvalue > 1e-9
    assert [len(t) for t in routed] == [len(t) for t in routed_other]


def test_attack_the_dealer_cannot_take_its_factors_off_what_it_routes(files, monkeypatch):
    """What passes the coordinator, who knows the factors, is sealed besides."""
    opened, routed = seen_in(monkeypatch, files)
    texts = [text for *_, round_, text in opened if round_]
    assert texts
    assert not any(text[:64] in passing for text in texts for passing in routed)


def test_limbs_add_up_in_the_ring():
    rng = np.random.default_rng(1)
    parts = rng.integers(0, 2**64, (7, 2, 5), dtype=np.uint64)
    total = PRODUCT.zeros(5)
    for part in parts:
        total = PRODUCT.add(total, part)
    assert np.array_equal(from_limbs(sum(map(as_limbs, parts)), 7), total)
    for wrong in (-1.0, 0.5, 8 * 2.0**32):
        with pytest.raises(RefusedError, match="plausible"):
            from_limbs(np.full(4, wrong), 7)
