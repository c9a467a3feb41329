"""tacit combine: several data sets are written, read back, measured and analysed together."""

import json

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import inference, mask

STEP = ["--step", "synthesise m=5", "--seed", 3, "--key", "sex", "--key", "age"]


@pytest.fixture
def made(run, folder):
    """Five data sets of a small census, made by the command and by the library."""
    data = tacit.datasets.census(150)
    frame = data.frame.select("age", "sex", "income", "hours")
    frame.write_csv(folder / "census.csv")
    result = run("apply", "census.csv", "-o", "out", *STEP, "--json")
    assert result.exit_code == 0, result.stderr
    same = tacit.read(folder / "census.csv").with_roles(keys=["sex", "age"])
    return json.loads(result.stdout), tacit.Plan([mask.Synthesise(m=5)]).apply(same, seed=3)


def answered(result):
    assert result.exit_code == 0, result.stderr
    return json.loads(result.stdout)


def test_m_data_sets_go_round(run, folder, made):
    """Written, combined, measured, replayed: each as the library does it in memory."""
    document, release = made
    names = ["data.csv", *(f"data-{i}.csv" for i in range(2, 6))]
    assert [p.rsplit("/", 1)[1] for p in document["data_sets"]] == names
    for name, data in zip(names, release.data_sets, strict=True):
        written = tacit.read(folder / "out/public" / name)
        assert written.frame["income"].to_list() == pytest.approx(data.frame["income"].to_list())
    note = (folder / "out/public/NOTE.md").read_text()
    assert "5 data sets" in note
    assert "'simple'" in note

    found = answered(run("combine", "out", "--mean", "income", "--total", "hours",
                         "--regression", "income ~ age + sex", "--json"))  # fmt: skip
    model = inference.Regression("income", ["age", "sex"])
    expected = [
        inference.analyse(release, analysis)
        for analysis in (inference.Mean(["income"]), inference.Total(["hours"]), model)
    ]
    assert (found["data_sets"], found["rule"]) == (5, "simple")
    for key, part in (("estimate", "estimates"), ("error", "errors"), ("low", "low")):
        wanted = np.concatenate([getattr(e, part) for e in expected])
        got = {row["name"]: row[key] for row in found["estimates"]}
        assert list(got)[:3] == ["mean of income", "total of hours", "constant"]
        assert sorted(got.values()) == pytest.approx(sorted(wanted), rel=1e-6)

    saved = json.loads((folder / "out/dossier/measurements.json").read_text())
    again = answered(run("measure", "census.csv", "out", "--json"))["scorecard"]
    worst = {m["measure"]: m["value"] for m in saved["risk"] + saved["utility"]}
    now = {m["measure"]: m["value"] for m in again["risk"] + again["utility"]}
    assert now == pytest.approx({key: worst[key] for key in now}, rel=1e-6)
    assert run("replay", "out").exit_code == 0


def test_users_have_only_the_public_files(run, folder, made):
    files = sorted(map(str, (folder / "out/public").glob("data*.csv")))
    (folder / "out/dossier").rename(folder / "inside")
    told = run("combine", *files, "--mean", "income", "--rule", "simple", "--records", 150)
    assert told.exit_code == 0
    assert "5 data sets combined by the rule 'simple'" in told.stdout
    whole = answered(run("combine", "out", "--mean", "income", "--rule", "simple", "--json"))
    assert f"{whole['estimates'][0]['estimate']:.6g}" in told.stdout


@pytest.mark.parametrize(
    ("words", "why"),
    [
        ([], "nothing to estimate"),
        (["--mean", "nothing"], "nothing"),
        (["--regression", "income age"], "y ~ a"),
        (["--regression", "income ~ age", "--family", "gamma"], "family"),
        (["--mean", "income", "--rule", "other"], "partially"),
        (["--mean", "income", "--level", "95"], "between 0 and 1"),
        (["--total", "income", "--population", "0"], "above 0"),
    ],
    ids=["nothing", "unknown", "model", "family", "rule", "level", "population"],
)
def test_nonsense_is_refused(run, folder, refusal, words, why):
    tacit.datasets.census(60).frame.select("age", "income").write_csv(folder / "data.csv")
    if "--rule" not in words:
        words = [*words, "--rule", "simple"]
    assert why in refusal(run("combine", "data.csv", "data.csv", *words))


def test_how_the_files_were_made_must_be_known(run, folder, refusal):
    tacit.datasets.census(60).frame.select("age").write_csv(folder / "data.csv")
    assert "not known" in refusal(run("combine", "data.csv", "data.csv", "--mean", "age"))


def test_weights_are_those_of_the_column_named(run, folder):
    frame = tacit.datasets.census(200).frame.select("age", hours=pl.col("age") * 2 + 1)
    for name in ("a.csv", "b.csv"):
        frame.write_csv(folder / name)
    one = answered(run("combine", "a.csv", "b.csv", "--mean", "age", "--rule", "partially",
                       "--weight", "hours", "--json"))  # fmt: skip
    age, w = (frame[c].to_numpy() for c in ("age", "hours"))
    assert one["estimates"][0]["estimate"] == pytest.approx(np.average(age, weights=w))


def test_a_total_stands_for_the_population_named(run, folder):
    tacit.datasets.census(60).frame.select("age").write_csv(folder / "data.csv")
    words = ["combine", "data.csv", "--total", "age", "--rule", "simple", "--json"]
    sums = [
        answered(run(*words, *more))["estimates"][0]["estimate"]
        for more in ([], ["--records", 120], ["--population", 600])
    ]
    assert np.array(sums) / sums[0] == pytest.approx([1, 2, 10])
