"""Charts as SVG that can stand inside a page: small, labelled, without outside references."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any
from xml.etree import ElementTree

if TYPE_CHECKING:
    from markupsafe import Markup

_DROPPED = {"class", "pointer-events", "version", "role", "aria-roledescription", "aria-hidden"}
_LONG = re.compile(r"(\d+\.\d{2})\d+")


def as_svg(chart: Any, *, title: str, description: str) -> Markup:
    """Render a chart as inline SVG with a title and a description for those who cannot see it."""
    import vl_convert
    from markupsafe import Markup

    text = vl_convert.vegalite_to_svg(chart.to_dict(validate=False), allowed_base_urls=[])
    root = _without_clutter(ElementTree.fromstring(text))  # noqa: S314 - vl-convert's
    _name(root, title, description)
    return Markup(ElementTree.tostring(root, encoding="unicode"))  # noqa: S704


def _without_clutter(element: ElementTree.Element) -> ElementTree.Element:
    """Drop namespaces, empty shapes and attributes that a printed chart does not need."""
    element.tag = element.tag.rpartition("}")[2]
    for name in [n for n in element.attrib if n in _DROPPED or n.startswith("{")]:
        del element.attrib[name]
    if element.get("opacity") == "1":
        del element.attrib["opacity"]
    for name in ("d", "transform", "x2", "y2"):
        if name in element.attrib:
            element.set(name, _LONG.sub(r"\1", element.attrib[name]))
    for child in list(element):
        _without_clutter(child)
        if _is_empty(child):
            element.remove(child)
    return element


def _is_empty(element: ElementTree.Element) -> bool:
    if element.tag == "g":
        return len(element) == 0
    invisible = not {"fill", "stroke"} & element.attrib.keys()
    return element.tag == "path" and (invisible or not element.get("d"))


def _name(root: ElementTree.Element, title: str, description: str) -> None:
    width, height = root.attrib.pop("width"), root.attrib.pop("height")
    root.set("viewBox", root.get("viewBox") or f"0 0 {width} {height}")
    root.set("style", f"max-width:{width}px")
    root.set("role", "img")
    root.set("aria-label", f"{title}. {description}")
    named = ElementTree.Element("title")
    named.text = title
    root.insert(0, named)
