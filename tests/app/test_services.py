"""The parts of a running app."""

from tacit.app.services import Services


def test_a_house_that_is_opened_again_still_knows_its_people(parts, people, settings):
    again = Services.start(settings)
    assert again.accounts.log_in("root", "correct horse battery").actor == people["administrator"]
    again.store.close()


def test_the_folders_are_for_the_house_only(parts, settings):
    assert settings.projects.stat().st_mode & 0o077 == 0
