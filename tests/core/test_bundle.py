"""Release bundles: whole or not at all, and nothing inside that should not be."""

import json
import stat
import types

import numpy as np
import polars as pl
import pytest

import tacit
from tacit import mask, risk
from tacit.core import bundle
from tacit.core.bundle import read_manifest
from tacit.core.errors import ParameterError, TacitError, UnknownMethodError, WriteError
from tacit.core.measurement import Measurement

SEED = 918273645546372819


@pytest.fixture(scope="module")
def release():
    plan = tacit.Plan(
        [
            mask.Recode(column="age", width=17),
            mask.TopCode(column="income", threshold=31_234.5),
            mask.Sample(fraction=0.77),
        ]
    )
    return plan.apply(tacit.datasets.census(60), seed=SEED)


@pytest.fixture(scope="module")
def saved(release, tmp_path_factory):
    return release.save(tmp_path_factory.mktemp("bundles") / "out")


def texts(folder):
    return {
        p.name: p.read_bytes().decode("utf-8", "replace") for p in folder.rglob("*") if p.is_file()
    }


# -- what is inside -----------------------------------------------------------------------------


def test_two_folders(saved):
    assert sorted(p.name for p in saved.iterdir()) == ["dossier", "public"]
    assert sorted(p.name for p in (saved / "public").iterdir()) == ["NOTE.md", "data.csv"]
    inside = {p.name for p in (saved / "dossier").iterdir()}
    assert inside >= {
        "manifest.json", "plan.toml", "schema.toml", "measurements.json", "records.parquet",
    }  # fmt: skip
    assert inside >= {d.filename for d in tacit.methods("document")}


def test_public_data_are_the_release(saved, release):
    public = pl.read_csv(saved / "public" / "data.csv")
    assert public.columns == release.data.columns
    assert len(public) == release.data.n_records


def test_nothing_public_holds_the_seed_an_identifier_or_a_parameter(saved, release):
    identifiers = release.original.frame["person_id"].to_list()
    secrets = [str(SEED), "person_id", "__tacit", *identifiers, "0.77", "77 %", "width"]
    for name, text in texts(saved / "public").items():
        for secret in secrets:
            assert secret not in text, (name, secret)
    note = (saved / "public" / "NOTE.md").read_text(encoding="utf-8")
    assert "31234" not in note.replace(",", "")
    assert "17" not in note


def test_note_says_what_was_done_in_order(saved):
    note = (saved / "public" / "NOTE.md").read_text(encoding="utf-8")
    order = [note.index(t) for t in ("identifiers removed", "recoding", "Top coding", "Sampling")]
    assert order == sorted(order)


def test_note_of_an_empty_plan(release):
    bare = tacit.Plan().apply(pl.DataFrame({"x": [1]}), seed=1)
    assert "released as they are" in bundle.public_note(bare)


def test_dossier_reproduces(saved, release):
    plan = tacit.Plan.load(saved / "dossier" / "plan.toml")
    manifest = read_manifest(saved / "dossier")
    again = plan.apply(release.original, seed=int(manifest["seed"]))
    assert plan == release.plan
    assert again.frame.equals(release.frame)
    assert manifest["input"]["digest"] == bundle.input_digest(release.original)
    assert manifest["output"]["records"] == release.data.n_records
    assert [s["records"] for s in manifest["steps"]] == [s.n_records for s in release.steps]


def test_schema_of_the_dossier_is_the_original_one(saved, release):
    loaded = tacit.Schema.load(saved / "dossier" / "schema.toml")
    assert loaded == release.original.schema


def test_records_link_to_the_original(saved, release):
    records = pl.read_parquet(saved / "dossier" / "records.parquet")
    assert records["original_record"].to_list() == release.rows.tolist()


def test_measurements_are_json(saved):
    content = json.loads((saved / "dossier" / "measurements.json").read_text(encoding="utf-8"))
    assert set(content) == {"risk", "utility", "before", "left_out"}


def test_dossier_is_closed_to_others(saved):
    assert stat.S_IMODE((saved / "dossier").stat().st_mode) & 0o077 == 0
    assert stat.S_IMODE((saved / "public").stat().st_mode) & 0o005 == 0o005


def test_digest_does_not_depend_on_how_the_frame_is_held(release):
    original = release.original
    shuffled = tacit.Microdata.of(original.frame.lazy()).with_schema(original.schema)
    assert bundle.input_digest(shuffled) == bundle.input_digest(original)
    changed = original.with_columns(age=pl_plus_one())
    assert bundle.input_digest(changed) != bundle.input_digest(original)


def pl_plus_one():
    import narwhals as nw

    return nw.col("age") + 1


def test_decimals_have_a_digest():
    frame = pl.DataFrame({"x": pl.Series(["1.50", "2.25", None]).cast(pl.Decimal(10, 2))})
    other = pl.DataFrame({"x": pl.Series(["1.50", "2.26", None]).cast(pl.Decimal(10, 2))})
    digests = [bundle.input_digest(tacit.Microdata.of(f)) for f in (frame, frame, other)]
    assert digests[0] == digests[1] != digests[2]


# -- writing ------------------------------------------------------------------------------------


def test_an_existing_folder_is_refused_and_left_alone(release, tmp_path):
    target = tmp_path / "out"
    target.mkdir()
    (target / "thesis.txt").write_text("years of work")
    for force in (False, True):
        with pytest.raises(WriteError):
            release.save(target, force=force)
    assert texts(target) == {"thesis.txt": "years of work"}
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_force_replaces_a_release(release, tmp_path):
    target = release.save(tmp_path / "out")
    (target / "public" / "data.csv").write_text("old")
    release.save(target, force=True)
    assert (target / "public" / "data.csv").read_text() != "old"
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_force_does_not_replace_another_folder_called_public(release, tmp_path):
    site = tmp_path / "site"
    (site / "public").mkdir(parents=True)
    (site / "public" / "index.html").write_text("hello")
    with pytest.raises(WriteError, match="will not be replaced"):
        release.save(site, force=True)
    assert texts(site) == {"index.html": "hello"}


def test_force_on_an_empty_or_absent_folder(release, tmp_path):
    (tmp_path / "empty").mkdir()
    for name in ("empty", "absent"):
        assert (release.save(tmp_path / name, force=True) / "public").is_dir()


def test_a_file_in_the_way(release, tmp_path):
    (tmp_path / "out").write_text("a file")
    for force in (False, True):
        with pytest.raises(WriteError):
            release.save(tmp_path / "out", force=force)
    assert (tmp_path / "out").read_text() == "a file"


@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError(28, "No space left on device")])
@pytest.mark.parametrize("place", ["_json", "_per_record", "public_note"])
def test_interrupt_and_full_disk_leave_nothing(release, tmp_path, monkeypatch, failure, place):
    def fail(*_arguments):
        raise failure

    monkeypatch.setattr(bundle, place, fail)
    expected = KeyboardInterrupt if failure is KeyboardInterrupt else WriteError
    with pytest.raises(expected):
        release.save(tmp_path / "out")
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("failure", [KeyboardInterrupt, OSError(28, "No space left on device")])
def test_failed_replacement_keeps_the_old_release(release, tmp_path, monkeypatch, failure):
    target = release.save(tmp_path / "out")
    before = texts(target)

    def fail(*_arguments):
        raise failure

    monkeypatch.setattr(bundle, "_per_record", fail)
    with pytest.raises((KeyboardInterrupt, WriteError)):
        release.save(target, force=True)
    assert texts(target) == before
    assert [p.name for p in tmp_path.iterdir()] == ["out"]


def test_unknown_format_is_found_before_anything_is_written(release, tmp_path):
    with pytest.raises(UnknownMethodError, match="no format method 'cvs'; did you mean 'csv'"):
        release.save(tmp_path / "out", format="cvs")
    assert list(tmp_path.iterdir()) == []


def test_folder_is_checked_before_the_long_measuring(release, tmp_path, monkeypatch):
    (tmp_path / "out").mkdir()
    monkeypatch.setattr(type(release), "measure", lambda self: pytest.fail("measured in vain"))
    with pytest.raises(WriteError, match="exists already"):
        release.save(tmp_path / "out")


# -- reading ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (None, "not a dossier"),
        ("{", "damaged"),
        ("[]", "damaged"),
        ("{}", "damaged"),
        ('{"format": 99}', "another version"),
    ],
)
def test_bad_manifests(tmp_path, content, message):
    if content is not None:
        (tmp_path / "manifest.json").write_text(content)
    with pytest.raises(ParameterError, match=message) as caught:
        read_manifest(tmp_path)
    assert isinstance(caught.value, TacitError)


def test_the_risk_of_an_original_unit_stays_with_its_record(tmp_path):
    data = tacit.datasets.census(60, seed=1)
    release = tacit.Plan([mask.RandomOrder(), mask.Sample(fraction=0.9)]).apply(data, seed=2)
    card = release.measure([risk.IdentificationRisk(), risk.KAnonymity()])
    records = bundle._per_record(release, card)
    of_units = card["identification-risk"].per_unit
    assert records["identification-risk"].to_list() == of_units[release.rows].tolist()
    assert records["k-anonymity"].to_list() == card["k-anonymity"].per_unit.tolist()
    assert len(of_units) > len(records)


def test_a_simulated_record_has_no_risk_of_an_original_unit(release):
    measured = Measurement("m", "M", 0.5, "lower", per_unit=np.arange(60.0), units="original")
    rows = np.where(np.arange(len(release.rows)) == 2, -1, release.rows)
    faked = types.SimpleNamespace(rows=rows, original=release.original)
    values = bundle._of_released_records(measured, faked)
    assert np.isnan(values[2])
    assert np.nansum(values) == rows[rows >= 0].sum()
