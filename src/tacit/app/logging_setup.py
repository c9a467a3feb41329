"""Log lines as JSON, one object each, in which no value of a record can appear.

Our own messages are written with care. The text of an exception, or a message of another library,
may hold anything, so of those only the kind and the place are told.
"""

from __future__ import annotations

import json
import logging
import sys
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import Any, TextIO

_OURS = "tacit"
_KNOWN = ("uvicorn.error", "alembic")
"""Loggers of others whose messages are fixed words about starting and stopping."""
_DEEPEST = 12


class JsonLines(logging.Formatter):
    """Formats a record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        """Return the line."""
        line: dict[str, Any] = {
            "time": datetime.fromtimestamp(record.created, UTC).isoformat(timespec="milliseconds"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "process": record.process,
            "message": _message(record),
        }
        fields = getattr(record, "fields", None)
        if _is_ours(record) and isinstance(fields, dict):
            line |= {name: value for name, value in fields.items() if name not in line}
        if record.exc_info and record.exc_info[0] is not None:
            kind, _text, trace = record.exc_info
            line["error"], line["trace"] = kind.__name__, places(trace)
        return json.dumps(line, ensure_ascii=True, default=str)


def set_up(stream: TextIO | None = None, level: int = logging.INFO) -> None:
    """Send everything that is logged in this process to stderr as JSON lines."""
    handler = logging.StreamHandler(stream or sys.stderr)
    handler.setFormatter(JsonLines())
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(logging.WARNING)
    logging.getLogger(_OURS).setLevel(level)
    logging.captureWarnings(True)
    for name in ("uvicorn", "uvicorn.error", "uvicorn.access", "nicegui"):
        logger = logging.getLogger(name)
        logger.handlers.clear()
        logger.propagate = True


def places(trace: TracebackType | None) -> list[str]:
    """Return where an error passed, innermost last, without any text of the error."""
    found = []
    while trace is not None:
        code = trace.tb_frame.f_code
        found.append(f"{Path(code.co_filename).name}:{trace.tb_lineno} {code.co_name}")
        trace = trace.tb_next
    return found[-_DEEPEST:]


def _is_ours(record: logging.LogRecord) -> bool:
    return record.name == _OURS or record.name.startswith(f"{_OURS}.")


def _message(record: logging.LogRecord) -> str:
    if _is_ours(record) or record.name.startswith(_KNOWN):
        return record.getMessage().splitlines()[0] if record.getMessage() else ""
    return f"a message of {record.name}, from {record.module}:{record.lineno}"
