"""``tacit logs``: query logs of search engines, from a confidential log to a protected one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from tacit.cli.console import Answer

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tacit.core.measurement import Measurement
    from tacit.logs import Cleaning, LogRelease, QueryLog, Taxonomy

_READING, _PROTECTING, _CLEANING = "Reading the log", "Protecting", "Cleaning"

LogArgument = Annotated[
    list[Path],
    Argument(
        metavar="LOG...",
        help="Files in AOL's format, plain or gzip (AnonID, Query, QueryTime, ItemRank, ClickURL).",
        show_default=False,
    ),
]


@dataclass(frozen=True)
class LogReading:
    """How to read the log."""

    column: Annotated[
        list[str] | None,
        Option(
            metavar="PART=NAME",
            help="Which column holds what in other files: user=, query=, time=, rank=, url=.",
            rich_help_panel=_READING,
        ),
    ] = None
    separator: Annotated[
        str, Option(metavar="CHAR", help="Character between fields.", rich_help_panel=_READING)
    ] = "\t"


@dataclass(frozen=True)
class LogCleaning:
    """What is removed first."""

    min_users: Annotated[
        int,
        Option(
            metavar="N",
            min=1,
            help="Remove queries of fewer users than this.",
            rich_help_panel=_CLEANING,
        ),
    ] = 2
    time: Annotated[
        str,
        Option(
            metavar="UNIT",
            help="Times that stay: drop, month, week or day.",
            rich_help_panel=_CLEANING,
        ),
    ] = "drop"
    url: Annotated[
        str,
        Option(
            metavar="PART",
            help="Addresses that stay: drop, domain or host.",
            rich_help_panel=_CLEANING,
        ),
    ] = "drop"
    session_gap: Annotated[
        float | None,
        Option(
            metavar="MINUTES",
            help="Give lines of a session its first time; a longer pause ends it. Needs --time.",
            rich_help_panel=_CLEANING,
        ),
    ] = None
    no_cleaning: Annotated[
        bool,
        Option(
            "--no-cleaning",
            metavar="",
            help="Keep names, numbers and rare queries, as in the paper. For research only.",
            rich_help_panel=_CLEANING,
        ),
    ] = False


@dataclass(frozen=True)
class LogProtecting:
    """How users are grouped."""

    taxonomy: Annotated[
        str,
        Option(
            metavar="WHAT",
            help="demonstration; wordnet or wordnet:FOLDER; odp:content.rdf.u8; categories:FILE; "
            "or a CSV file with the columns term and category.",
            rich_help_panel=_PROTECTING,
        ),
    ] = "demonstration"
    match: Annotated[
        str,
        Option(
            metavar="HOW",
            help="Understand unknown words: no, spelling, or meaning (needs tacit[meaning]).",
            rich_help_panel=_PROTECTING,
        ),
    ] = "no"
    k: Annotated[
        int,
        Option("-k", "--k", metavar="N", help="Users who look alike.", rich_help_panel=_PROTECTING),
    ] = 3
    levels: Annotated[
        int, Option(metavar="N", help="Deepest level of categories.", rich_help_panel=_PROTECTING)
    ] = 5
    categories: Annotated[
        int, Option(metavar="N", help="Categories of each term.", rich_help_panel=_PROTECTING)
    ] = 5
    partition: Annotated[
        str,
        Option(metavar="HOW", help="Groups: greedy or mdav.", rich_help_panel=_PROTECTING),
    ] = "greedy"
    block: Annotated[
        int, Option(metavar="N", help="Most users compared.", rich_help_panel=_PROTECTING)
    ] = 5000
    fill: Annotated[
        bool,
        Option(
            "--fill",
            metavar="",
            help="Fill quotas that the published algorithm leaves open.",
            rich_help_panel=_PROTECTING,
        ),
    ] = False
    seed: Annotated[
        int | None,
        Option(metavar="N", help="Secret number, for repeating.", rich_help_panel=_PROTECTING),
    ] = None


def anonymize(
    log: LogArgument,
    out: Annotated[
        Path,
        Option("--out", "-o", metavar="FOLDER", help="Folder of the release.", show_default=False),
    ],
    reading: LogReading,
    cleaning: LogCleaning,
    protecting: LogProtecting,
    compress: Annotated[
        bool, Option("--compress", metavar="", help="Write the log with gzip.")
    ] = False,
    force: Annotated[
        bool, Option("--force", metavar="", help="Replace an earlier release in the folder.")
    ] = False,
) -> Answer:
    """Protect a query log: every user shares the released log with at least k - 1 others.

    The folder gets public/ (the log in AOL's format and a note) and dossier/ (who is who, the seed,
    measurements with an attack, and a report, which stay inside). It appears whole or not at all.
    """
    from tacit import logs
    from tacit.core.errors import WriteError

    if out.exists() and not force:
        raise WriteError("the output folder exists already", got=str(out), do="use --force")
    rules = None if cleaning.no_cleaning else _cleaning(cleaning)
    taxonomy = opened_taxonomy(protecting.taxonomy, protecting.match)
    release = logs.anonymize(
        _opened(log, reading),
        taxonomy,
        k=protecting.k,
        levels=protecting.levels,
        categories=protecting.categories,
        partition=protecting.partition,
        block=protecting.block,
        fill=protecting.fill,
        cleaning=rules,
        seed=protecting.seed,
    )
    release.save(out, force=force, compress=compress)
    return _released(release, out)


def attack(
    log: LogArgument,
    release: Annotated[
        Path,
        Option(
            "--release", "-r", metavar="FOLDER", help="What anonymize wrote.", show_default=False
        ),
    ],
    reading: LogReading,
    known: Annotated[int, Option(metavar="N", min=1, help="Queries known of each user.")] = 3,
    targets: Annotated[int, Option(metavar="N", min=1, help="Users attacked.")] = 1000,
    seed: Annotated[int, Option(metavar="N", help="Draws users and queries.")] = 0,
) -> Answer:
    """Attack a released log as somebody who knows some queries of each user.

    The released file itself is attacked, with the dossier only as the answer sheet.
    """
    from tacit.core.data import Microdata
    from tacit.logs.known_queries import attack_released_frame
    from tacit.logs.user_anonymity import user_k_anonymity

    k, released, truth = _opened_release(release)
    original = _opened(log, reading)
    found = attack_released_frame(
        original, released, truth, k=k, known=known, targets=targets, seed=seed
    )
    taken = [user_k_anonymity(Microdata.of(released)), found]
    document = {"release": str(release), "k": k, "measurements": [m.as_dict() for m in taken]}
    warnings = tuple(w for m in taken for w in m.warnings)
    return Answer(document, _measured(taken), warnings)


def sample(
    out: Annotated[Path, Argument(metavar="FILE", help="File to write; .gz compresses.")],
    users: Annotated[int, Option("--users", "-n", metavar="N", min=1, help="Users.")] = 200,
    seed: Annotated[int, Option(metavar="N", help="Same number, same log.")] = 1,
) -> Answer:
    """Write a made-up log in AOL's format, to try the other commands on."""
    from tacit.datasets import query_log
    from tacit.logs import QueryLog
    from tacit.logs.saving import write_frame

    log = QueryLog.of(query_log(users, seed=seed))
    write_frame(log.frame, out)
    document = {"file": str(out), "users": log.n_users, "lines": log.n_lines}
    return Answer(document, [f"{log.n_lines:,} lines of {log.n_users:,} users in {out}"])


def opened_taxonomy(what: str, match: str = "no") -> Taxonomy:
    """Open the taxonomy that an option names."""
    from tacit import logs
    from tacit.core.errors import ParameterError, nearest

    kind, _, path = what.partition(":")
    if what == "demonstration":
        taxonomy = logs.demonstration()
    elif kind == "wordnet":
        taxonomy = logs.read_wordnet(path) if path else logs.read_wordnet()
    elif kind == "odp":
        taxonomy = logs.read_open_directory(path)
    elif kind == "categories":
        taxonomy = logs.read_categories(path)
    else:
        taxonomy = logs.read_table(what)
    matchers: dict[str, Any] = {
        "no": lambda: None,
        "spelling": logs.SpellingMatcher,
        "meaning": logs.EmbeddingMatcher,
    }
    if match not in matchers:
        raise ParameterError(
            "unknown words cannot be matched so", got=match, do=nearest(match, matchers)
        )
    return taxonomy.with_matcher(matchers[match]())


def _cleaning(options: LogCleaning) -> Cleaning:
    from tacit.logs import Cleaning

    fields: dict[str, Any] = {"time": options.time, "url": options.url}
    return Cleaning(min_users=options.min_users, session_gap=options.session_gap, **fields)


def _opened(paths: list[Path], reading: LogReading) -> QueryLog:
    from tacit.core.errors import ParameterError
    from tacit.logs import read

    columns = {}
    for text in reading.column or []:
        part, equals, name = text.partition("=")
        if not equals:
            raise ParameterError("a column is named as PART=NAME", got=text, do="try user=id")
        columns[part] = name
    return read(paths, columns=columns or None, separator=reading.separator)


def _opened_release(folder: Path) -> tuple[int, Any, Any]:
    """Return k, the released lines and who is who."""
    import polars as pl

    from tacit.core.bundle import DOSSIER, PUBLIC
    from tacit.logs import read
    from tacit.logs.saving import read_manifest

    manifest = read_manifest(folder)
    truth = pl.read_parquet(folder / DOSSIER / "users.parquet")
    files = sorted((folder / PUBLIC).glob("log.txt*"))
    return int(manifest["method"]["k"]), read(files).frame, truth


def _released(release: LogRelease, out: Path) -> Answer:
    import json

    from tacit.core.bundle import DOSSIER, PUBLIC
    from tacit.logs.saving import manifest

    taken = json.loads((out / DOSSIER / "measurements.json").read_text(encoding="utf-8"))
    document = {
        **{name: manifest(release)[name] for name in ("method", "taxonomy", "removed", "counts")},
        "seconds": {name: round(value, 3) for name, value in release.seconds.items()},
        "measurements": taken,
        "public": str(next((out / PUBLIC).glob("log.txt*"))),
        "dossier": str(out / DOSSIER),
        "report": str(out / DOSSIER / "report.html"),
    }
    warnings = tuple(w for m in taken for w in m["warnings"])
    if release.cleaning is None:
        warnings += ("the log was not cleaned: names and numbers of people may be in it",)
    return Answer(document, _drawn(document), warnings)


def _drawn(document: dict[str, Any]) -> Iterator[RenderableType]:
    from rich.text import Text

    counts = document["counts"]
    yield (
        f"{counts['lines_read']:,} lines of {counts['users_read']:,} users read, "
        f"{counts['lines_released']:,} lines of {counts['users_released']:,} users released"
    )
    removed = ", ".join(
        f"{why} {n['lines']:,}" for why, n in document["removed"].items() if n["lines"]
    )
    yield f"lines removed: {removed or 'none'}"
    yield _table([(m["title"], m["text"], m["explanation"]) for m in document["measurements"]])
    attacked = next(m for m in document["measurements"] if m["measure"] == "known-queries")
    yield _verdict(attacked["details"])
    for label, key in (("for users     ", "public"), ("stays inside  ", "dossier"),
                       ("report        ", "report")):  # fmt: skip
        yield Text.assemble((label, "bold"), document[key])


def _measured(taken: list[Measurement]) -> Iterator[RenderableType]:
    yield _table([(m.title, m.text, m.explanation) for m in taken])
    yield _verdict(taken[1].details)


def _verdict(found: Any) -> str:
    """Say in one sentence what the attack reached."""
    return (
        f"An intruder who knows {found['known_queries']} queries finds "
        f"{100 * found['original']:.1f} % of users in the original log and "
        f"{100 * found['after']:.1f} % in the released one; nobody with a probability above "
        f"{found['largest_probability']:.3f}."
    )


def _table(rows: list[tuple[str, str, str]]) -> Any:
    from rich.table import Table

    table = Table("measure", "value", "what it says", box=None, pad_edge=False)
    for row in rows:
        table.add_row(*row)
    return table
