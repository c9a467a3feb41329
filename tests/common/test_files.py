"""What every file format and every document of the dossier must do, whoever wrote it."""

import pytest

import tacit
from tacit.core.errors import TacitError, WriteError

FORMATS = tacit.methods("format")
every_format = pytest.mark.parametrize("method", FORMATS, ids=lambda m: m.key)
every_document = pytest.mark.parametrize("method", tacit.methods("document"), ids=lambda m: m.key)


@every_format
def test_format_writes_what_it_reads(method, tmp_path, well_said, census):
    data = census(30).drop(["person_id"]).numbered()
    path = tmp_path / f"data{method.suffixes[0]}"
    try:
        method(**method.example).write(data, path)
    except WriteError as error:
        well_said(error)
        return
    again = tacit.read(path).frame
    assert again.columns == data.columns, "no hidden column may be written"
    assert again["income"].to_list() == pytest.approx(data.frame["income"].to_list())
    assert again["region"].to_list() == data.frame["region"].to_list()


@every_format
def test_format_refuses_a_file_that_is_not_one(method, tmp_path, well_said):
    path = tmp_path / f"data{method.suffixes[0]}"
    path.write_bytes(b"\x00\xff\x13\x37" * 40)
    with pytest.raises(TacitError) as caught:
        method(**method.example).read(path)
    well_said(caught.value)


@every_format
def test_suffixes_are_distinct(method):
    others = [s for f in FORMATS if f is not method for s in f.suffixes]
    assert method.suffixes
    assert all(s.startswith(".") and s == s.lower() for s in method.suffixes)
    assert not set(method.suffixes) & set(others)


@every_document
def test_document_keeps_secrets(method, census):
    plan = tacit.Plan([tacit.mask.Sample(fraction=0.7)])
    release = plan.apply(census(), seed=918273645546372819)
    text = method(**method.example).render(release, release.measure())
    assert text
    assert method.filename
    assert "918273645546372819" not in text
    assert not [name for name in census().frame["person_id"] if name in text]
