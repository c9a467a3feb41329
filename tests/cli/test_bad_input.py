"""Whatever is wrong: one line, exit code 2, and nothing left behind."""

import errno
import os
import pty
import resource
import signal
import subprocess
import sys
from pathlib import Path

import pytest

ROLES = ["--identifier", "Name", "--identifier", "SSN", "--key", "Age"]
STEP = ["--step", "mdav columns=Age k=2"]
GOOD = [*ROLES, *STEP]


def contents(folder: Path) -> dict[str, bytes]:
    return {str(p): p.read_bytes() for p in folder.rglob("*") if p.is_file()}


@pytest.fixture
def refused(run, refusal, folder):
    """Check that `apply` refuses in one line and changes nothing in the folder."""

    def refused(*words):
        before = contents(folder)
        line = refusal(run("apply", *words))
        assert contents(folder) == before
        assert sorted(p.name for p in folder.iterdir()) == sorted({Path(n).relative_to(
            folder).parts[0] for n in before})  # fmt: skip
        return line

    return refused


FILES = {
    "ragged": (b"a,b\n1,2\n3,4,5\n", "line 3"),
    "short": (b"a,b\n1,2\n3\n", "line 3"),
    "duplicate": (b"a,b,a\n1,2,3\n", "'a'"),
    "encoding": ("a,b\nStraße,2\n".encode("latin-1"), "encoding"),
    "empty": (b"", "empty"),
    "binary": (bytes(range(256)) * 4, ""),
    "open quote": (b'a,b\n"1,2\n3,4\n', "quote"),
}


@pytest.mark.parametrize("name", FILES)
def test_a_bad_file(refused, folder, name):
    content, message = FILES[name]
    (folder / "t.csv").write_bytes(content)
    assert message in refused("t.csv", "-o", "out", "--key", "a", "--step", "mdav columns=a k=2")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("nothing.csv", "there is no such file"),
        (".", "folder"),
        ("patients", "no such file"),
        ("patients.xyz", "no such file"),
        ("sqlite:///nothing.db", ""),
        ("nosuchdb://host/base", ""),
    ],
)
def test_a_source_that_is_not_there(refused, patients, source, message):
    assert message in refused(source, "-o", "out", *GOOD)


def test_a_file_that_only_claims_to_be_parquet(refused, folder):
    (folder / "t.parquet").write_text("this is no parquet")
    assert "t.parquet" in refused("t.parquet", "-o", "out", *GOOD)


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_that_may_not_be_read(refused, patients, folder):
    (folder / patients).chmod(0)
    assert "could not read" in refused(patients, "-o", "out", *GOOD)


@pytest.mark.parametrize(
    ("words", "message"),
    [
        (["--key", "Agee"], "there is no column 'Agee'; did you mean 'Age'?"),
        (["--key", "Age", "--weight", "Wt"], "there is no column 'Wt'"),
        (["--key", "Name", "--identifier", "Name"], "cannot be identifier and key"),
        (["--schema", "nothing.toml"], "there is no schema file"),
        (["--key", "Age", "--schema", "patients.csv"], "not valid TOML"),
    ],
)
def test_bad_roles(refused, patients, words, message):
    assert message in refused(patients, "-o", "out", *words, *STEP)


@pytest.mark.parametrize(
    ("step", "message"),
    [
        ("mdva columns=Age", "did you mean 'mdav'?"),
        ("mdav column=Age", "did you mean 'columns'?"),
        ("mdav columns=Agee", "did you mean 'Age'?"),
        ("mdav columns=Age k=1", "'k'"),
        ("mdav columns=Age k=11", "k = 11"),
        ("mdav columns=State", "numeric"),
        ("mdav columns=Name", "'Name'"),
        ("k-anonymity", "there is no mask method 'k-anonymity'"),
    ],
)
def test_bad_steps(refused, patients, step, message):
    assert message in refused(patients, "-o", "out", *ROLES, "--step", step)


@pytest.mark.parametrize(
    ("plan", "message"),
    [
        ('[[step]]\nmethod = "mdva"\ncolumns = ["Age"]\n', "did you mean 'mdav'?"),
        ('[[step]]\nmethod = "mdav"\ncolumn = ["Age"]\n', "did you mean 'columns'?"),
        ('[[step]]\ncolumns = ["Age"]\n', "name of its method"),
        ('[[steps]]\nmethod = "mdav"\n', "did you mean 'step'?"),
        ("not toml", "not valid TOML"),
        ("format = 99\n", "another version"),
    ],
)
def test_bad_plans(refused, patients, folder, plan, message):
    (folder / "plan.toml").write_text(plan)
    assert message in refused(patients, "-o", "out", *ROLES, "--plan", "plan.toml")


def test_a_plan_that_is_not_there(refused, patients):
    assert "there is no plan file" in refused(patients, "-o", "o", *ROLES, "--plan", "p.toml")


def test_a_bad_seed_and_a_bad_format(refused, patients):
    assert "seed" in refused(patients, "-o", "out", *GOOD, "--seed", "-1")
    assert "did you mean 'csv'?" in refused(patients, "-o", "out", *GOOD, "--format", "csvv")


# -- the output -------------------------------------------------------------------------------


def test_an_output_folder_that_exists_is_kept(refused, patients, folder):
    (folder / "out").mkdir()
    (folder / "out/mine.txt").write_text("keep me")
    assert "exists already" in refused(patients, "-o", "out", *GOOD)
    assert "will not be replaced" in refused(patients, "-o", "out", *GOOD, "--force")


def test_force_replaces_a_release(run, patients, folder, refusal):
    assert run("apply", patients, "-o", "out", *GOOD).exit_code == 0
    first = (folder / "out/public/data.csv").read_bytes()
    step = ["--step", "mdav columns=Age k=5"]
    assert "--force" in refusal(run("apply", patients, "-o", "out", *ROLES, *step))
    assert (folder / "out/public/data.csv").read_bytes() == first
    assert run("apply", patients, "-o", "out", *ROLES, *step, "--force").exit_code == 0
    assert (folder / "out/public/data.csv").read_bytes() != first


def test_an_output_path_that_is_a_file(refused, patients):
    assert "exists already" in refused(patients, "-o", "patients.csv", *GOOD)
    assert "is a file" in refused(patients, "-o", "patients.csv", *GOOD, "--force")


def test_an_output_below_a_file(refused, patients):
    assert "could not write" in refused(patients, "-o", "patients.csv/out", *GOOD)


@pytest.mark.parametrize("writes", ["tacit.io.formats.csv.Csv.write",
                                    "tacit.report.html_report.HtmlReport.render"])  # fmt: skip
@pytest.mark.parametrize(
    ("error", "code", "message"),
    [
        (OSError(errno.ENOSPC, "No space left on device"), 2, "No space left on device"),
        (KeyboardInterrupt(), 130, "interrupted; nothing partial is left"),
        (SystemExit(143), 143, ""),
    ],
)
def test_a_failure_while_writing_leaves_nothing(
    run, patients, folder, monkeypatch, writes, error, code, message
):
    def fail(*_arguments, **_more):
        raise error

    monkeypatch.setattr(writes, fail)
    before = contents(folder)
    result = run("apply", patients, "-o", "out", *GOOD)
    assert result.exit_code == code
    assert message in result.stderr
    assert len(result.stderr.splitlines()) == bool(message)
    assert contents(folder) == before
    assert [p.name for p in folder.iterdir()] == [patients]


def test_a_failure_while_replacing_keeps_the_old_release(run, patients, folder, monkeypatch):
    assert run("apply", patients, "-o", "out", *GOOD, "--seed", 1).exit_code == 0
    before = contents(folder)

    def fail(*_arguments, **_more):
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr("tacit.report.html_report.HtmlReport.render", fail)
    assert run("apply", patients, "-o", "out", *GOOD, "--force").exit_code == 2
    assert contents(folder) == before
    assert sorted(p.name for p in folder.iterdir()) == ["out", patients]


# -- for real, in a process of its own --------------------------------------------------------


@pytest.fixture
def many(folder):
    """A file large enough to fill a small disk, and to be interrupted while it is worked on."""
    from tacit.datasets import census
    from tacit.io.write import write

    write(census(60_000), folder / "people.csv")
    return "people.csv"


def test_a_full_disk_leaves_nothing(process, many, folder, refusal):
    def small_disk():
        resource.setrlimit(resource.RLIMIT_FSIZE, (1_000_000, 1_000_000))

    result = process("apply", many, "-o", "out", "--suggested-roles",
                     "--step", "sample fraction=0.9", preexec_fn=small_disk)  # fmt: skip
    assert "could not write" in refusal(result)
    assert [p.name for p in folder.iterdir()] == [many]


@pytest.mark.parametrize(("sent", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_an_interrupted_process_leaves_nothing(many, folder, sent, code):
    terminal, its_end = pty.openpty()
    command = [sys.executable, "-m", "tacit.cli", "apply", many, "-o", "out", "--suggested-roles",
               "--step", "mdav columns=income,taxes,age,hours k=2"]  # fmt: skip
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=its_end, text=True) as running:
        os.close(its_end)
        seen = read_until(terminal, b"applying the plan")
        running.send_signal(sent)
        seen += read_until(terminal, None)
        # Python leaves by the signal itself, which a shell shows as 128 + SIGINT as well, where
        # the interrupt came while it ran a text of code, as dataclasses do.
        assert running.wait(timeout=60) in (code, -sent), seen
        assert running.stdout.read() == ""
    os.close(terminal)
    assert b"Traceback" not in seen
    assert (b"interrupted; nothing partial is left" in seen) == (code == 130)
    assert [p.name for p in folder.iterdir()] == [many]


def read_until(terminal: int, words: bytes | None) -> bytes:
    """Read what a process writes to its terminal until some words appear, or until it ends."""
    seen = b""
    while words is None or words not in seen:
        try:
            more = os.read(terminal, 1 << 16)
        except OSError:
            more = b""
        if not more:
            assert words is None, seen
            return seen
        seen += more
    return seen
