"""The program ``tacit``: its commands, its errors, its exit codes."""

from __future__ import annotations

import sys
import traceback
from collections.abc import Sequence
from typing import Annotated, Any

import typer
from typer.core import TyperGroup

from tacit.cli import (
    agency,
    apply,
    attack,
    backup,
    combine,
    coprivacy,
    demo,
    inspect,
    logs,
    measure,
    methods,
    query,
    replay,
    serve,
    table,
    wizard,
    worker,
)
from tacit.cli.command import command
from tacit.cli.console import print_json, say
from tacit.core import stopping
from tacit.core.errors import TacitError

DONE, BUG, REFUSED, INTERRUPTED, TERMINATED = 0, 1, 2, 130, 143
EPILOG = (
    "Exit codes: 0 done; 1 a bug in tacit; 2 refused (bad data, options or plan; nothing is "
    "written); 130 interrupted, 143 told to stop (nothing partial is left).\n\n"
    "With --json stdout holds one JSON document, the answer or an object with an entry error; all "
    "else goes to stderr."
)


class Program(TyperGroup):
    """The group of commands; every error of every command passes through here."""

    def main(
        self,
        args: Sequence[str] | None = None,
        prog_name: str | None = None,
        complete_var: str | None = None,
        standalone_mode: bool = True,
        windows_expand_args: bool = True,
        **extra: Any,
    ) -> Any:
        """Run one command and exit with its code."""
        given = list(sys.argv[1:] if args is None else args)
        as_json, debug = "--json" in given, "--debug" in given
        try:
            # Typer gives back the code of an early exit, and 130 for an interrupt.
            code = super().main(given, prog_name, complete_var, False, windows_expand_args, **extra)
            if code == INTERRUPTED:
                raise KeyboardInterrupt
        except BaseException as error:
            code = explain(error, debug=debug, as_json=as_json)
        sys.exit(code if isinstance(code, int) else DONE)


def explain(error: BaseException, *, debug: bool, as_json: bool) -> int:
    """Say in one line what went wrong and return the exit code."""
    if isinstance(error, SystemExit):
        return error.code if isinstance(error.code, int) else BUG
    if debug:
        traceback.print_exception(error)
    code, message = _verdict(error)
    say("error", message)
    if as_json:
        print_json({"error": _as_document(error, message)})
    return code


def _verdict(error: BaseException) -> tuple[int, str]:
    match error:
        case TacitError():
            return REFUSED, str(error)
        case typer.TyperException():
            return (
                error.exit_code,
                f"{error.format_message().rstrip('.')}; see {_help_command(error)}",
            )
        case KeyboardInterrupt():
            return INTERRUPTED, "interrupted; nothing partial is left"
        case MemoryError():
            return REFUSED, "there is not enough memory for this; use a sample or a larger machine"
        case _ if type(error).__name__ == "OutOfMemoryException":  # of DuckDB
            return REFUSED, "the memory that was allowed is too little; allow more with --memory"
        case _:
            found = f"{type(error).__name__}: {error}"
            return BUG, f"this is a bug in tacit: {found}; run again with --debug and report it"


def _help_command(error: typer.TyperException) -> str:
    context = getattr(error, "ctx", None)
    return f"{context.command_path if context else 'tacit'} --help"


def _as_document(error: BaseException, message: str) -> dict[str, Any]:
    if isinstance(error, TacitError):
        got = None if error.got is None else str(error.got)
        parts = {"what": error.what, "got": got, "do": error.do}
    else:
        parts = {"what": message, "got": None, "do": None}
    return {"type": type(error).__name__, "message": message, **parts}


app = typer.Typer(
    name="tacit",
    cls=Program,
    help="Statistical disclosure control: from a confidential file to a protected file, with "
    "evidence of how safe and how useful it is.",
    epilog=EPILOG,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def _print_version(wanted: bool) -> None:
    if wanted:
        from tacit import __version__

        typer.echo(f"tacit {__version__}")
        raise typer.Exit


@app.callback(invoke_without_command=True)
def start(
    context: typer.Context,
    version: Annotated[
        bool,
        typer.Option(
            "--version",
            metavar="",
            callback=_print_version,
            is_eager=True,
            help="Print the version.",
        ),
    ] = False,
) -> None:
    """Show the help when no command is given."""
    if context.invoked_subcommand is None:
        typer.echo(context.get_help(), nl=False)


def _folded(text: str) -> str:
    """Put each paragraph of a docstring on one line, for typer to wrap at the terminal's width."""
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in text.split("\n\n"))


for _function in (
    inspect.inspect,
    apply.apply,
    measure.measure,
    combine.combine,
    table.table,
    query.query,
    attack.attack,
    methods.methods,
    replay.replay,
    coprivacy.coprivacy,
    demo.demo,
    serve.serve,
    worker.worker,
    backup.backup,
    backup.restore,
    wizard.wizard,
    agency.agency,
    agency.coordinate,
    agency.certificates,
):
    app.command(help=_folded(_function.__doc__ or ""), epilog=EPILOG)(command(_function))

_logs = typer.Typer(
    help="Query logs of search engines: protect, attack, make a sample.", no_args_is_help=True
)
for _of_logs in (logs.anonymize, logs.attack, logs.sample):
    _logs.command(help=_folded(_of_logs.__doc__ or ""), epilog=EPILOG)(command(_of_logs))
app.add_typer(_logs, name="logs")


def main() -> None:
    """Run the program; a signal leaves by an exception, so that scratch files are removed."""
    stopping.on_signal("SIGINT", KeyboardInterrupt())
    stopping.on_signal("SIGTERM", SystemExit(TERMINATED))
    stopping.on_signal("SIGHUP", SystemExit(TERMINATED))
    for stream in (sys.stdout, sys.stderr):
        if stream is not None:
            stream.reconfigure(errors="backslashreplace")  # type: ignore[union-attr]
    app(prog_name="tacit")
