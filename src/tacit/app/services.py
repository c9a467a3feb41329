"""Everything the app can do, in one place: the REST interface and the pages call nothing else."""

from __future__ import annotations

from dataclasses import dataclass

from tacit.app.accounts import Accounts
from tacit.app.federation import Federation
from tacit.app.jobs import Jobs
from tacit.app.projects import Projects
from tacit.app.queries import Queries
from tacit.app.settings import Settings
from tacit.app.store.database import Store
from tacit.app.versions import Versions


@dataclass(frozen=True)
class Services:
    """The parts of a running app."""

    settings: Settings
    store: Store
    accounts: Accounts
    projects: Projects
    versions: Versions
    jobs: Jobs
    queries: Queries
    federation: Federation

    @classmethod
    def start(cls, settings: Settings) -> Services:
        """Open the store, bring it up to date, and make its folders."""
        settings.projects.mkdir(parents=True, exist_ok=True, mode=0o700)
        store = Store(settings.store_url)
        store.migrate()
        return cls(
            settings,
            store,
            Accounts(store, settings),
            Projects(store, settings),
            Versions(store, settings),
            Jobs(store, settings),
            Queries(store, settings),
            Federation(store, settings),
        )

    def close(self) -> None:
        """Let go of the store and of the query servers."""
        self.queries.close()
        self.store.close()
