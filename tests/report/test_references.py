"""Sources in full."""

from tacit.report import _references


def test_a_source_reads_like_a_citation():
    text = _references.reference("mateosanz2005")
    assert text.startswith("Mateo-Sanz, Domingo-Ferrer and Sebé (2005). Probabilistic")
    assert text.endswith("doi:10.1007/s10618-005-0011-9.")
    assert _references.short_reference("hundepool2012") == "Hundepool and others 2012"


def test_an_unknown_source_keeps_its_key(monkeypatch):
    assert _references.reference("nobody1900") == "nobody1900"
    assert _references.short_reference("nobody1900") == "nobody1900"


def test_braces_and_accents_are_read():
    entries = _references._entries(
        '@book{k1,\n  author = {Torra, Vicen{\\c c} and M{\\"u}ller, A.},\n  year = {2001},\n}\n'
    )
    assert entries == {"k1": {"author": "Torra, Vicenç and Müller, A.", "year": "2001"}}
