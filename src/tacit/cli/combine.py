"""``tacit combine``: one analysis over the data sets of a synthetic release, combined."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from tacit.cli.console import Answer

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tacit.core.data import Microdata
    from tacit.inference import Combined


def combine(
    release: Annotated[
        list[str],
        Argument(
            metavar="RELEASE...",
            help="The folder that `tacit apply` wrote, or the files of its data sets.",
            show_default=False,
        ),
    ],
    mean: Annotated[
        list[str] | None, Option(metavar="COLUMN", help="Estimate a mean. May be repeated.")
    ] = None,
    total: Annotated[
        list[str] | None, Option(metavar="COLUMN", help="Estimate a total. May be repeated.")
    ] = None,
    regression: Annotated[
        str | None,
        Option(metavar="MODEL", help='Estimate coefficients: "income ~ age + sex".'),
    ] = None,
    family: Annotated[
        str, Option(metavar="NAME", help="Of the regression: gaussian, binomial or poisson.")
    ] = "gaussian",
    weight: Annotated[
        str | None,
        Option(metavar="COLUMN", help="Weight of the records; else as the dossier says."),
    ] = None,
    rule: Annotated[
        str | None,
        Option(
            metavar="NAME",
            help="How to combine: fully, partially, simple or proper; else as the plan says. The "
            "note beside the data names it.",
        ),
    ] = None,
    records: Annotated[
        int | None,
        Option(
            metavar="N",
            help="Records that the models were fitted to; else as the dossier says, or as many as "
            "a data set has.",
        ),
    ] = None,
    population: Annotated[
        float | None,
        Option(
            metavar="N",
            help="Units that a total without weights stands for; else as many as the models were "
            "fitted to.",
        ),
    ] = None,
    level: Annotated[float, Option(metavar="SHARE", help="Level of the intervals.")] = 0.95,
) -> Answer:
    """Analyse each data set of a synthetic release and combine the results.

    One data set alone hides how uncertain its results are. The intervals here have the
    uncertainty of the sample and that of the synthesis.
    """
    folder = _folder(release)
    data_sets = _opened(release, folder, weight)
    chosen = _chosen_rule(folder, rule)
    known = records or _recorded(folder)
    found = [
        part
        for analysis in _analyses(mean, total, population, regression, family)
        for part in _rows(_combined(data_sets, analysis, chosen, known, level))
    ]
    document = {"data_sets": len(data_sets), "rule": chosen, "level": level, "estimates": found}
    return Answer(document, _drawn(document))


def _folder(release: list[str]) -> Path | None:
    from tacit.cli.release_folder import is_release

    return Path(release[0]) if len(release) == 1 and is_release(Path(release[0])) else None


def _opened(release: list[str], folder: Path | None, weight: str | None) -> list[Microdata]:
    """Read the data sets and say which column is the weight."""
    from tacit.cli.release_folder import open_data_sets
    from tacit.core.bundle import DOSSIER
    from tacit.core.schema import Role, Schema
    from tacit.io.read import read

    if folder is None:
        found = [read(source) for source in release]
    else:
        found = open_data_sets(folder)
        path = folder / DOSSIER / "schema.toml"
        if weight is None and path.is_file():
            known = Schema.from_toml(path.read_text(encoding="utf-8")).names(Role.WEIGHT)
            weight = next((name for name in known if name in found[0].schema), None)
    return found if weight is None else [data.with_roles(weight=weight) for data in found]


def _chosen_rule(folder: Path | None, rule: str | None) -> Any:
    from tacit.core.bundle import DOSSIER
    from tacit.core.errors import ParameterError
    from tacit.core.plan import Plan
    from tacit.inference.analysing import rule_of

    if rule is not None:
        return rule
    if folder is None or not (folder / DOSSIER / "plan.toml").is_file():
        raise ParameterError(
            "how the data sets were made is not known",
            do="give --rule: fully, partially, simple or proper; the note beside the data names it",
        )
    return rule_of(Plan.load(folder / DOSSIER / "plan.toml"))


def _recorded(folder: Path | None) -> float | None:
    """Return the number of records that the synthesis saw, if the dossier is there."""
    from tacit.core.bundle import DOSSIER, read_manifest
    from tacit.core.plan import Plan

    if folder is None or not (folder / DOSSIER).is_dir():
        return None
    manifest = read_manifest(folder / DOSSIER)
    methods = Plan.load(folder / DOSSIER / "plan.toml").methods
    if any(hasattr(method, "sample_of") for method in methods):
        return None  # of Rubin's populations only the asked count, and this rule needs no number
    before = [manifest["input"]["records"]]
    before += [step["records"] for step in manifest["steps"][-len(methods) :]]
    at = next((i for i, method in enumerate(methods) if hasattr(method, "combining")), 0)
    return float(before[at])


def _analyses(
    means: list[str] | None,
    totals: list[str] | None,
    population: float | None,
    regression: str | None,
    family: str,
) -> Iterator[Any]:
    from tacit.core.errors import ParameterError
    from tacit.inference import Mean, Regression, Total

    if not (means or totals or regression):
        raise ParameterError(
            "there is nothing to estimate", do="give --mean, --total, --regression"
        )
    if family not in ("gaussian", "binomial", "poisson"):
        raise ParameterError(
            "there is no such family", got=repr(family), do="use gaussian, binomial or poisson"
        )
    if population is not None and not 0 < population < float("inf"):
        raise ParameterError("a population is a number above 0", got=f"{population:g}")
    if means:
        yield "mean of ", Mean(means)
    if totals:
        yield "total of ", Total(totals, population)
    if regression:
        response, tilde, rest = regression.partition("~")
        predictors = [part.strip() for part in rest.split("+")]
        if not tilde or not response.strip() or not all(predictors):
            raise ParameterError('a model is written "y ~ a + b"', got=repr(regression))
        yield "", Regression(response.strip(), predictors, family)  # type: ignore[arg-type]


def _combined(
    data_sets: list[Microdata], asked: tuple[str, Any], rule: Any, known: float | None, level: float
) -> tuple[str, Combined]:
    from tacit.inference import analyse_sets

    of, analysis = asked
    used = getattr(analysis, "columns", None) or (analysis.response, *analysis.predictors)
    for data in data_sets:
        data.schema.require(used)
    return of, analyse_sets(data_sets, analysis, rule=rule, learnt_from=known, level=level)


def _rows(found: tuple[str, Combined]) -> Iterator[dict[str, Any]]:
    of, both = found
    for row in both.frame.drop("degrees").iter_rows(named=True):
        yield {**row, "name": of + row["name"]}


def _drawn(document: dict[str, Any]) -> Iterator[RenderableType]:
    from rich.table import Table

    sets, share = document["data_sets"], f"{document['level']:.0%}"
    yield f"{sets} data sets combined by the rule '{document['rule']}'"
    table = Table("quantity", "estimate", "error", f"{share} from", "to", box=None)
    for row in document["estimates"]:
        numbers = (f"{row[name]:.6g}" for name in ("estimate", "error", "low", "high"))
        table.add_row(row["name"], *numbers)
    yield table
