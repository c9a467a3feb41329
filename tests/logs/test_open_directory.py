"""The RDF dump of the Open Directory; the excerpt is our own, in its format."""

import gzip

import pytest

from tacit.core.errors import ReadError
from tacit.logs import read_open_directory

CONTENT = """<?xml version="1.0" encoding="UTF-8"?>
<RDF xmlns:r="http://www.w3.org/TR/RDF/" xmlns:d="http://purl.org/dc/elements/1.0/">
  <Topic r:id="">
    <catid>1</catid>
  </Topic>
  <Topic r:id="Top/Sports/Soccer">
    <catid>2</catid>
    <link r:resource="http://one.example/"></link>
  </Topic>
  <ExternalPage about="http://one.example/">
    <d:Title>Barcelona &amp; friends</d:Title>
    <d:Description>All about the club</d:Description>
    <topic>Top/Sports/Soccer</topic>
  </ExternalPage>
  <ExternalPage about="http://two.example/">
    <d:Title>The Barcelona fan page</d:Title>
    <topic>Top/Sports/Soccer</topic>
  </ExternalPage>
  <ExternalPage about="http://three.example/">
    <d:Title>Hotels in Barcelona</d:Title>
    <topic>Top/Regional/Europe/Spain/Travel_and_Tourism</topic>
  </ExternalPage>
  <ExternalPage about="http://four.example/">
    <d:Title>Barcelona en catala</d:Title>
    <topic>Top/World/Catala</topic>
  </ExternalPage>
</RDF>
"""
STRUCTURE = """<RDF>
  <Topic r:id="Top/Arts/Silent_Film">
  </Topic>
</RDF>
"""


@pytest.fixture
def content(tmp_path):
    path = tmp_path / "content.rdf.u8.gz"
    with gzip.open(path, "wt", encoding="utf-8") as handle:
        handle.write(CONTENT)
    return path


def test_categories_are_ranked_by_matching_pages(content):
    taxonomy = read_open_directory(content)
    assert taxonomy.categories_of("barcelona") == [
        "Sports/Soccer", "Regional/Europe/Spain/Travel and Tourism",
    ]  # fmt: skip
    assert taxonomy.categories_of("friends", level=1) == ["Sports"]
    assert taxonomy.categories_of("the") == []


def test_labels_of_categories_are_terms(content, tmp_path):
    assert read_open_directory(content).categories_of("soccer") == ["Sports/Soccer"]
    (tmp_path / "structure.rdf.u8").write_text(STRUCTURE, encoding="utf-8")
    taxonomy = read_open_directory(content, tmp_path / "structure.rdf.u8", without=())
    assert taxonomy.categories_of("silent film") == ["Arts/Silent Film"]
    assert taxonomy.categories_of("catala") == ["World/Catala"]


def test_at_most_so_many_categories(content):
    assert len(read_open_directory(content, most=1).categories_of("barcelona")) == 1


def test_other_files_are_refused(tmp_path):
    (tmp_path / "empty.txt").write_text("", encoding="utf-8")
    with pytest.raises(ReadError, match="could not be read"):
        read_open_directory(tmp_path / "empty.txt")
    (tmp_path / "other.txt").write_text("hello\n", encoding="utf-8")
    with pytest.raises(ReadError, match="no categories"):
        read_open_directory(tmp_path / "other.txt")
    with pytest.raises(ReadError, match="no such file"):
        read_open_directory(tmp_path / "none.txt")
