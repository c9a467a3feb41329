"""The report of a release: one HTML file that asks nothing from outside."""

from __future__ import annotations

import platform
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any, ClassVar
from urllib.parse import urlsplit

import numpy as np

from tacit.core.families import Document
from tacit.core.progress import track

if TYPE_CHECKING:
    from jinja2 import Template

    from tacit.core.measurement import Measurement
    from tacit.core.release import Release
    from tacit.core.scorecard import Scorecard
    from tacit.report._variables import Figure, VariableCard

_PACKAGES = ("tacit", "numpy", "polars", "narwhals", "numba", "scipy")


class HtmlReport(Document, key="html-report", title="Report (HTML)"):
    """Tell a decision maker how safe and how useful a release is, with the evidence.

    The page stands alone: no script, no font, no image and no style from outside. It holds counts
    and rounded bins, never a direct identifier nor the value of a single original record, and not
    the seed.

    Missing values: counted per variable, and shown as a bar of their own where values are
    categories. Weights: the charts count records; weights are not used. Households: not considered.

    Examples
    --------
    >>> import tacit
    >>> from tacit import mask, report
    >>> plan = tacit.Plan([mask.Mdav(columns=["Age"], k=2)])
    >>> release = plan.apply(tacit.datasets.patients(), seed=7)
    >>> page = report.HtmlReport().render(release, release.measure([]))
    >>> page[:15]
    '<!doctype html>'
    """

    filename: ClassVar[str] = "report.html"

    def render(self, release: Release, scorecard: Scorecard) -> str:
        """Return the page."""
        page = _template().render(_content(release, scorecard))
        return f"{page.rstrip()}\n"


@cache
def _template() -> Template:
    """Compile the page's template, once: it takes longer than to fill it."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    from tacit.report._bins import number
    from tacit.report._charts import percent

    environment = Environment(
        loader=PackageLoader("tacit.report"),
        autoescape=True,
        trim_blocks=True,
        lstrip_blocks=True,
        undefined=StrictUndefined,
    )
    environment.filters |= {"number": number, "percent": percent}
    return environment.get_template("report.html.j2")


def _content(release: Release, scorecard: Scorecard) -> dict[str, Any]:
    from tacit.report import _cards, _warnings
    from tacit.report._hurt import hurt_analyses
    from tacit.report._loss import loss_table
    from tacit.report._plots import relation_plots, risk_plots
    from tacit.report._steps import step_cards
    from tacit.report._variables import variable_cards
    from tacit.report._worst import worst

    suspects = _warnings.suspected_identifiers(release)
    with track("writing the report"):
        variables = variable_cards(release, suspects)
    return {
        "overview": _overview(release),
        "verdict": _cards.verdict(scorecard),
        "risks": _cards.cards(scorecard.risks, scorecard),
        "utilities": _cards.cards(scorecard.utilities, scorecard),
        "left_out": _cards.left_out(scorecard),
        "cautions": _warnings.cautions(release, scorecard, suspects),
        "steps": step_cards(release),
        "variables": variables,
        "groups": _groups(variables),
        "records": _record_figures(scorecard),
        "risk_plots": risk_plots(release, scorecard),
        "worst": worst(release, scorecard, suspects),
        "hurt": hurt_analyses(scorecard),
        "loss": loss_table(scorecard),
        "relations": relation_plots(release, scorecard),
        "plan": release.plan.to_toml(),
        "versions": _versions(),
    }


@dataclass(frozen=True)
class Overview:
    """The head of the report."""

    source: str
    date: str
    records: tuple[int, int]
    variables: tuple[int, int]
    removed: list[str]
    keys: list[str]
    weight: str | None


def _overview(release: Release) -> Overview:
    original, data = release.original, release.data
    today = datetime.now(UTC)
    return Overview(
        source=source_name(original.source),
        date=f"{today.day} {today:%B %Y}",
        records=(original.n_records, data.n_records),
        variables=(len(original.columns), len(data.columns)),
        removed=[c for c in original.columns if c not in data.schema],
        keys=original.schema.keys,
        weight=data.schema.weight,
    )


def source_name(source: str | None) -> str:
    """Return the name of a file or table without folders, users and passwords.

    Examples
    --------
    >>> source_name("/secret/place/patients.csv")
    'patients.csv'
    >>> source_name("postgresql://anna:pw@db.example/health#patients")
    'patients'
    """
    if not source:
        return ""
    if "://" in source:
        parts = urlsplit(source)
        return parts.fragment or parts.path.rsplit("/", 1)[-1]
    return source.replace("\\", "/").rsplit("/", 1)[-1]


def _groups(variables: list[VariableCard]) -> list[tuple[str, list[VariableCard], bool]]:
    """Split many variables into those that changed and, folded away, those that did not."""
    from tacit.report._variables import FEW

    if len(variables) <= FEW:
        return [("", variables, True)]
    changed = [v for v in variables if v.has_changed]
    same = [v for v in variables if not v.has_changed]
    named = [("Changed variables", changed, True), ("Unchanged variables", same, not changed)]
    return [group for group in named if group[1]]


def _record_figures(scorecard: Scorecard) -> list[tuple[str, str, Figure]]:
    """Return heading, explanation and chart of the risks that have a value per record."""
    from tacit.report import _charts
    from tacit.report._cards import measurement_of

    wanted = {
        "kanonymity": ("How many records share their keys", _charts.tally_class_sizes),
        "identificationrisk": ("Probability of being identified", _charts.tally_risks),
    }
    figures = []
    for name, (heading, count) in wanted.items():
        after = measurement_of(scorecard, name)
        if after is not None and after.per_unit is not None and len(after.per_unit):
            before = scorecard.before.get(after.key)
            tally = count(_per_unit(before), np.asarray(after.per_unit, dtype=float))
            figures.append((name, heading, _record_figure(tally, heading)))
    return figures


def _per_unit(measurement: Measurement | None) -> np.ndarray | None:
    if measurement is None or measurement.per_unit is None:
        return None
    return np.asarray(measurement.per_unit, dtype=float)


def _record_figure(tally: Any, heading: str) -> Figure:
    from tacit.report._pictures import tally_picture
    from tacit.report._variables import Figure, in_words

    svg = tally_picture(tally, title=heading, description=in_words(tally), numbers="count")
    return Figure(svg, tally)


def _versions() -> dict[str, str]:
    found = {"python": platform.python_version()}
    for package in _PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            continue
    return found
