"""Replay: the same bytes again, or the reason why not."""

import json
import shutil

import polars as pl
import pytest

import tacit
from tacit import mask
from tacit.core.errors import ParameterError, ReplayError


@pytest.fixture(autouse=True)
def light_release(monkeypatch):
    """Leave measuring and reports out: a replay needs neither."""
    import tacit.core.bundle as bundle
    from tacit.core.release import Release
    from tacit.core.scorecard import Scorecard

    monkeypatch.setattr(Release, "measure", lambda *_: Scorecard((), (), {}, {}))
    monkeypatch.setattr(bundle, "methods", lambda *_: [])


@pytest.fixture
def survey(tmp_path):
    lines = ["id;zip;age;income"]
    lines += [f"{i};{i % 7:05d};{20 + i % 50};{1000 + i * 3},5" for i in range(60)]
    path = tmp_path / "survey.csv"
    path.write_text("\n".join(lines), encoding="latin-1")
    return path


def saved(data, folder, *, format="csv"):
    data = data.with_roles(identifiers=["id"], keys=["age"], confidential=["income"])
    plan = tacit.Plan([mask.Sample(fraction=0.5), mask.Mdav(columns=["income"], k=4)])
    plan.apply(data, seed=11).save(folder, format=format)
    return folder / "dossier"


@pytest.fixture
def dossier(survey, tmp_path):
    data = tacit.read(survey, decimal=",", encoding="latin-1", types={"zip": "text"})
    return saved(data, tmp_path / "out")


def test_reproduced_bit_for_bit(dossier):
    result = tacit.replay(dossier)
    assert result.reproduced
    assert "reproduced bit for bit: 30 records" in str(result)
    assert result.other_versions == {}
    assert json.loads(json.dumps(result.as_dict()))["reproduced"] is True
    assert result.release.data.n_records == 30


def test_the_folder_above_will_do(dossier):
    assert tacit.replay(dossier.parent).digest == tacit.replay(str(dossier)).digest


def test_kinds_changed_after_reading_do_not_change_how_it_is_read(survey, tmp_path):
    data = tacit.read(survey, decimal=",").with_kinds(age="nominal")
    assert tacit.replay(saved(data, tmp_path / "out")).reproduced


@pytest.mark.parametrize(
    "format", ["csv", "parquet", "arrow", "excel", "spss", "stata", "sas", "argus"]
)
def test_every_format_is_reproduced(survey, tmp_path, format):
    data = tacit.read(survey, decimal=",")
    assert tacit.replay(saved(data, tmp_path / "out", format=format)).reproduced


def test_the_data_may_have_moved(dossier, survey, tmp_path):
    moved = survey.rename(tmp_path / "elsewhere.csv")
    with pytest.raises(ReplayError, match=r"cannot be read again: there is no such file"):
        tacit.replay(dossier)
    assert tacit.replay(dossier, data=moved).reproduced
    assert tacit.replay(dossier, data=str(moved)).reproduced
    frame = tacit.read(moved, decimal=",", types={"zip": "text"}).frame
    assert tacit.replay(dossier, data=frame).reproduced
    assert tacit.replay(dossier, data=frame.to_pandas()).reproduced
    assert tacit.replay(dossier, data=tacit.read(frame)).reproduced


def test_frames_have_no_source(tmp_path):
    frame = pl.DataFrame({"id": range(20), "age": range(20), "income": [1.5] * 20})
    dossier = saved(tacit.read(frame), tmp_path / "out")
    with pytest.raises(ReplayError, match=r"does not say where"):
        tacit.replay(dossier)
    assert tacit.replay(dossier, data=frame).reproduced


def test_other_data_are_refused(dossier, survey):
    survey.write_text(survey.read_text(encoding="latin-1") + "\n1;2;3;4", encoding="latin-1")
    with pytest.raises(
        ReplayError, match=r"not the data that were protected .got 61 records where"
    ):
        tacit.replay(dossier)


def test_one_other_value_is_refused(dossier, survey):
    text = survey.read_text(encoding="latin-1").replace("1000,5", "1001,5", 1)
    survey.write_text(text, encoding="latin-1")
    with pytest.raises(ReplayError, match=r"other values"):
        tacit.replay(dossier)


def test_another_seed_or_plan_does_not_reproduce(dossier):
    path = dossier / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(manifest | {"seed": "12"}), encoding="utf-8")
    with pytest.raises(
        ReplayError, match=r"not reproduced: values differ in .*income.*same versions"
    ):
        tacit.replay(dossier)


def test_other_versions_are_named(dossier):
    path = dossier / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    manifest["versions"]["numpy"] = "0.1"
    path.write_text(json.dumps(manifest), encoding="utf-8")
    assert tacit.replay(dossier).other_versions["numpy"][0] == "0.1"
    path.write_text(json.dumps(manifest | {"seed": "12"}), encoding="utf-8")
    with pytest.raises(ReplayError, match=r"numpy was 0.1.*install the versions"):
        tacit.replay(dossier)


def test_a_changed_public_file_is_noticed(dossier):
    public = dossier.parent / "public" / "data.csv"
    public.write_text(public.read_text(encoding="utf-8") + "1,2,3\n", encoding="utf-8")
    with pytest.raises(ReplayError, match=r"changed after the release"):
        tacit.replay(dossier)
    shutil.rmtree(public.parent)
    assert tacit.replay(dossier).reproduced


def test_a_plan_that_no_longer_runs(dossier):
    plan = dossier / "plan.toml"
    plan.write_text(plan.read_text(encoding="utf-8").replace("k = 4", "k = 999"), encoding="utf-8")
    with pytest.raises(ReplayError, match=r"no longer runs"):
        tacit.replay(dossier)


def test_a_whole_release_with_measures_and_report(tmp_path, monkeypatch):
    monkeypatch.undo()  # of the light release
    census = tacit.datasets.census(300, seed=5, missing=0.02)
    tacit.write(census, tmp_path / "census.csv")
    data = tacit.read(tmp_path / "census.csv", schema=census.schema)
    plan = tacit.Plan([mask.Sample(fraction=0.8), mask.Round(columns=["hours"], base=5)])
    plan.apply(data, seed=2).save(tmp_path / "out")
    assert (tmp_path / "out" / "dossier" / "measurements.json").is_file()
    assert tacit.replay(tmp_path / "out").reproduced


def test_not_a_dossier(tmp_path):
    with pytest.raises(ParameterError, match=r"not a dossier"):
        tacit.replay(tmp_path)


def rewritten(dossier, change):
    path = dossier / "manifest.json"
    manifest = json.loads(path.read_text(encoding="utf-8"))
    change(manifest)
    path.write_text(json.dumps(manifest), encoding="utf-8")


@pytest.mark.parametrize("name", ["../stolen.csv", "/stolen.csv", "a/b.csv", "..", "", "a\\b"])
def test_a_doctored_manifest_cannot_make_replay_write_elsewhere(dossier, tmp_path, name):
    target = name if name != "/stolen.csv" else str(tmp_path / "stolen.csv")
    rewritten(dossier, lambda m: m["output"].update(file=target))
    with pytest.raises(ParameterError, match="outside its folder"):
        tacit.replay(dossier)
    assert not list(tmp_path.rglob("stolen.csv"))


@pytest.mark.parametrize(
    "change",
    [
        lambda m: m.update(seed="abc"),
        lambda m: m.pop("seed"),
        lambda m: m.pop("output"),
        lambda m: m["input"].pop("digest"),
        lambda m: m.update(output="data.csv"),
        lambda m: m["output"].update(file=3),
    ],
)
def test_a_damaged_manifest_is_an_error_in_one_line(dossier, change):
    rewritten(dossier, change)
    with pytest.raises(ParameterError, match="manifest is damaged"):
        tacit.replay(dossier)


@pytest.fixture
def beyond(tmp_path, monkeypatch):
    """Make a release of a file that counts as one beyond memory, and return its folder."""
    import tacit.core.block_release as block_release
    from tacit.core.engine import collecting_at_most
    from tacit.io.beyond_memory import open_parquet

    monkeypatch.setattr(block_release, "methods", lambda *_: [])
    census = tacit.datasets.census(900, seed=5, missing=0.02)
    tacit.write(census, tmp_path / "census.parquet")
    plan = tacit.Plan([mask.Mdav(columns=["income"], k=3), mask.Pram(columns=["marital"])])

    def make(format="parquet"):
        data = open_parquet(tmp_path / "census.parquet", schema=census.schema)
        with collecting_at_most(3000):
            release = plan.apply(data, seed=8, blocks=200)
            return release.save(tmp_path / f"out-{format}", format=format)

    return make


@pytest.mark.parametrize("format", ["parquet", "csv"])
def test_a_release_beyond_memory_is_reproduced_bit_for_bit(beyond, format):
    folder = beyond(format)
    manifest = json.loads((folder / "dossier/manifest.json").read_text(encoding="utf-8"))
    assert manifest["input"]["digest"].startswith("file:")
    assert "duckdb" in manifest["versions"]
    result = tacit.replay(folder, memory="600MB")
    assert result.digest == manifest["output"]["digest"]


def test_beyond_memory_other_data_are_refused_and_differences_named(beyond, tmp_path):
    folder = beyond()
    original = tmp_path / "census.parquet"
    moved = original.rename(tmp_path / "moved.parquet")
    with pytest.raises(ReplayError, match=r"cannot be read again: there is no such file"):
        tacit.replay(folder)
    assert tacit.replay(folder, data=moved).reproduced
    with pytest.raises(ReplayError, match=r"give the path of the Parquet file"):
        tacit.replay(folder, data=pl.read_parquet(moved))
    table = pl.read_parquet(moved)
    table.with_columns(income=table["income"] + 1).write_parquet(original)
    with pytest.raises(ReplayError, match=r"not the file that was protected"):
        tacit.replay(folder)
    rewritten(folder / "dossier", lambda m: m.update(seed="9"))
    with pytest.raises(ReplayError, match=r"values differ in marital .*same versions"):
        tacit.replay(folder, data=moved)
    rewritten(folder / "dossier", lambda m: m["input"].update(digest=""))
    with pytest.raises(ReplayError, match=r"came from an engine"):
        tacit.replay(folder, data=moved)
