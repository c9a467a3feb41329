"""WordNet's database files; the excerpt is our own, in their format."""

import pytest

from tacit.core.errors import DataError, ReadError
from tacit.logs import read_wordnet

LICENCE = "  1 This is where the licence stands.  \n"
DATA = (
    LICENCE
    + """\
00000100 03 n 01 entity 0 001 ~ 00000200 n 0000 | that which exists
00000200 03 n 01 physical_entity 0 002 @ 00000100 n 0000 ~ 00000300 n 0000 | has a body
00000300 05 n 01 animal 0 001 @ 00000200 n 0000 | lives
00000400 05 n 02 dog 0 domestic_dog 0 001 @ 00000300 n 0000 | barks
00000500 18 n 01 dog 1 001 @ 00000200 n 0000 | an unpleasant man
00000600 18 n 01 Arnold 0 001 @i 00000500 n 0000 | a man who lived
00000700 15 n 01 Lilburn 0 001 @i 00000200 n 0000 | a town
"""
)
INDEX = (
    LICENCE
    + """\
animal n 1 2 @ ~ 1 0 00000300
arnold n 1 1 @i 1 0 00000600
dog n 2 1 @ 2 1 00000400 00000500
domestic_dog n 1 1 @ 1 0 00000400
entity n 1 1 ~ 1 0 00000100
lilburn n 1 1 @i 1 0 00000700
"""
)


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "data.noun").write_text(DATA, encoding="utf-8")
    (tmp_path / "index.noun").write_text(INDEX, encoding="utf-8")
    return tmp_path


def test_senses_in_order_with_their_chains(folder):
    taxonomy = read_wordnet(folder)
    assert taxonomy.categories_of("dog") == ["animal/dog", "dog"]
    assert taxonomy.categories_of("Domestic dog") == ["animal/dog"]
    assert taxonomy.categories_of("lilburn") == ["Lilburn"]
    assert read_wordnet(folder, skip=0).categories_of("animal") == ["entity/physical entity/animal"]
    assert read_wordnet(folder, most=1).categories_of("dog") == ["animal/dog"]


def test_people_who_lived_and_skipped_links_are_no_terms(folder):
    taxonomy = read_wordnet(folder)
    assert taxonomy.categories_of("arnold") == []
    assert taxonomy.categories_of("entity") == []


def test_refusals(tmp_path, folder):
    with pytest.raises(ReadError, match="wordnet-base"):
        read_wordnet(tmp_path / "nowhere")
    for data, index in (("nothing\n", "nothing\n"), (DATA, "a n 1 zz @ 1 1 00000001\n")):
        (tmp_path / "data.noun").write_text(data, encoding="utf-8")
        (tmp_path / "index.noun").write_text(index, encoding="utf-8")
        with pytest.raises(ReadError, match=r"no noun|could not be read"):
            read_wordnet(tmp_path)
    (folder / "index.noun").write_text(INDEX, encoding="utf-8")
    circle = DATA.replace("@ 00000100 n 0000 ~", "@ 00000300 n 0000 ~")
    (folder / "data.noun").write_text(circle, encoding="utf-8")
    with pytest.raises(DataError, match="circle"):
        read_wordnet(folder)
