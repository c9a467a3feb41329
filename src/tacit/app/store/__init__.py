"""What the app remembers: people, projects, versions, jobs and who did what."""

from tacit.app.store.database import Store

__all__ = ["Store"]
