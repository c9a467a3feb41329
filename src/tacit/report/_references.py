"""The sources that methods cite, as a reader wants to see them."""

from __future__ import annotations

import re
from functools import cache
from importlib.resources import files
from pathlib import Path

_ENTRY = re.compile(r"^@\w+\{(?P<key>[^,\s]+),(?P<body>.*?)^\}", re.M | re.S)
_FIELD = re.compile(r"(\w+)\s*=\s*\{((?:[^{}]|\{[^{}]*\})*)\}")
_ACCENTS = {
    r"\c": "\u0327",
    r"\'": "\u0301",
    r"\`": "\u0300",
    r"\^": "\u0302",
    r"\"": "\u0308",
    r"\~": "\u0303",
    r"\v": "\u030c",
}


def reference(key: str) -> str:
    """Return a source in full, or its key where the bibliography is not at hand."""
    fields = _bibliography().get(key)
    if fields is None:
        return key
    where = next(
        (fields[f] for f in ("journal", "booktitle", "publisher", "note") if f in fields), ""
    )
    parts = [f"{_authors(fields)} ({fields.get('year', 'n.d.')})", fields.get("title", ""), where]
    if "doi" in fields:
        parts.append(f"doi:{fields['doi']}")
    return ". ".join(part for part in parts if part) + "."


def short_reference(key: str) -> str:
    """Return author and year of a source."""
    fields = _bibliography().get(key)
    if fields is None:
        return key
    return f"{_authors(fields)} {fields.get('year', '')}".strip()


def _authors(fields: dict[str, str]) -> str:
    names = [name.split(",")[0].strip() for name in fields.get("author", "").split(" and ")]
    if len(names) > 3:
        return f"{names[0]} and others"
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


@cache
def _bibliography() -> dict[str, dict[str, str]]:
    """Read the bibliography that ships with the package, or that of a source tree."""
    shipped = files("tacit") / "references.bib"
    in_source_tree = Path(__file__).parents[3] / "docs" / "references.bib"
    for source in (shipped, in_source_tree):
        if source.is_file():
            return _entries(source.read_text(encoding="utf-8"))
    return {}


def _entries(text: str) -> dict[str, dict[str, str]]:
    return {
        entry["key"]: {name.lower(): _plain(value) for name, value in _FIELD.findall(entry["body"])}
        for entry in _ENTRY.finditer(text)
    }


def _plain(value: str) -> str:
    """Turn BibTeX's accents and braces into plain text."""
    import unicodedata

    for command, accent in _ACCENTS.items():
        pattern = re.escape(command) + (r"\s+" if command[1].isalpha() else r"\s*")
        value = re.sub(pattern + r"\{?(\w)\}?", rf"\g<1>{accent}", value)
    value = re.sub(r"[{}$]", "", value.replace("--", "–"))
    return unicodedata.normalize("NFC", re.sub(r"\s+", " ", value)).strip()
