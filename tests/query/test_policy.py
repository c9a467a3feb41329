"""Policies are files; a bad one is refused."""

import pytest

from tacit.core.errors import TacitError
from tacit.query import CellKeyNoise, Policy

BUILT_IN = ["blocks", "camouflage", "dp", "exact", "mas", "strict"]


@pytest.mark.parametrize("name", BUILT_IN)
def test_built_in_policies_read_and_write(name, tmp_path):
    policy = Policy.named(name)
    assert policy.name == name
    assert policy.summary
    path = policy.save(tmp_path / "policy.toml")
    assert Policy.load(path) == policy
    assert Policy.of(path) == Policy.of(str(path)) == policy
    assert all(isinstance(words, str) for words in policy.told())


def test_hidden_parameters():
    policy = Policy(name="p", guards=(CellKeyNoise(),), hidden=("cell-key",))
    assert policy.told() == ["Cell key noise"]
    assert "variance = 5.0" in Policy(name="p", guards=(CellKeyNoise(),)).told()[0]


@pytest.mark.parametrize(
    "text",
    ["name = ", "version = '1'", "name = 'x'\nsecrets = 3", "name='x'\nhidden=['cell-key']",
     "name='x'\nanalyses=['everything']", "name='x'\n[[guards]]\nmethod='no-such'",
     "name='x'\n[[guards]]\nminimum=3", "name='x'\n[[guards]]\nmethod='threshold'\nminimum=0"],
)  # fmt: skip
def test_bad_policies_are_refused(text):
    with pytest.raises(TacitError):
        Policy.from_toml(text)


def test_unknown_names_and_files(tmp_path):
    with pytest.raises(TacitError, match="strict"):
        Policy.of("strickt")
    with pytest.raises(TacitError):
        Policy.of(tmp_path / "none.toml")
    (tmp_path / "bytes.toml").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(TacitError):
        Policy.load(tmp_path / "bytes.toml")
    with pytest.raises(TacitError):
        list(Policy(name="p").staged("never"))


def test_no_guard_twice():
    with pytest.raises(TacitError, match="twice"):
        Policy(name="p", guards=(CellKeyNoise(), CellKeyNoise(variance=4.0)))
