"""``tacit measure``: how safe and how useful a file is, without changing it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from tacit.cli.console import Answer
from tacit.cli.options import DataArgument, Engine, Reading, Roles

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tacit.core.data import Microdata
    from tacit.core.families import Measure
    from tacit.core.scorecard import Scorecard


def measure(
    original: DataArgument,
    reading: Reading,
    roles: Roles,
    engine: Engine,
    released: Annotated[
        str | None,
        Argument(
            metavar="[RELEASED]",
            help="The protected file, or the folder that `tacit apply` wrote; without it the "
            "risks of DATA as they are.",
            show_default=False,
        ),
    ] = None,
    measure: Annotated[
        list[str] | None,
        Option(
            metavar="MEASURE",
            help='A measure with its parameters, such as "k-anonymity"; may be repeated. '
            "By default all that fit the roles.",
        ),
    ] = None,
    released_option: Annotated[
        list[str] | None,
        Option(
            metavar="NAME=VALUE", help="How to read RELEASED (separator, encoding, table, ...)."
        ),
    ] = None,
) -> Answer:
    """Measure the risk of a file, or the risk and utility of a release beside its original."""
    from tacit.cli.opening import open_data, shown
    from tacit.cli.release_folder import is_release, open_data_sets, original_of_release
    from tacit.core.bundle import DOSSIER

    chosen = _chosen(measure or [], alone=released is None)
    if engine.engine != "memory":
        return _measured_beyond_memory(original, reading, roles, engine, released, chosen)
    folder = Path(released) if released is not None and is_release(Path(released)) else None
    after: list[Microdata] = []
    if folder is not None:
        after = open_data_sets(folder)
    elif released is not None:
        after = [open_data(released, Reading(read_option=released_option))]
    if folder is not None and (folder / DOSSIER).is_dir():
        before = original_of_release(folder, original, reading, roles)
    else:
        before = open_data(original, reading, roles)
    card = _scorecard(before, after, chosen).as_dict()
    document = {
        "original": shown(original),
        "released": None if released is None else shown(released),
        "scorecard": card,
    }
    return Answer(document, _drawn(card, released))


def _measured_beyond_memory(
    original: str,
    reading: Reading,
    roles: Roles,
    engine: Engine,
    released: str | None,
    chosen: list[Measure] | None,
) -> Answer:
    """Measure a Parquet file that stays in DuckDB, or two of them."""
    from tacit.cli.opening import open_beyond_memory, shown
    from tacit.core.engine import collecting_at_most
    from tacit.io.beyond_memory import values_within

    with collecting_at_most(values_within(engine.memory)):
        before = open_beyond_memory(original, reading, roles, engine)
        after = released and open_beyond_memory(released, Reading(), Roles(), engine)
        card = _scorecard(before, [after] if after else [], chosen).as_dict()
    document = {"original": shown(original), "released": released, "scorecard": card}
    return Answer(document, _drawn(card, released))


def _chosen(texts: list[str], *, alone: bool) -> list[Measure] | None:
    from tacit.cli.steps import parse_step
    from tacit.core.errors import ParameterError

    built = [parse_step(text, "risk", "utility") for text in texts]
    for method in built:
        if alone and method.family == "utility":
            raise ParameterError(
                f"{method.key} compares a release with its original", do="give RELEASED after DATA"
            )
    return built or None  # type: ignore[return-value]


def _scorecard(
    original: Microdata, released: list[Microdata], chosen: list[Measure] | None
) -> Scorecard:
    """Take the measures asked for, or all that fit; one that was asked for must succeed.

    Of several data sets the worst one counts, as it does when the release is made.
    """
    from tacit.core.errors import DataError, TacitError
    from tacit.core.progress import track
    from tacit.core.release import worst
    from tacit.core.scorecard import Scorecard

    measures = _fitting(released) if chosen is None else chosen
    taken: dict[str, list[Any]] = {"risk": [], "utility": []}
    before, left_out = {}, {}
    with track("measuring", len(measures)) as advance:
        for measure in measures:
            try:
                _object(measure, original)
                after: list[Microdata | None] = list(released) or [None]
                sets = [measure.measure(original, one) for one in after]
                taken[measure.family].append(worst(sets))
                if released and measure.family == "risk":
                    before[measure.key] = measure.measure(original)
            except TacitError as error:
                if chosen is not None:
                    raise
                left_out[measure.key] = str(error)
            advance(1)
    if not any(taken.values()):
        reasons = "; ".join(f"{key}: {why}" for key, why in left_out.items())
        raise DataError("nothing can be measured", got=reasons, do="declare roles, see --help")
    return Scorecard(tuple(taken["risk"]), tuple(taken["utility"]), before, left_out)


def _object(measure: Measure, original: Microdata) -> None:
    from tacit.core.errors import DataError

    objection = measure.objection(original)
    if objection is not None:
        raise DataError(f"{measure.key} cannot be measured: {objection}")


def _fitting(released: list[Microdata]) -> list[Measure]:
    """Return the default measures: risks of a file alone, risks and utility of a pair."""
    from tacit.core.families import Measure
    from tacit.core.method import methods

    found = methods("risk") if not released else [*methods("risk"), *methods("utility")]
    return [m() for m in found if issubclass(m, Measure) and m.default]


def _drawn(card: dict[str, Any], released: str | None) -> Iterator[RenderableType]:
    from tacit.cli.card import drawn_card, explanations

    yield from drawn_card(card, after="value" if released is None else "release")
    yield from explanations(card)
