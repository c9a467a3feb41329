"""Formulas as MathML, which browsers draw themselves: the pages load nothing from outside."""

import re

from docutils import nodes
from docutils.utils.math import MathError
from docutils.utils.math.latex2mathml import tex2mathml
from sphinx.util import logging

_log = logging.getLogger(__name__)
_SIZES = re.compile(r"\\[bB]igg?(?![a-zA-Z])")
"""Sizes of delimiters, which docutils does not know and browsers choose themselves."""

_ACCENTED = re.compile(r"\\(?:bar|hat|tilde|dot|vec)\s*(?:\{[^{}]*\}|[a-zA-Z])(?=\s*[_^])")
"""A letter with an accent and an index, which docutils would set under the letter."""


def _prepared(tex):
    plain = _SIZES.sub("", tex).replace(r"\dots", r"\ldots")
    return _ACCENTED.sub(lambda found: f"{found[0]}{{}}", plain)


def _formula(writer, node, *, block):
    try:
        mathml = tex2mathml(_prepared(node.astext()), as_block=block)
    except MathError as error:
        _log.warning("formula %r: %s", node.astext(), error, location=node)
        mathml = f"<code>{writer.encode(node.astext())}</code>"
    tag = "div" if block else "span"
    writer.body.append(f"{writer.starttag(node, tag, '', CLASS='math')}{mathml}</{tag}>")
    raise nodes.SkipNode


def _inline(writer, node):
    _formula(writer, node, block=False)


def _block(writer, node):
    _formula(writer, node, block=True)


def setup(app):
    app.add_html_math_renderer("mathml", (_inline, None), (_block, None))
    return {"parallel_read_safe": True, "parallel_write_safe": True}
