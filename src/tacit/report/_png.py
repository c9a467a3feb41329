"""Charts as pictures."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

from tacit.core.atomic import new_file
from tacit.core.errors import ParameterError

_INK, _PAPER = "#1c2630", "#ffffff"


def save_png(chart: Any, path: str | Path, *, scale: float = 2.0) -> Path:
    """Write a chart to a PNG file, whole or not at all, without asking anything from outside.

    Parameters
    ----------
    chart
        A chart of this package, or any Altair chart.
    path
        The file; an existing one is replaced.
    scale
        Pixels per point: 2 for screens of high resolution and for print.
    """
    import vl_convert

    if not 0 < scale <= 20:
        raise ParameterError("scale must be above 0 and at most 20", got=scale)
    if not hasattr(chart, "to_dict"):
        raise ParameterError("save_png needs an Altair chart", got=type(chart).__name__)
    # A picture has no page around it whose colours it could take over.
    text = json.dumps(chart.to_dict(validate=False)).replace('"currentColor"', f'"{_INK}"')
    spec = json.loads(text)
    spec.setdefault("config", {})["background"] = _PAPER
    picture = vl_convert.vegalite_to_png(spec, scale=scale, allowed_base_urls=[])
    with new_file(Path(path)) as scratch:
        scratch.write_bytes(picture)
    return Path(path)
