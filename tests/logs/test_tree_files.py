"""Taxonomies from tables and lists."""

import gzip

import pytest

from tacit.core.errors import ReadError, UnknownColumnError
from tacit.datasets import query_log
from tacit.logs import demonstration, read_categories, read_table


def test_table_with_paths(tmp_path):
    (tmp_path / "t.csv").write_text("term,category\nflu,Health/Flu\nflu,News\n", encoding="utf-8")
    taxonomy = read_table(tmp_path / "t.csv")
    assert taxonomy.categories_of("flu") == ["Health/Flu", "News"]
    assert taxonomy.title == "t.csv"


def test_table_with_levels_and_a_slash_in_a_label(tmp_path):
    text = "word,level1,level2,level3\nflu,Health,Cold/Flu,\n"
    (tmp_path / "t.csv").write_text(text, encoding="utf-8")
    taxonomy = read_table(tmp_path / "t.csv", term="word")
    assert taxonomy.categories_of("flu", level=1) == ["Health"]


def test_list_of_categories(tmp_path):
    text = "Top/Arts\t12\nTop/Arts/Film\nTop/Shopping/Silent_Film\n"
    (tmp_path / "c.txt").write_text(text, encoding="utf-8")
    taxonomy = read_categories(tmp_path / "c.txt")
    assert taxonomy.categories_of("silent film") == ["Shopping/Silent Film"]
    assert taxonomy.categories_of("film") == ["Arts/Film", "Shopping/Silent Film"]
    assert taxonomy.categories_of("arts") == ["Arts"]


def test_refusals(tmp_path):
    with pytest.raises(ReadError):
        read_table(tmp_path / "none.csv")
    with pytest.raises(ReadError):
        read_categories(tmp_path / "none.txt")
    (tmp_path / "t.csv").write_text("word,path\nflu,Health\n", encoding="utf-8")
    with pytest.raises(UnknownColumnError):
        read_table(tmp_path / "t.csv")


@pytest.mark.parametrize("reader", [read_table, read_categories])
@pytest.mark.parametrize("content", [b"", gzip.compress(b"Top/Arts\n" * 99, mtime=0)[:30]])
def test_empty_and_broken_files_are_refused(tmp_path, reader, content):
    (tmp_path / "t.csv").write_bytes(content)
    with pytest.raises(ReadError, match="could not be read"):
        reader(tmp_path / "t.csv")


def test_the_demonstration_knows_every_subject_of_the_made_up_log():
    taxonomy = demonstration()
    subjects = {path[1] for path in query_log(1).schema["query"].hierarchy.paths}
    known = [s for s in subjects if len(taxonomy.categories_of(s, level=1)) >= 1]
    assert len(known) == len(subjects) == 120
    deep = [s for s in subjects if taxonomy.categories_of(s, first=1, level=5)]
    assert 60 < len(deep) < 110
    assert all(len(taxonomy.categories_of(s)) >= 5 for s in subjects)
