"""The models by name, and which of them suit a variable."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Literal

from tacit.core.errors import ParameterError
from tacit.mask.synthesis.columns import Column
from tacit.mask.synthesis.synthesisers import cart, forest, normal, poisson, polytomous, sample
from tacit.mask.synthesis.synthesisers.model import Fit
from tacit.mask.synthesis.synthesisers.survival import fit_survival

Model = Literal[
    "cart", "bagging", "forest", "normal", "normal-rank", "poisson", "logistic", "polytomous",
    "parametric", "sample", "density", "survival",
]  # fmt: skip
"""Models of one variable; parametric is normal-rank for numbers and polytomous for classes."""

_FOR_CLASSES: dict[str, Fit] = {
    "cart": cart.fit,
    "bagging": forest.fit_bagging,
    "forest": forest.fit_forest,
    "logistic": polytomous.fit_logistic,
    "polytomous": polytomous.fit_polytomous,
    "parametric": polytomous.fit_polytomous,
    "sample": sample.fit_sample,
}
_FOR_NUMBERS: dict[str, tuple[Fit, Fit]] = {
    "cart": (cart.fit, cart.fit),
    "bagging": (forest.fit_bagging, forest.fit_bagging),
    "forest": (forest.fit_forest, forest.fit_forest),
    "normal": (normal.fit_normal, polytomous.fit_polytomous),
    "normal-rank": (normal.fit_normal_rank, polytomous.fit_polytomous),
    "parametric": (normal.fit_normal_rank, polytomous.fit_polytomous),
    "poisson": (poisson.fit_poisson, polytomous.fit_polytomous),
    "sample": (sample.fit_sample, sample.fit_sample),
    "density": (sample.fit_density, sample.fit_sample),
}
"""For each key the model of the number, and that of its states (missing, zero)."""


def models_of(column: Column, key: str, events: Mapping[str, str]) -> tuple[Fit, Fit]:
    """Return the model of a column's values and that of its states."""
    if key == "survival" and not column.is_class:
        if column.name not in events:
            raise ParameterError(
                f"the duration {column.name!r} needs the column that says how it ended",
                do=f"give events={{{column.name!r}: ...}}",
            )
        return fit_survival(events[column.name]), cart.fit
    if column.is_class and key in _FOR_CLASSES:
        return _FOR_CLASSES[key], _FOR_CLASSES[key]
    if not column.is_class and key in _FOR_NUMBERS:
        return _FOR_NUMBERS[key]
    kind = "classes" if column.is_class else "numbers"
    suited = sorted(_FOR_CLASSES if column.is_class else [*_FOR_NUMBERS, "survival"])
    raise ParameterError(
        f"{column.name!r} has {kind}, for which the model {key!r} is not made",
        do=f"choose one of {', '.join(suited)}",
    )


def has_spikes(key: str) -> bool:
    """Whether frequent numbers are states of their own: counts and normal values have none."""
    return key not in ("poisson", "normal")
