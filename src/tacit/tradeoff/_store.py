"""The file of a search: one line per finished evaluation, so that a stopped search goes on.

The file belongs to one search: its first line holds a fingerprint of data, measures and seed. A
line is written whole, flushed to the disk, before its evaluation counts as finished. A last line
that a crash cut off is dropped. The file tells much about the confidential data and stays inside.
"""

from __future__ import annotations

import json
import os
from dataclasses import asdict
from pathlib import Path
from typing import Any

from tacit.core.errors import ReadError, WriteError
from tacit.tradeoff._evaluation import Result

_FORMAT = 1


class Store:
    """Results of finished evaluations, in memory and, if wanted, in a file."""

    def __init__(self, path: str | Path | None, fingerprint: str) -> None:
        self._results: dict[str, Result] = {}
        self._path = None if path is None else Path(path)
        self.n_resumed = 0
        if self._path is None:
            return
        if self._path.exists() and self._path.stat().st_size:
            self._load(fingerprint)
        else:
            self._append({"format": _FORMAT, "search": fingerprint})

    def get(self, key: str) -> Result | None:
        """Return a finished evaluation."""
        return self._results.get(key)

    def put(self, key: str, result: Result) -> None:
        """Keep a finished evaluation, on the disk before anything else goes on."""
        self._results[key] = result
        if self._path is not None:
            self._append({"job": key, **_plain(result)})

    def __len__(self) -> int:
        return len(self._results)

    def _append(self, line: dict[str, Any]) -> None:
        if self._path is None:
            return
        text = json.dumps(line, ensure_ascii=False) + "\n"
        try:
            self._path.parent.mkdir(parents=True, exist_ok=True)
            handle = os.open(self._path, os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600)
            try:
                os.write(handle, text.encode())
                os.fsync(handle)
            finally:
                os.close(handle)
        except OSError as error:
            raise WriteError(f"could not write {self._path}: {error.strerror}") from error

    def _load(self, fingerprint: str) -> None:
        path = self._path or Path()
        try:
            whole = path.read_bytes()
        except OSError as error:
            raise ReadError(f"could not read {path}: {error.strerror}") from error
        end = whole.rfind(b"\n") + 1
        lines = [_parsed(line, path) for line in whole[:end].splitlines()]
        head = lines[0] if lines else {}
        if head.get("format") != _FORMAT or head.get("search") != fingerprint:
            raise ReadError(
                "the file holds another search (other data, measures, seed or version)",
                got=str(path),
                do="name another file, or remove this one",
            )
        if end < len(whole):
            os.truncate(path, end)  # a crash cut the last line off
        for line in lines[1:]:
            key = line.pop("job")
            self._results[key] = _result(line)
        self.n_resumed = len(self._results)


def _parsed(line: bytes, path: Path) -> dict[str, Any]:
    try:
        parsed = json.loads(line)
    except ValueError as error:
        raise ReadError(f"{path} is not the file of a search, or is damaged") from error
    if not isinstance(parsed, dict):
        raise ReadError(f"{path} is not the file of a search, or is damaged")
    return parsed


def _plain(result: Result) -> dict[str, Any]:
    return {**asdict(result), "conditions": list(result.conditions)}


def _result(line: dict[str, Any]) -> Result:
    return Result(**{**line, "conditions": tuple(line["conditions"])})
