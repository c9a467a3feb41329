"""Hierarchy files: the semicolon form and the indented one of tau-ARGUS."""

import pytest

from tacit.core.errors import ReadError
from tacit.io.hierarchies import read_hierarchy


def test_the_semicolon_form(text_file):
    tree = read_hierarchy(text_file('1;"0-4; young";*\r\n7;5-9;*', "age.csv"))
    assert tree.paths == (("1", "0-4; young", "*"), ("7", "5-9", "*"))


def test_another_separator_and_encoding(text_file):
    path = text_file("Müll,x,*\n".encode("latin-1"), "h.csv")
    assert read_hierarchy(path, ",", encoding="latin-1").paths == (("Müll", "x", "*"),)


def test_a_line_given_twice_counts_once(text_file):
    assert len(read_hierarchy(text_file("a;*\na;*\nb;*\n", "h.csv")).paths) == 2


def test_codes_by_depth(text_file):
    tree = read_hierarchy(text_file("Nr\n@ 1\n@ 2 \nOs \n@10\n", "region.hrc"))
    assert tree.paths == ((" 1", "Nr", "*"), (" 2", "Nr", "*"), ("10", "Os", "*"))


def test_a_code_at_less_depth_repeats_itself(text_file):
    tree = read_hierarchy(text_file("A\n@B\n@@1\n@C\nD\n", "x.hrc"))
    assert tree.paths == (("1", "B", "A", "*"), ("C", "C", "A", "*"), ("D", "D", "D", "*"))


def test_groups_of_one_name_are_told_apart_by_their_parent(text_file):
    tree = read_hierarchy(text_file("1\n@11\n@@a\n2\n@11\n@@b\n", "x.hrc"))
    assert tree.paths == (("a", "11 (1)", "1", "*"), ("b", "11 (2)", "2", "*"))


def test_another_mark(text_file):
    assert read_hierarchy(text_file("A\n--1\n", "x.hrc"), lead="--").paths == (("1", "A", "*"),)


def test_a_flat_list(text_file):
    assert read_hierarchy(text_file("a\nb\n", "x.hrc")).paths == (("a", "*"), ("b", "*"))


@pytest.mark.parametrize(
    ("content", "name", "says"),
    [
        ("", "h.csv", "the file is empty"),
        ("a;b;*\nc;*\n", "h.csv", r"line 2 of h\.csv has 2 levels, not 3"),
        ("a;x;*\na;y;*\n", "h.csv", r"h\.csv has a code twice \(got 'a' below 'x' and 'y'\)"),
        ("a;x;p\nb;x;q\n", "h.csv", "two parents"),
        ("A\n@@1\n", "x.hrc", r"line 2 of x\.hrc skips a level"),
        ("@1\n", "x.hrc", r"line 1 of x\.hrc skips a level"),
        ("x;a\nx;b\n", "h.csv", "'x' below 'a' and 'b'.*starts with the finest code"),
        ("A\n@1\nB\n@1\n", "x.hrc", r"x\.hrc has a code twice \(got '1' below 'A' and 'B'\)"),
        ("A\n@1\n@2\n@1\n", "x.hrc", "'1' twice below 'A'"),
        ("\n\n", "x.hrc", "."),
        (b"A\n@\xfc\n", "x.hrc", r"line 2 of x\.hrc is not UTF-8"),
        (b"\xfc;*\n", "h.csv", r"line 1 of h\.csv is not UTF-8"),
    ],
)
def test_bad_files_give_one_line(text_file, content, name, says):
    with pytest.raises(ReadError, match=says) as caught:
        read_hierarchy(text_file(content, name))
    assert "\n" not in str(caught.value)


def test_no_such_file(tmp_path):
    with pytest.raises(ReadError, match=r"no such file"):
        read_hierarchy(tmp_path / "nothing.hrc")


@pytest.mark.parametrize(
    ("column", "n_leaves", "n_levels"),
    [
        ("sex", 2, 2), ("age", 100, 5), ("race", 5, 2), ("marital-status", 7, 3),
        ("education", 16, 4), ("native-country", 41, 3), ("workclass", 8, 3),
        ("occupation", 14, 3), ("salary-class", 2, 2),
    ],
)  # fmt: skip
def test_adult_hierarchies(shared_data, column, n_leaves, n_levels):
    tree = read_hierarchy(shared_data / "adult" / f"adult_hierarchy_{column}.csv")
    assert (len(tree.paths), tree.n_levels) == (n_leaves, n_levels)
    assert {path[-1] for path in tree.paths} == {"*"}


def test_toy_and_tau_argus_hierarchies(shared_data):
    zips = read_hierarchy(shared_data / "arx-toy" / "test2_hierarchy_ZIPCode.csv")
    assert zips.paths[0][:3] == ("47677", "4767*", "476**")
    folder = shared_data / "tables" / "tauargus"
    assert read_hierarchy(folder / "Region.hrc").paths[-1] == ("8", "C", "*")
    nace = read_hierarchy(folder / "enterprise" / "nace_divisions.hrc")
    assert (len(nace.paths), nace.n_levels) == (89, 3)
    towns = read_hierarchy(folder / "enterprise" / "NUTS.hrc")
    assert {p[1] for p in towns.paths if p[1].startswith("11")} == {"11 (1)", "11 (2)"}
