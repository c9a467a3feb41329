"""Attacks on regressions (R1-R7): each succeeds without rules and fails under the default policy.

The attacker's columns are served as if the data had them: that is the most a system could give
away that lets users make variables. The attacks are those of Bleninger, Drechsler and Ronning
(2011) and of the catalogue in the specification.
"""

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import query
from tacit.query.policy import Policy

SECRET = "a long and secret phrase"  # noqa: S105 - of test data
N_TARGETS = 4


@pytest.fixture(scope="module")
def establishments():
    data = tacit.datasets.establishments(12_814)
    return data.local.select(
        "employees", "turnover", "district", "legal_form", "nace", "size_class"
    ).with_columns(pl.col("nace").str.slice(0, 2).alias("branch"))


@pytest.fixture(scope="module")
def targets(establishments):
    """Return the rows of large establishments whose number of employees is unique."""
    sizes = establishments["employees"].to_numpy()
    _, first, counts = np.unique(sizes, return_index=True, return_counts=True)
    return first[counts == 1][-N_TARGETS - 5 : -5]


@pytest.fixture(scope="module")
def attacked(establishments, targets):
    """The data with a strategic dummy, its jittered form and an artificial outlier per target."""
    size = establishments["employees"].to_numpy().astype(float)
    columns = {}
    for k, m in enumerate(targets):
        dummy = (np.arange(len(size)) == m).astype(float)
        columns[f"dummy{k}"] = dummy
        columns[f"jitter{k}"] = dummy + 1e-9 * np.argsort(np.argsort(size))
        columns[f"outlier{k}"] = 1 / (np.abs(size - size[m]) + 1e-4)  # Eq. (1) of bleninger2011
    return establishments.with_columns(**{n: pl.Series(v) for n, v in columns.items()})


def served(frame, policy, numbers):
    source = query.Source(frame, numbers=numbers, categories=["legal_form", "district"])
    return query.Server(source, policy=policy, secret=SECRET)


@pytest.fixture(scope="module")
def made(targets):
    return [f"{kind}{k}" for kind in ("dummy", "jitter", "outlier") for k in range(len(targets))]


@pytest.fixture(scope="module")
def unguarded(attacked, made):
    return served(attacked, Policy(name="open"), ["turnover", "employees", *made])


@pytest.fixture(scope="module")
def strict(attacked, made):
    return served(attacked, "strict", ["turnover", "employees", *made])


def predicted(answer, values):
    """Return the prediction at some values of the columns, as an attacker computes it."""
    table = dict(zip(answer.columns["term"], answer.columns["coefficient"], strict=True))
    return table["(intercept)"] + sum(b * values[t] for t, b in table.items() if t != "(intercept)")


@pytest.mark.parametrize("kind", ["dummy", "jitter", "outlier"])
def test_r1_r2_r3_one_unit_by_a_made_column(unguarded, strict, attacked, targets, kind):
    errors = []
    for k, m in enumerate(targets):
        row = attacked.row(int(m), named=True)
        request = {"method": "ols", "formula": f"turnover ~ {kind}{k} + employees"}
        found = predicted(unguarded.ask(request), row)
        errors.append(abs(found - row["turnover"]) / row["turnover"])
        refusal = strict.ask(request)
        assert (refusal.is_refusal, refusal.rule) == (True, "leverage")
    # Table 3 of bleninger2011: exact for dummies; its Table 1: about 1e-3 for outliers. The
    # specification's criterion of success is one per cent.
    assert max(errors) < {"dummy": 1e-8, "jitter": 1e-2, "outlier": 1e-2}[kind]


def test_r1_several_units_give_their_mean(establishments, targets):
    """Without rules the coefficient of a dummy for q units is their mean; with them, refused."""
    few = np.isin(np.arange(len(establishments)), targets)
    frame = establishments.with_columns(few=pl.Series(few.astype(float)))
    request = {"method": "ols", "formula": "turnover ~ few"}
    answer = served(frame, Policy(name="open"), ["turnover", "few"]).ask(request)
    expected = frame.filter(pl.Series(few))["turnover"].mean()
    assert predicted(answer, {"few": 1.0}) == pytest.approx(expected)
    assert served(frame, "strict", ["turnover", "few"]).ask(request).is_refusal


def test_r1_a_rare_category_is_absorbed(establishments, targets):
    """The same dummy as a category: it has no coefficient of its own, so nothing is learnt."""
    m = int(targets[0])
    named = np.where(np.arange(len(establishments)) == m, "lonely", "other form")
    frame = establishments.with_columns(legal_form=pl.Series(named))
    request = {"method": "ols", "formula": "turnover ~ legal_form + log(employees)"}
    answer = served(frame, Policy(name="open"), ["turnover", "employees"]).ask(request)
    row = frame.row(m, named=True)
    values = {"legal_form[lonely]": 1.0, "log(employees)": np.log(row["employees"])}
    assert predicted(answer, values) == pytest.approx(row["turnover"])
    guarded = served(frame, "strict", ["turnover", "employees"]).ask(request)
    assert guarded.is_refusal or "legal_form[lonely]" not in guarded.columns["term"]


def test_r4_saturated_models(establishments):
    request = {"method": "ols", "formula": "turnover ~ legal_form*district"}
    cells = establishments.group_by("legal_form", "district").agg(
        pl.len(), pl.col("turnover").first()
    )
    alone = cells.filter(pl.col("len") == 1).row(0, named=True)
    answer = served(establishments, Policy(name="open"), ["turnover"]).ask(request)
    form, place = f"legal_form[{alone['legal_form']}]", f"district[{alone['district']}]"
    values = dict.fromkeys(answer.columns["term"], 0.0) | dict.fromkeys([form, place], 1.0)
    values[f"{form}:{place}"] = 1.0
    assert predicted(answer, values) == pytest.approx(alone["turnover"])
    assert served(establishments, "strict", ["turnover"]).ask(request).rule == "interactions"


def test_r4_without_the_rule_of_interactions(establishments):
    """Absorption and leverage hold with the rule of interactions switched off."""
    policy = Policy.named("strict")
    kept = tuple(g for g in policy.guards if g.key != "interactions")
    server = served(establishments, policy.replace(guards=kept), ["turnover"])
    answer = server.ask({"method": "ols", "formula": "log(turnover) ~ legal_form*district"})
    assert not answer.is_refusal
    sizes = establishments.group_by("legal_form", "district").len()
    small = {f"legal_form[{f}]:district[{d}]" for f, d, n in sizes.iter_rows() if n < 10}
    assert small
    assert not small & set(answer.columns["term"])


def test_r5_a_response_that_is_nearly_known(establishments):
    frame = establishments.with_columns(copy=pl.col("turnover") * 1.19 + pl.col("employees"))
    request = {"method": "ols", "formula": "turnover ~ copy"}
    answer = served(frame, Policy(name="open"), ["turnover", "copy"]).ask(request)
    assert answer.values["r_squared"] > 0.99
    assert served(frame, "strict", ["turnover", "copy"]).ask(request).is_refusal
    logged = {"method": "ols", "formula": "log(turnover) ~ log(copy)"}
    assert served(frame, "strict", ["turnover", "copy"]).ask(logged).rule == "r-squared"


def differenced(frame, target, guards, tolerance):
    """R6: difference the equations of a model with and without one unit, all predictors known."""
    betas, x = [], None
    for part in (frame, frame.filter(pl.int_range(pl.len()) != target)):
        source = query.Source(part, unit="id", numbers=["y", "x"], categories=[])
        server = query.Server(source, policy=Policy(name="some", guards=guards), secret=SECRET)
        answer = server.ask({"method": "ols", "formula": "y ~ x"})
        betas.append(np.array(answer.columns["coefficient"]))
    x = np.column_stack([np.ones(len(frame)), frame["x"].to_numpy()])
    whole = x.T @ x
    left = whole - np.outer(x[target], x[target])
    found = (whole @ betas[0] - left @ betas[1])[0]
    truth = frame["y"][int(target)]
    guess = x[target] @ betas[0]
    return abs(found - truth) < tolerance * truth, abs(guess - truth) < tolerance * truth


def test_r6_differencing_equations():
    rng = np.random.default_rng(11)
    n = 300
    x = rng.normal(10, 2, n)
    frame = pl.DataFrame({"id": np.arange(n), "x": x, "y": 20 + 5 * x + rng.gamma(2, 10, n)})
    chosen = rng.choice(n, 20, replace=False)
    bare = [differenced(frame, t, (), 1e-6)[0] for t in chosen[:5]]
    assert all(bare)
    guards = (query.ScoreNoise(), query.ReleaseDigits())
    noisy = np.array([differenced(frame, t, guards, 0.02) for t in chosen])
    success, guessing = noisy.mean(axis=0)
    assert success <= guessing + 0.05


def nested(frame, policy):
    """R6 within one server: the same model of each group with and without its flagged unit."""
    source = query.Source(frame, unit="id", numbers=["y", "x"], categories=["group", "flag"])
    server = query.Server(source, policy=policy, secret=SECRET)
    found = []
    for row in frame.filter(pl.col("flag") == "yes").rows(named=True):
        part = frame.filter(pl.col("group") == row["group"])
        x = np.column_stack([np.ones(len(part)), part["x"].to_numpy()])
        own = np.array([1.0, row["x"]])
        universes = ({"group": row["group"]}, {"group": row["group"], "flag": "no"})
        asked = [server.ask({"method": "ols", "formula": "y ~ x", "universe": u})
                 for u in universes]  # fmt: skip
        if any(answer.is_refusal for answer in asked):
            continue
        one, two = (np.array(answer.columns["coefficient"]) for answer in asked)
        value = (x.T @ x @ one - (x.T @ x - np.outer(own, own)) @ two)[0]
        near = 0.02 * row["y"]
        found.append((abs(value - row["y"]) < near, abs(own @ one - row["y"]) < near))
    return np.array(found).reshape(-1, 2)


def grouped(seed, groups=30, per=400):
    rng = np.random.default_rng(seed)
    n = groups * per
    x = rng.normal(10, 2, n)
    return pl.DataFrame(
        {
            "id": np.arange(n),
            "group": [f"g{g:02}" for g in np.arange(n) % groups],
            "flag": np.where(np.arange(n) < groups, "yes", "no"),
            "x": x,
            "y": 20 + 5 * x + rng.gamma(2, 10, n),
        }
    )


def without_rate_limit():
    policy = Policy.named("strict")
    return policy.replace(guards=tuple(g for g in policy.guards if g.key != "rate-limit"))


@pytest.mark.parametrize("seeds", [1, pytest.param(12, marks=pytest.mark.slow)])
def test_r6_under_the_whole_default_policy(seeds):
    """One unit is solved for without rules; under `strict` it is predicted, as everybody is."""
    assert nested(grouped(1, groups=3), Policy(name="open"))[:, 0].all()
    tried = np.concatenate([nested(grouped(s), without_rate_limit()) for s in range(seeds)])
    assert len(tried) >= 20 * seeds, "the honest model of a group is answered"
    success, guessing = tried.mean(axis=0)
    # Predicting from a single answer is what the public model gives to anybody.
    assert success <= guessing + 0.05
    if seeds > 2:  # the upper end of a one-sided 95 % interval of the difference
        gained = tried[:, 0].astype(float) - tried[:, 1]
        assert gained.mean() + 1.645 * gained.std() / np.sqrt(len(gained)) <= 0.05


@pytest.mark.parametrize("extra", ["weights", "offset", "weight", "subset", "data"])
def test_r7_there_is_no_side_door(strict, extra):
    """Weights are those of the survey; users can bring neither weights nor offsets of their own."""
    for method in ("ols", "poisson"):
        request = {"method": method, "formula": "turnover ~ employees", extra: "dummy0"}
        assert strict.ask(request).rule == "request"


def test_r7_weights_and_missing_values(attacked, targets):
    m = int(targets[0])
    at = pl.int_range(pl.len())
    weighty = attacked.with_columns(weight=pl.when(at == m).then(1e7).otherwise(1.0))
    source = query.Source(weighty, weight="weight", numbers=["turnover", "employees"],
                          categories=["legal_form"])  # fmt: skip
    request = {"method": "ols", "formula": "log(turnover) ~ log(employees)", "weighted": True}
    assert query.Server(source, secret=SECRET).ask(request).rule == "leverage"
    form = attacked["legal_form"][m]
    hidden = attacked.with_columns(
        turnover=pl.when((pl.col("legal_form") != form) | (at == m)).then(pl.col("turnover"))
    )
    request = {"method": "ols", "formula": "log(turnover) ~ log(employees) + legal_form"}
    guarded = served(hidden, "strict", ["turnover", "employees"]).ask(request)
    assert guarded.is_refusal or f"legal_form[{form}]" not in guarded.columns["term"]


@pytest.mark.parametrize("n", [2_000, 20_000])
def test_honest_models_are_answered(n):
    """The honest models of the specification: only the raw Pareto size is refused, with a hint.

    A raw log-normal size with sigma = 1 is at the border (median leverage about 0.09 at n = 2 000:
    some samples pass, some do not), hence 0.8 here.
    """
    rng = np.random.default_rng(n)
    size, heavy = rng.lognormal(3, 0.8, n), rng.pareto(1.2, n) + 1
    sector = rng.choice(["a", "b", "c", "d"], n, p=[0.4, 0.3, 0.2, 0.1])
    y = 10 + 2 * np.log(size) + (sector == "b") + rng.normal(0, 1, n)
    frame = pl.DataFrame({"y": y, "size": size, "heavy": heavy, "sector": sector})
    source = query.Source(frame, numbers=["y", "size", "heavy"], categories=["sector"])
    server = query.Server(source, secret=SECRET)
    for right in ("log(size)", "size", "log(heavy)", "log(size)*sector", "bin(heavy) + sector"):
        answer = server.ask({"method": "ols", "formula": f"y ~ {right}"})
        assert not answer.is_refusal, (right, answer)
    refusal = server.ask({"method": "ols", "formula": "y ~ heavy"})
    assert refusal.rule == "leverage"
    assert "log()" in refusal.hint
    slope = server.ask({"method": "ols", "formula": "y ~ log(size) + sector"}).columns
    assert abs(slope["coefficient"][1] - 2) < 4 * slope["standard_error"][1]


@pytest.mark.parametrize(
    ("formula", "rule"),
    [
        ("turnover ~ 1/(abs(employees - 3) + 0.0001)", "formula"),
        ("turnover ~ __import__('os')", "formula"),
        ("turnover ~ exp(employees)", "transformations"),
        ("turnover ~ legal_form:district", "interactions"),
        ("turnover ~ nobody", "request"),
        ("nobody ~ turnover", "request"),
        ("legal_form ~ turnover", "request"),
        ("turnover ~ `employees'; drop table t; --`", "request"),
        ("turnover ~ " + " + ".join(f"v{i}" for i in range(21)), "request"),
    ],
)
def test_bad_formulas_are_refused_by_name(strict, formula, rule):
    answer = strict.ask({"method": "ols", "formula": formula})
    assert (answer.is_refusal, answer.rule) == (True, rule)
    assert "drop table" not in str(answer)
