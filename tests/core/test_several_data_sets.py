"""Releases of several data sets: made, measured, written, replayed."""

import json

import pytest

import tacit
from tacit import mask, risk
from tacit.core.errors import ReplayError


@pytest.fixture
def release():
    return tacit.Plan([mask.Synthesise(m=3), mask.TopCode(column="age", threshold=80)]).apply(
        tacit.datasets.census(300), seed=4
    )


def test_every_step_is_applied_to_every_data_set(release):
    assert len(release.data_sets) == 3
    assert len(release.steps) == 3, "identifiers, synthesis, top coding: once"
    frames = [d.frame for d in release.data_sets]
    assert not frames[0].equals(frames[1])
    assert len({str(f.schema) for f in frames}) == 1


def test_the_first_data_set_is_that_of_a_single_release():
    data = tacit.datasets.census(200)
    one, two = (tacit.Plan([mask.Synthesise(m=m)]).apply(data, seed=4) for m in (1, 2))
    assert one.copies == ()
    assert one.frame.equals(two.frame)


def test_the_worst_data_set_counts(release):
    card = release.measure([risk.ReplicatedUniques()])
    values = [
        risk.ReplicatedUniques().measure(release.original, d).value for d in release.data_sets
    ]
    assert card.risks[0].value == max(values)
    assert card.risks[0].details["data_sets"] == values


def test_all_data_sets_are_written_and_replayed(release, tmp_path):
    tacit.datasets.census(300).frame.write_csv(tmp_path / "in.csv")
    release.save(tmp_path / "out")
    names = sorted(p.name for p in (tmp_path / "out" / "public").iterdir())
    assert names == ["NOTE.md", "data-2.csv", "data-3.csv", "data.csv"]
    assert "3 data sets" in (tmp_path / "out" / "public" / "NOTE.md").read_text()
    manifest = json.loads((tmp_path / "out" / "dossier" / "manifest.json").read_text())
    assert len(manifest["output"]["copies"]) == 2
    original = release.original
    assert tacit.replay(tmp_path / "out", original).reproduced
    spoilt = tmp_path / "out" / "public" / "data-3.csv"
    spoilt.write_text(spoilt.read_text().replace("male", "robot", 1))
    with pytest.raises(ReplayError, match="changed after the release"):
        tacit.replay(tmp_path / "out", original)


@pytest.mark.parametrize(
    ("steps", "words"),
    [
        ([mask.Synthesise(m=2, size=40)], ["2 data sets", "rule 'simple'", "--records 300"]),
        ([mask.Synthesise(proper=True)], ["too small", "rule 'proper'", "--records 300"]),
        ([mask.Sample(fraction=0.5), mask.Synthesise()], ["--records 150"]),
        ([mask.PartiallySynthetic(columns=["income"], m=2)], ["rule 'partially'; `tacit combine`"]),
    ],
    ids=["several", "one", "sampled", "partially"],
)
def test_the_public_note_says_how_to_analyse(steps, words, tmp_path):
    data = tacit.datasets.census(300).drop(["household"])
    tacit.Plan(steps).apply(data, seed=1).save(tmp_path / "out")
    note = (tmp_path / "out" / "public" / "NOTE.md").read_text()
    for word in words:
        assert word in note
    plain = tacit.Plan([mask.RandomOrder()]).apply(data, seed=1).save(tmp_path / "plain")
    assert "combine" not in (plain / "public" / "NOTE.md").read_text()
