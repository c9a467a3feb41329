"""``tacit worker``: a process that does the long jobs of an app."""

from __future__ import annotations

from tacit.cli.backup import House
from tacit.cli.console import Answer


def worker(house: House) -> Answer:
    """Do the long jobs of an app until told to stop, beside a `tacit serve --workers 0`.

    The machine must reach the app's store and its folder. Start as many as there is work for.
    """
    from tacit.app import logging_setup
    from tacit.app.services import Services
    from tacit.app.worker import main

    logging_setup.set_up()
    settings = house.load()
    Services.start(settings).close()  # a worker may be the first to meet a new form of the store
    main(settings)
    return Answer({"stopped": True}, ())
