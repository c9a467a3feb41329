"""What a method is, read from its documentation and shown to people who do not program."""

from __future__ import annotations

import inspect
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from tacit.core.method import Method
from tacit.report._references import reference, short_reference

if TYPE_CHECKING:
    from markupsafe import Markup

_TITLE = re.compile(r"^(\w[\w ]*)\n-{3,}\n", re.M)
_INLINE = re.compile(
    r":math:`(?P<math>[^`]+)`"
    r"|:footcite:\w:`(?P<cite>[^`]+)`"
    r"|\[(?P<note>\w+)\]_"
    r"|``(?P<code>[^`]+)``"
    r"|:\w+:`~?(?P<role>[^`]+)`"
    r"|`(?P<name>[^`]+)`"
    r"|\*\*?(?P<strong>[^*\s][^*]*)\*\*?"
)

# LaTeX reads \frac15 as one fifth, docutils as fifteen over what follows.
_FRACTION = re.compile(r"\\([td]?frac)\s*(\d)\s*(\d)")


@dataclass(frozen=True)
class Definition:
    """One line, the formal definition, and where it comes from."""

    summary: str
    body: tuple[Markup, ...]
    sources: tuple[str, ...]


def definition(method: type[Method]) -> Definition:
    """Read summary, notes and sources of a method from its documentation."""
    notes = _sections(method).get("Notes", "")
    blocks = [b for b in re.split(r"\n\s*\n", notes) if b.strip()]
    body = tuple(_block(block) for block in _joined(blocks))
    summary = method.summary().replace("``", "")
    return Definition(summary, body, tuple(reference(key) for key in method.cites))


def _sections(method: type[Method]) -> dict[str, str]:
    pieces = _TITLE.split(inspect.cleandoc(method.__doc__ or ""))
    return dict(zip(pieces[1::2], pieces[2::2], strict=True))


def _joined(blocks: list[str]) -> list[str]:
    """Put a directive and its indented content, separated by a blank line, together again."""
    joined: list[str] = []
    for block in blocks:
        if joined and joined[-1].startswith(".. ") and block.startswith("   "):
            joined[-1] += "\n" + block
        else:
            joined.append(block)
    return joined


def _block(block: str) -> Markup:
    """Turn one paragraph, list or formula into HTML."""
    from markupsafe import Markup

    if block.startswith(".. math::"):
        return formula(block.removeprefix(".. math::"), block=True)
    if re.match(r"[-*] ", block):
        items = re.split(r"^[-*] ", block, flags=re.M)[1:]
        lines = Markup("").join(Markup("<li>{}</li>").format(_inline(i)) for i in items)
        return Markup("<ul>{}</ul>").format(lines)
    return Markup("<p>{}</p>").format(_inline(block))


def _inline(text: str) -> Markup:
    from markupsafe import Markup, escape

    text = re.sub(r"\s+", " ", text).strip()
    parts, end = [], 0
    for found in _INLINE.finditer(text):
        parts += [escape(text[end : found.start()]), _marked(found)]
        end = found.end()
    return Markup("").join([*parts, escape(text[end:])])


def _marked(found: re.Match[str]) -> Markup:
    from markupsafe import Markup, escape

    kind, text = str(found.lastgroup), str(found[str(found.lastgroup)])
    match kind:
        case "math":
            return formula(text)
        case "cite" | "note":
            cited = "; ".join(short_reference(key.strip()) for key in text.split(","))
            return escape(f"({cited})")
        case "strong":
            return Markup("<em>{}</em>").format(text)
        case _:
            return Markup("<code>{}</code>").format(text)


def formula(latex: str, *, block: bool = False) -> Markup:
    """Return a LaTeX formula as MathML, which browsers draw themselves, or as it is written."""
    from markupsafe import Markup

    latex = re.sub(r"\s+", " ", latex).strip()
    braced = _FRACTION.sub(r"\\\1{\2}{\3}", latex)
    try:
        from docutils.utils.math.latex2mathml import (  # type: ignore[import-untyped]
            tex2mathml,
        )

        mathml = tex2mathml(braced, as_block=block)
    except (ImportError, ValueError):  # docutils calls a bad formula a ValueError
        return Markup('<code class="formula">{}</code>').format(latex)
    compact = re.sub(r'\sxmlns="[^"]*"|(?<=>)\s+(?=<)', "", mathml)
    return Markup(compact)  # noqa: S704 - made from a method's own documentation
