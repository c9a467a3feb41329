"""The target of a release: what must be safe, and what must stay useful, in a few words."""

from __future__ import annotations

import re
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
from annotated_types import Ge, Gt, Le

from tacit.core.data import Microdata
from tacit.core.errors import DataError, ParameterError, SchemaError, TacitError
from tacit.core.measurement import Measurement
from tacit.core.method import Columns, find
from tacit.core.pairing import pair
from tacit.core.value import Value
from tacit.tradeoff.objective import Condition, registered

_LINKAGES = ("identification-risk", "probabilistic-linkage", "distance-linkage")
"""Ways to link people with records."""
_EXAMPLE = "k >= 5; at most 5 % linkable; keep the regression of income on age"


class Analysis(Value):
    """A regression whose coefficients must survive."""

    response: str
    """The numeric variable that is explained."""
    predictors: Columns
    """The variables that explain it."""

    def __str__(self) -> str:
        return f"the regression of {self.response} on {', '.join(self.predictors)}"

    @property
    def title(self) -> str:
        """Name of the measurement."""
        return f"Overlap for {self}"

    def measure(self, original: Any, release: Any = None) -> Any:
        """Return how far the confidence intervals of the coefficients overlap."""
        overlap = registered(
            "regression-overlap", "utility", response=self.response, predictors=self.predictors
        )
        return overlap.measure(original, release)


class KeptAnalysis(Value):
    """Overlap of an analysis, 0 where it cannot be run on the release any more."""

    analysis: Analysis

    @property
    def title(self) -> str:
        """Name of the measurement."""
        return self.analysis.title

    def __call__(self, original: Any, release: Any) -> float:
        """Return the overlap."""
        try:
            return float(self.analysis.measure(original, release).value)
        except (DataError, SchemaError):
            return 0.0


class Linkable(Value):
    r"""Share of people that an intruder who knows the keys links with their own record.

    The largest that any of the linkage measures finds: what one intruder cannot do another can.

    Notes
    -----
    Where keys were replaced by labels (classes, boxes that differ from place to place), or where a
    linkage cannot be computed, the intruder is also taken to find the right class of equal records
    and to pick one of its :math:`f_i` members: the share is then at least
    :math:`\frac{1}{n} \sum_i 1 / f_i`.
    """

    title: ClassVar[str] = "People linkable by their keys"

    attacks: tuple[str, ...] = _LINKAGES
    """Keys of the linkage measures; the strongest counts."""

    def measure(self, original: Any, release: Any = None) -> Measurement:
        """Return the share."""
        keys = Microdata.of(original).schema.keys
        found: dict[str, float] = {}
        for key in self.attacks:
            name = "keys" if "keys" in find(key, "risk").model_fields else "attributes"
            measure = registered(key, "risk", **{name: keys})
            try:
                found[key] = float(measure.measure(original, release).value)
            except TacitError:
                found["classes"] = _found_by_class(original, release)
        if _has_new_labels(original, release, keys):
            found["classes"] = _found_by_class(original, release)
        return Measurement(
            key="linkable",
            title=self.title,
            value=max(found.values()),
            better="lower",
            bounds=(0.0, 1.0),
            unit="percent",
            details=found,
            explanation=f"The strongest intruder links {100 * max(found.values()):.3g} % of them.",
        )


def _has_new_labels(original: Any, release: Any, keys: list[str]) -> bool:
    """Whether a key of the release holds texts that the original does not have."""
    both = pair(original, release)
    for name in (k for k in keys if k in both.released.schema):
        after = both.released.local[name].drop_nulls()
        if not (after.dtype.is_numeric() or after.dtype.is_temporal()):
            known = set(both.original.local[name].drop_nulls().cast(after.dtype).unique())
            if not set(after.unique()) <= known:
                return True
    return False


def _found_by_class(original: Any, release: Any) -> float:
    """Return the share linked by an intruder who finds the right class and picks a member."""
    sizes = registered("k-anonymity", "risk").measure(original, release).per_unit
    return float(np.mean(1.0 / np.asarray(sizes, dtype=np.float64)))


class Target(Value):
    """What a release must meet: few lines that a data owner can sign.

    Examples
    --------
    >>> target = Target.of("k >= 5; at most 5 % linkable; keep the regression of income on age")
    >>> target.k, target.linkable, str(target.keep[0])
    (5, 0.05, 'the regression of income on age')
    >>> print(target)
    every record shares its keys with at least 4 others (k >= 5); at most 5 % of the people can be
    linked by their keys; the regression of income on age keeps its coefficients (intervals overlap
    by at least 50 %)
    """

    k: Annotated[int, Ge(2)] | None = 5
    """Smallest number of records that share their keys."""
    linkable: Annotated[float, Gt(0), Le(1)] | None = 0.05
    """Largest share of people that an intruder may link with their record."""
    keep: tuple[Analysis, ...] = ()
    """Regressions that must give nearly the same coefficients."""
    overlap: Annotated[float, Gt(0), Le(1)] = 0.5
    """Smallest overlap of the confidence intervals of a kept regression."""
    missing: Literal["strict", "wildcard"] = "strict"
    """Whether blanks count as a value of their own (strict, the safer reading) or as any value."""

    @classmethod
    def of(cls, text: str) -> Target:
        """Read a target from a few words, parts between semicolons; parts not named are not asked.

        Understood are ``k >= 5``, ``at most 5 % linkable``, ``keep the regression of y on x, z``
        and ``keep y ~ x + z``.
        """
        found: dict[str, Any] = {"k": None, "linkable": None, "keep": ()}
        parts = [part.strip() for part in re.split(r"[;\n]", text) if part.strip()]
        for part in parts:
            for name, value in _read(part).items():
                found[name] = (*found["keep"], value) if name == "keep" else value
        if not parts:
            raise ParameterError("the target is empty", do=f"write, for example: {_EXAMPLE}")
        return cls(**found)

    def conditions(self, data: Microdata) -> tuple[Condition, ...]:
        """Return what is measured on each release."""
        keys = data.schema.keys
        if (self.k is not None or self.linkable is not None) and not keys:
            raise SchemaError(
                "the target speaks of keys, and no column is one",
                do="say which columns an intruder may know: with_roles(keys=[...])",
            )
        for analysis in self.keep:
            data.schema.require([analysis.response, *analysis.predictors])
        return tuple(self._conditions())

    def _conditions(self) -> list[Condition]:
        found = []
        if self.k is not None:
            measure = registered("k-anonymity", "risk", k=self.k, missing=self.missing)
            words = f"every record shares its keys with at least {self.k - 1} others"
            title = f"{words} (k >= {self.k})"
            found.append(Condition(measure, at_least=self.k, title=title))
        if self.linkable is not None:
            title = f"at most {100 * self.linkable:g} % of the people can be linked by their keys"
            found.append(Condition(Linkable(), at_most=self.linkable, title=title))
        for analysis in self.keep:
            title = (
                f"{analysis} keeps its coefficients (intervals overlap by at least "
                f"{100 * self.overlap:g} %)"
            )
            found.append(
                Condition(KeptAnalysis(analysis=analysis), at_least=self.overlap, title=title)
            )
        return found

    def __str__(self) -> str:
        return "; ".join(c.words for c in self._conditions()) or "nothing in particular"


def _read(part: str) -> dict[str, Any]:
    """Read one part of a target."""
    number = r"(\d+(?:[.,]\d+)?)"
    said = re.fullmatch(
        r"k\s*(?:>=|=|≥|of at least|at least)?\s*(\d+)(?: on the keys)?", part, re.I
    )
    if said:
        return {"k": int(said[1])}
    said = re.fullmatch(
        rf"(?:at most|<=|≤)\s*{number}\s*(%|percent)?\s*linkable", part, re.I
    ) or re.fullmatch(rf"linkable\s*(?:at most|<=|≤|=)\s*{number}\s*(%|percent)?", part, re.I)
    if said:
        share = float(said[1].replace(",", "."))
        return {"linkable": share / 100 if said[2] else share}
    said = re.fullmatch(r"(?:keep\s+)?(?:the\s+)?regression of (.+?) on (.+)", part, re.I)
    said = said or re.fullmatch(r"(?:keep\s+)?(.+?)\s*~\s*(.+)", part, re.I)
    if said:
        names = [n.strip() for n in re.split(r",|\+|\band\b", said[2]) if n.strip()]
        return {"keep": Analysis(response=said[1].strip(), predictors=tuple(names))}
    raise ParameterError(
        "this part of the target is not understood",
        got=repr(part),
        do=f"write, for example: {_EXAMPLE}",
    )
