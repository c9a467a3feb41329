"""Ask agencies to compute together; the job keeps their answer, or says who failed and why."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tacit.app.federation import Federation
from tacit.app.settings import Settings
from tacit.app.store.database import Store, record
from tacit.app.store.records import Job
from tacit.core.errors import DataError


def run(store: Store, settings: Settings, job: Job) -> dict[str, Any]:
    """Run a computation over TLS; nothing partial is ever kept."""
    from tacit.federated import connect
    from tacit.federated.analysis import analysis_from

    asked, partners = job.request, Federation(store, settings).partners()
    gone = [name for name in asked["agencies"] if name not in partners]
    if gone:
        raise DataError("the administrator has taken agencies away", got=", ".join(gone))
    addresses = {name: partners[name] for name in asked["agencies"]}
    coordinator = connect(addresses, Path(settings.coordinator_keys), timeout=asked["seconds"])
    answer = coordinator.run(analysis_from(asked["analysis"]), purpose=asked["purpose"])
    with store.begin() as connection:
        record(
            connection, "agencies answered", user=job.user_id, project=job.project_id,
            analysis=asked["analysis"]["analysis"], agencies=list(answer.agencies),
        )  # fmt: skip
    return {"analysis": asked["analysis"], "answer": answer.as_dict(), "words": str(answer)}
