"""Settings from files and the environment."""

import pytest

from tacit.app.settings import Settings
from tacit.core.errors import ParameterError


def test_the_environment_wins_over_the_file_and_what_is_given_over_both(tmp_path, monkeypatch):
    file = tmp_path / "settings.toml"
    file.write_text('port = 1000\nhost = "a"\nfailures = 3\n')
    monkeypatch.setenv("TACIT_PORT", "2000")
    monkeypatch.setenv("TACIT_HOST", "b")
    found = Settings.load(file, host="c", workers=None)
    assert (found.port, found.host, found.failures, found.workers) == (2000, "c", 3, 1)


def test_a_misspelt_variable_is_named(monkeypatch):
    monkeypatch.setenv("TACIT_PROT", "1")
    with pytest.raises(ParameterError, match="TACIT_PORT"):
        Settings.load()


def test_lists_are_written_with_commas(monkeypatch):
    monkeypatch.setenv("TACIT_ALLOWED_HOSTS", "a.example, b.example")
    assert Settings.load().allowed_hosts == ("a.example", "b.example")
    monkeypatch.setenv("TACIT_DATABASES", "")
    assert Settings.load().databases == ()


def test_a_file_that_cannot_be_read_is_named(tmp_path):
    with pytest.raises(ParameterError, match="settings could not be read"):
        Settings.load(tmp_path / "none.toml")


def test_the_store_is_in_the_folder_unless_a_database_is_named(tmp_path):
    assert Settings(folder=tmp_path).store_url == f"sqlite:///{tmp_path}/store.sqlite"
    named = Settings(database="postgresql://u:p@h/d")
    assert named.store_url == "postgresql+psycopg://u:p@h/d"


def test_the_secret_of_the_provider_is_not_printed():
    assert "hush" not in repr(Settings(oidc_secret="hush"))  # noqa: S106
