"""Charts as pages that ask nothing from outside."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from tacit.core.atomic import new_file
from tacit.core.errors import ParameterError


def save_html(chart: Any, path: str | Path) -> Path:
    """Write a chart to an HTML page, whole or not at all; its scripts are in the page.

    Parameters
    ----------
    chart
        A chart of this package, or any Altair chart.
    path
        The file; an existing one is replaced.
    """
    if not hasattr(chart, "to_html"):
        raise ParameterError("save_html needs an Altair chart", got=type(chart).__name__)
    page = chart.to_html(inline=True)
    with new_file(Path(path)) as scratch:
        scratch.write_text(page, encoding="utf-8")
    return Path(path)
