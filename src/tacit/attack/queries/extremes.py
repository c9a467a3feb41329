"""Probing for extremes: the largest and smallest value of a variable."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any, ClassVar

import numpy as np

from tacit.attack.family import Attack
from tacit.attack.finding import Outcome
from tacit.attack.knowledge import Knowledge
from tacit.attack.queries._asking import Asker
from tacit.attack.target import QueryTarget


class ExtremeProbing(
    Attack,
    key="extreme-probing",
    title="Probing for the largest and smallest value",
    cites=("lucero2011", "adam1989"),
):
    r"""Read the largest and the smallest value off answers, bins and cutpoints.

    Missing values: not counted. Weights: not used. Households: not considered.

    Notes
    -----
    The largest income is somebody's. The intruder asks for maxima, for quantiles near 0 and 1, for
    histograms and summaries, and looks at what the server tells about bins; a variable's extreme is
    known if one of the numbers comes within one tenth of a percent of it, and it is the value of
    one unit. Extremes that many share (0 hours) are not attacked. Without a server nothing is
    known of them.

    Examples
    --------
    >>> import tacit
    >>> from tacit import attack, query
    >>> data = tacit.datasets.census(1000)
    >>> attack.ExtremeProbing().run((data, query.Policy.named("strict"))).leaked
    False
    """

    kind: ClassVar[type] = QueryTarget
    remedy: ClassVar[str] = (
        "Bin numbers at registration, refuse maxima, and answer quantiles as means of several "
        "values (what the server does by design)."
    )

    def objection(self, target: QueryTarget, knowledge: Knowledge) -> str | None:
        """Say that there are no numbers with an extreme of one unit."""
        return None if list(_extremes(target)) else "no number has an extreme that one unit has"

    def attacked(self, target: QueryTarget, knowledge: Knowledge) -> Outcome:
        """Collect every number the server says about a variable."""
        server = target.open()
        asker = Asker(server, knowledge.queries)
        told = {v["name"]: v for v in server.describe()["variables"]}
        hits, names = [], []
        for name, word, value in _extremes(target):
            numbers = np.array([*_numbers(told.get(name, {})), *_asked(asker, name)])
            near = bool(np.any(np.abs(numbers - value) <= 1e-3 * max(abs(value), 1e-12)))
            hits.append(near)
            names += [f"{word} of {name}"] if near else []
        return Outcome(
            hits=np.array(hits, dtype=float), guesses=0.0, unit="extreme", exact=True,
            question="Read the largest and smallest values off answers and bins",
            worst=f"known: {', '.join(names)}" if names else "no extreme can be read off",
            details=asker.told(),
        )  # fmt: skip


def _extremes(target: QueryTarget) -> Iterator[tuple[str, str, float]]:
    """Yield the largest and smallest value of each number, where one unit has it."""
    for name, told in target.variables.items():
        if "bins" not in told:
            continue
        values = target.data.numeric([name])[:, 0]
        values = values[~np.isnan(values)]
        for word, end in (("largest", np.max), ("smallest", np.min)):
            value = float(end(values)) if len(values) else np.nan
            if np.sum(values == value) == 1:
                yield name, word, value


def _asked(asker: Asker, name: str) -> list[float]:
    """Ask for everything that may hold an extreme."""
    requests: list[dict[str, Any]] = [
        {"method": "max", "number": name},
        {"method": "min", "number": name},
        {"method": "histogram", "number": name},
        {"method": "summary", "numbers": [name]},
    ]
    for share in (0.0, 0.001, 0.01, 0.05, 0.5, 0.95, 0.99, 0.999, 1.0):
        requests.append({"method": "quantiles", "number": name, "probabilities": [share]})
    found: list[float] = []
    for request in requests:
        answer = asker.ask(request)
        if answer is not None:
            found += _numbers({**answer.columns, **answer.values})
    return found


def _numbers(content: Any) -> list[float]:
    """Return every number in an answer or a description, also those inside words."""
    import re

    if isinstance(content, bool) or content is None:
        return []
    if isinstance(content, int | float):
        return [float(content)]
    if isinstance(content, str):
        return [float(n) for n in re.findall(r"-?\d+(?:\.\d+)?", content)]
    if isinstance(content, dict):
        content = list(content.values())
    return [n for part in content for n in _numbers(part)] if isinstance(content, list) else []
