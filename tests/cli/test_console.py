"""Answers on stdout, one line per warning, progress only for those who look."""

import io
import json
import sys

import pytest

from tacit.cli.console import Answer, Bars, console, deliver, drawn_progress, one_line, print_json
from tacit.core.progress import track


def test_an_answer_is_drawn_on_stdout_and_warned_about_on_stderr(capsys):
    deliver(Answer({"n": 1}, ["one [bold]line[/bold]"], ("look\nout",)), as_json=False)
    out, err = capsys.readouterr()
    assert out == "one [bold]line[/bold]\n"
    assert err == "warning: look out\n"


def test_an_answer_as_json_holds_its_warnings(capsys):
    deliver(Answer({"n": 1}, iter(()), ("look out",)), as_json=True)
    out, err = capsys.readouterr()
    assert json.loads(out) == {"n": 1, "warnings": ["look out"]}
    assert err == "warning: look out\n"


def test_json_refuses_what_json_cannot_hold(capsys):
    with pytest.raises(ValueError, match="Out of range"):
        print_json({"x": float("nan")})
    assert capsys.readouterr().out == ""


def test_text_is_printed_in_its_own_letters(capsys):
    print_json({"name": "Ägypten ☕"})
    assert "Ägypten ☕" in capsys.readouterr().out


def test_a_message_cannot_move_the_cursor():
    assert one_line("a\x1b[2Jb\r\n  c") == "a?[2Jb c"


def test_tables_in_a_pipe_are_wide(monkeypatch):
    monkeypatch.delenv("COLUMNS", raising=False)
    monkeypatch.setattr(sys, "stdout", io.StringIO())
    assert console().width == 120


class Terminal(io.StringIO):
    def isatty(self):
        return True


def test_progress_is_drawn_on_a_terminal(monkeypatch):
    monkeypatch.setenv("TERM", "xterm")
    terminal = Terminal()
    monkeypatch.setattr(sys, "stderr", terminal)
    with drawn_progress(quiet=False), track("grouping", 4) as advance:
        advance(4)
    assert "grouping" in terminal.getvalue()


@pytest.mark.parametrize(("stream", "quiet"), [(io.StringIO, False), (Terminal, True)])
def test_progress_is_not_drawn_in_a_file_nor_when_quiet(monkeypatch, stream, quiet):
    target = stream()
    monkeypatch.setattr(sys, "stderr", target)
    with drawn_progress(quiet=quiet), track("grouping", 4) as advance:
        advance(4)
    assert target.getvalue() == ""


def test_a_bar_is_removed_when_its_task_fails():
    from rich.progress import Progress

    progress = Progress(disable=True)
    with pytest.raises(ZeroDivisionError), Bars(progress).task("x", 2):
        1 / 0  # noqa: B018
    assert progress.tasks == []


def test_nothing_is_drawn_between_tasks():
    """A display that goes on would wipe out what an operator is asked in the meantime."""
    from rich.console import Console
    from rich.progress import Progress

    progress = Progress(console=Console(file=Terminal(), force_terminal=True), transient=True)
    bars, drawn = Bars(progress), lambda: progress.live.is_started
    assert not drawn()
    for _ in range(2):
        with bars.task("x", 2):
            with bars.task("y", 2):
                assert drawn()
            assert drawn()
        assert not drawn()
