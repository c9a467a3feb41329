"""``tacit agency``, ``coordinate`` and ``certificates``: analyses among agencies."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from typer import Argument, Option

from tacit.cli.console import Answer, one_line, say
from tacit.cli.options import DataArgument, Reading, Roles

if TYPE_CHECKING:
    from rich.console import RenderableType

    from tacit.federated.messages import Proposal

_FOLDER = "Folder with certificate and keys, as `tacit certificates` makes it."


def agency(
    data: DataArgument,
    credentials: Annotated[Path, Option(metavar="FOLDER", help=_FOLDER)],
    reading: Reading,
    roles: Roles,
    policy: Annotated[
        Path | None,
        Option(
            metavar="FILE", help="Rules of this agency, in TOML; without it every request is asked."
        ),
    ] = None,
    log: Annotated[
        Path | None,
        Option(
            metavar="FILE", help="Log of requests and releases; else agency.log beside the keys."
        ),
    ] = None,
    listen: Annotated[str, Option(metavar="HOST:PORT", help="Where to listen.")] = "127.0.0.1:7400",
) -> Answer:
    """Take part in computations with other agencies; the data never leave.

    Runs until it is stopped. What is asked is checked against the policy, shown to the operator if
    the policy says ask = true, and written to the log. What leaves are masked sums. Without a
    policy the strict rules hold and the operator is asked each time; nobody there means no.
    """
    from tacit.cli.opening import open_data
    from tacit.federated import Agency, AgencyServer, Credentials, Ledger, Policy
    from tacit.federated.client import address_of

    own = Credentials(credentials)
    rules = Policy(ask=True) if policy is None else Policy.read(policy)
    records = open_data(data, reading, roles).in_memory()
    member = Agency(
        own.identity(),
        records,
        own.roster(),
        policy=rules,
        ledger=Ledger(log or credentials / "agency.log"),
        decide=_operator(),
    )
    server = _bound(AgencyServer, member, own, address_of(listen))
    with server:
        say("agency", f"{member.name} listens on port {server.port}, {len(records):,} records")
        server.serve_forever()
    return Answer({}, ())


def _bound(make: Any, *arguments: Any) -> Any:
    from tacit.core.errors import ParameterError

    try:
        return make(*arguments)
    except OSError as error:
        raise ParameterError(
            f"cannot listen there: {error.strerror}", got=arguments[-1], do="choose another port"
        ) from error


def _operator() -> Any:
    """Return what asks the person at the terminal, one question at a time."""
    import sys
    import threading

    import typer

    lock = threading.Lock()

    def decide(proposal: Proposal) -> bool:
        if not sys.stdin.isatty():
            return False
        with lock:
            asked = (
                f"{proposal.coordinator} asks for {proposal.analysis} "
                f"with {', '.join(proposal.participants)}; "
                f"purpose: {proposal.purpose or 'not told'}"
            )
            return typer.confirm(f"{one_line(asked)}. Take part?", default=False, err=True)

    return decide


def coordinate(
    request: Annotated[
        Path,
        Argument(
            metavar="REQUEST",
            help='The analysis in TOML: analysis = "ols" and its parameters, one on each line.',
        ),
    ],
    credentials: Annotated[Path, Option(metavar="FOLDER", help=_FOLDER)],
    agency: Annotated[
        list[str], Option(metavar="NAME=HOST:PORT", help="An agency. Repeat for each.")
    ],
    threshold: Annotated[
        int | None,
        Option(metavar="NUMBER", help="Agencies that must stay to the end; else two thirds."),
    ] = None,
    timeout: Annotated[
        float, Option(metavar="SECONDS", help="How long to wait for each answer.")
    ] = 60.0,
    purpose: Annotated[
        str, Option(metavar="TEXT", help="What the result is for; shown to the operators.")
    ] = "",
) -> Answer:
    """Ask agencies to compute an analysis together, and print the result.

    The coordinator routes messages and sees only masked values. The computation finishes, or stops
    with who and why; nothing partial is released.

    Analyses and what they need: count; mean, covariance, components and clusters (variables);
    histogram and quantiles (variable, edges); contingency (levels); ols, logistic and poisson
    (y, x); wls (y, x, weight); vertical-ols (unit, y, x, holders).
    """
    from tacit.core.errors import ParameterError
    from tacit.federated import connect
    from tacit.federated.analysis import analysis_from

    if timeout <= 0:
        raise ParameterError("--timeout must be above 0", got=timeout)
    analysis = analysis_from(_request(request))
    found = connect(
        dict(map(_named, agency)), credentials, threshold=threshold, timeout=timeout
    ).run(analysis, purpose=purpose)
    lost = tuple(f"{name} is missing: {why}" for name, why in found.missing.items())
    return Answer(found.as_dict(), _drawn(str(found)), lost)


def _named(text: str) -> tuple[str, str]:
    from tacit.core.errors import ParameterError

    name, equals, where = text.partition("=")
    if not equals:
        raise ParameterError("an agency is written name=host:port", got=repr(text))
    return name.strip(), where.strip()


def _request(path: Path) -> dict[str, Any]:
    import tomllib

    from tacit.core.errors import ParameterError, ReadError

    try:
        return tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ReadError("the request could not be read", got=str(path)) from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ParameterError(f"the request is no TOML: {error}", got=str(path)) from error


def certificates(
    out: Annotated[Path, Argument(metavar="OUT", help="A new folder.", show_default=False)],
    agency: Annotated[
        list[str], Argument(metavar="AGENCY...", help="Names of the agencies, three or more.")
    ],
    coordinator: Annotated[
        str, Option(metavar="NAME", help="Name of the coordinator.")
    ] = "coordinator",
) -> Answer:
    """Make keys and certificates for agencies and a coordinator, for trials and small projects.

    Each gets a folder. Whoever makes all keys could read everything: where it matters each agency
    makes its own.
    """
    from tacit.federated import make_certificates

    made = make_certificates(out, agency, coordinator)
    document = {name: str(one.folder) for name, one in made.items()}
    return Answer(document, _drawn("\n".join(document.values())))


def _drawn(text: str) -> Iterator[RenderableType]:
    from rich.text import Text

    yield Text(text)
