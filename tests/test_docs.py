"""The documentation: it builds without a warning, and every example in it runs.

In the Markdown pages three kinds of fenced blocks are run, from top to bottom, in a folder that
holds the practice file ``patients.csv``: ``python`` (as a session with ``>>>``, or as a script),
``console`` (each line after ``$``; it must succeed unless it ends in ``# exit N``) and any block
whose first line is ``# name.suffix``, which is written to that file. Ports of this machine that a
page names are replaced by free ones.
"""

import doctest
import importlib
import os
import re
import shlex
import shutil
import subprocess
import sys
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from markdown_it import MarkdownIt
from typer.testing import CliRunner

import tacit
from tacit.cli.main import app

REPOSITORY = Path(__file__).resolve().parents[1]
DOCS = REPOSITORY / "docs"
PAGES = [
    REPOSITORY / "README.md",
    REPOSITORY / "CONTRIBUTING.md",
    *sorted(p for p in DOCS.rglob("*.md") if not {"_build", "methods"} & set(p.parts)),
]
_FLAGS = doctest.NORMALIZE_WHITESPACE | doctest.ELLIPSIS
_FILE = re.compile(r"# ([\w./-]+\.\w+)$")
_PORT = re.compile(r"(?<=127\.0\.0\.1[:/]|localhost[:/])\d+")


def _blocks(page: Path) -> Iterator[tuple[str, str, int]]:
    for token in MarkdownIt().parse(page.read_text(encoding="utf-8")):
        if token.type == "fence":
            yield token.info.strip(), token.content, token.map[0] + 1


def _run_python(code: str, names: dict, where: str) -> None:
    if ">>>" not in code:
        exec(compile(code, where, "exec"), names)  # noqa: S102
        return
    test = doctest.DocTestParser().get_doctest(code, names, where, where, 0)
    report: list[str] = []
    results = doctest.DocTestRunner(optionflags=_FLAGS).run(
        test, out=report.append, clear_globs=False
    )
    names.update(test.globs)
    assert results.failed == 0, "".join(report)


def _run_console(text: str, where: str) -> None:
    for line in re.findall(r"^\$ ((?:.*\\\n)*.+)", text, re.MULTILINE):
        command, _, expected = line.partition("# exit ")
        words = _words(command)
        code, output = _in_a_shell(command) if words is None else _in_this_process(words)
        assert code == int(expected or 0), f"{where}: {line}\n{output}"


def _with_free_ports(text: str, free_port: Callable[[], int]) -> str:
    """Replace each port that an example listens on: another program may have the one it names."""
    found = {port: str(free_port()) for port in dict.fromkeys(_PORT.findall(text))}
    return _PORT.sub(lambda port: found[port[0]], text)


def test_ports_of_an_example_are_replaced_by_free_ones_of_its_own():
    free = iter(range(20_001, 20_009)).__next__
    text = "a --listen 127.0.0.1:71 -n 71 & echo > /dev/tcp/127.0.0.1/71; b x=localhost:72"
    assert _with_free_ports(text, free) == (
        "a --listen 127.0.0.1:20001 -n 71 & echo > /dev/tcp/127.0.0.1/20001; b x=localhost:20002"
    )


def _words(command: str) -> list[str] | None:
    """Return the arguments of a plain call of tacit; none where a shell has something to do."""
    lexer = shlex.shlex(command.replace("\\\n", " "), posix=True, punctuation_chars=True)
    lexer.commenters, lexer.whitespace_split = "", True
    words = list(lexer)
    needs_shell = any(set(word) <= set("();<>|&") for word in words) or re.search(
        r"[$`*~]", command
    )
    return None if words[0] != "tacit" or needs_shell else words[1:]


def _in_this_process(words: list[str]) -> tuple[int, str]:
    """Call tacit without starting Python again: that it starts is shown in tests/cli."""
    result = CliRunner(env={"COLUMNS": "120"}).invoke(app, words, prog_name="tacit")
    return result.exit_code, result.stdout + result.stderr


def _in_a_shell(command: str) -> tuple[int, str]:
    path = f"{Path(sys.executable).parent}{os.pathsep}{os.environ['PATH']}"
    environment = {**os.environ, "PATH": path}
    done = subprocess.run(
        ["bash", "-c", command], capture_output=True, text=True, env=environment, timeout=300
    )
    return done.returncode, done.stdout + done.stderr


@pytest.mark.parametrize(
    ("command", "words"),
    [
        ("tacit inspect 'a b.csv' --decimal ,", ["inspect", "a b.csv", "--decimal", ","]),
        ("tacit table --rule 'p(10)|q' \\\n a,b", ["table", "--rule", "p(10)|q", "a,b"]),
        ("tacit wizard --target 'k >= 3; 4 %'", ["wizard", "--target", "k >= 3; 4 %"]),
        ("tacit methods --json > methods.json", None),
        ("printf 'rules' | tacit query x.csv", None),
        ("tacit agency x.csv & tacit agency y.csv", None),
        ("tacit inspect $HOME/x.csv", None),
        ("ls found", None),
    ],
)  # fmt: skip
def test_only_plain_calls_do_without_a_shell(command, words):
    assert _words(command) == words


def _write(path: Path, content: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content, encoding="utf-8")


def _pages_with_examples() -> list[Path]:
    wanted = {"python", "console"}
    return [page for page in PAGES if any(language in wanted for language, _, _ in _blocks(page))]


@pytest.mark.parametrize(
    "page", _pages_with_examples(), ids=lambda p: p.relative_to(REPOSITORY).as_posix()
)
def test_examples_of_the_page_run(page, tmp_path, monkeypatch, free_port):
    monkeypatch.chdir(tmp_path)
    tacit.datasets.patients().frame.write_csv("patients.csv")  # the practice file of all pages
    names: dict = {"__name__": "__example__"}
    for language, content, line in _blocks(page):
        where = f"{page.name}, line {line}"
        named = _FILE.match(content.split("\n", 1)[0])
        if named:
            _write(Path(named[1]), content)
        elif language == "python":
            _run_python(content, names, where)
        elif language == "console":
            _run_console(_with_free_ports(content, free_port), where)


def test_library_example_runs(tmp_path):
    done = subprocess.run(
        [sys.executable, REPOSITORY / "examples" / "library.py"],
        cwd=tmp_path,
        capture_output=True,
        text=True,
        timeout=300,
    )
    assert done.returncode == 0, done.stderr
    assert "k-anonymity" in done.stdout.lower()


def test_readme_shows_the_library_example():
    """The ten lines of the README are those of the file that a user can run."""
    code = (REPOSITORY / "examples" / "library.py").read_text(encoding="utf-8").splitlines()
    shown = [c for language, c, _ in _blocks(REPOSITORY / "README.md") if language == "python"]
    lines = [line.strip() for line in shown[0].splitlines() if line.strip()]
    assert len(lines) <= 10
    assert [line for line in lines if line in {c.strip() for c in code}] == lines


@pytest.mark.parametrize("name", ["README.md", "CONTRIBUTING.md", "CHANGELOG.md"])
def test_links_to_files_of_the_repository_are_alive(name):
    text = (REPOSITORY / name).read_text(encoding="utf-8")
    for target in re.findall(r"\]\((?!https?:)([^)#]+)\)", text):
        assert (REPOSITORY / target).exists(), target


# -- the reference, derived from the registry --------------------------------------------------


@pytest.fixture
def reference(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    return importlib.import_module("generate_reference")


def test_every_method_has_a_page_with_all_its_parameters(reference):
    pages = reference.pages()
    for method in tacit.methods():
        text = pages[f"{method.family}-{method.key}.rst"]
        assert text.startswith(f":orphan:\n\n{method.title}\n===")
        assert method.key in pages["index.rst"]
        for name in method.model_fields:
            assert f"``{name}``" in text


def test_the_plan_step_on_a_page_is_the_example_of_the_method(reference):
    pages = reference.pages()
    for method in tacit.methods("mask"):
        text = pages[f"mask-{method.key}.rst"]
        block = re.search(r"\.\. code-block:: toml\n\n((?: {3}.*\n|\n)+)", text)[1]
        plan = tacit.Plan.from_toml(re.sub(r"^ {3}", "", block, flags=re.MULTILINE))
        assert plan.methods == (method(**method.example),)


def test_a_new_method_gets_a_page_and_a_lost_one_loses_it(reference, tmp_path, monkeypatch):
    (tmp_path / "mask-lost.rst").write_text("Lost\n====\n", encoding="utf-8")
    kept = tacit.find("mdav", "mask")
    monkeypatch.setattr(reference.tacit, "methods", lambda *family: [kept])
    reference.write(tmp_path)
    written = {path.name for path in tmp_path.iterdir()}
    assert written == {
        "index.rst", "mask-mdav.rst", "mask-mdav.svg", "command-line.md", "what-runs-where.rst",
    }  # fmt: skip
    assert (tmp_path / "mask-mdav.svg").read_text(encoding="utf-8").startswith("<svg")
    assert ".. figure:: mask-mdav.svg" in (tmp_path / "mask-mdav.rst").read_text(encoding="utf-8")


def test_every_citation_is_in_the_bibliography(reference):
    known = reference.bibliography_keys()
    for method in tacit.methods():
        unknown = set(method.cites) - known
        assert not unknown, f"{method.key} cites {unknown}; add them to docs/references.bib"
    for source in (REPOSITORY / "src").rglob("*.py"):
        text = source.read_text(encoding="utf-8")
        cited = set(re.findall(r"\[([a-z]+\d{4}[a-z]?)\]_|# Eq\. \([^)]*\) of (\w+)", text))
        unknown = {a or b for a, b in cited} - known
        assert not unknown, f"{source.name} cites {unknown}; add them to docs/references.bib"


def test_the_bibliography_is_sorted_and_complete():
    from pybtex.database import parse_file

    entries = parse_file(DOCS / "references.bib").entries
    assert list(entries) == sorted(entries)
    for key, entry in entries.items():
        assert entry.persons.get("author"), key
        assert {"title", "year"} <= set(entry.fields), key
        assert re.fullmatch(r"[a-z]+\d{4}[a-z]?", key), key


# -- the method of CONTRIBUTING ----------------------------------------------------------------


@pytest.fixture(scope="module")
def contributed(tmp_path_factory):
    """A copy of the package and the common tests, with the files of the example."""
    tree = tmp_path_factory.mktemp("contributed")
    ignored = shutil.ignore_patterns("__pycache__")
    for part in ("src", "tests/common"):
        shutil.copytree(REPOSITORY / part, tree / part, ignore=ignored)
    for part in ("pyproject.toml", "tests/conftest.py", "docs/references.bib"):
        _write(tree / part, (REPOSITORY / part).read_text(encoding="utf-8"))
    for _, content, _ in _blocks(REPOSITORY / "CONTRIBUTING.md"):
        named = _FILE.match(content.split("\n", 1)[0])
        if named:
            _write(tree / named[1], content)
    return tree


def _in(tree: Path, *command: str) -> str:
    environment = {**os.environ, "PYTHONPATH": str(tree / "src")}
    done = subprocess.run(
        [sys.executable, "-m", *command], cwd=tree, env=environment, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout


def test_the_contributed_method_passes_its_own_tests(contributed):
    files = ["tests/mask/test_jitter.py", "src/tacit/mask/jitter.py"]
    assert "2 passed" in _in(contributed, "pytest", "-q", "-p", "no:cacheprovider", *files)


def test_the_contributed_method_passes_the_common_tests(contributed):
    chosen = ["tests/common", "-k", "jitter"]
    report = _in(contributed, "pytest", "-q", "-p", "no:cacheprovider", *chosen)
    assert int(re.search(r"(\d+) passed", report)[1]) > 10


def test_the_contributed_files_are_in_the_house_style(contributed):
    _in(contributed, "ruff", "check", "src/tacit/mask/jitter.py", "tests/mask/test_jitter.py")


# -- the build ---------------------------------------------------------------------------------


def test_documentation_builds_without_warnings_and_loads_nothing(tmp_path):
    command = [sys.executable, "-m", "sphinx", "-W", "--keep-going", "-q", "-b", "html"]
    done = subprocess.run(
        [*command, "-d", str(tmp_path / "trees"), str(DOCS), str(tmp_path / "html")],
        capture_output=True,
        text=True,
        timeout=500,
    )
    assert done.returncode == 0, done.stderr
    loaded = re.compile(r"""<(?:script|img|link|iframe)[^>]+(?:src|href)=["']https?://""")
    for page in (tmp_path / "html").rglob("*.html"):
        assert not loaded.search(page.read_text(encoding="utf-8")), page.name


# -- the commands ------------------------------------------------------------------------------


def test_make_lists_every_documented_target():
    done = subprocess.run(["make", "-s", "help"], cwd=REPOSITORY, capture_output=True, text=True)
    listed = set(re.findall(r"^ +make ([\w-]+) ", done.stdout, re.MULTILINE))
    wanted = {"setup", "run", "test", "test-all", "check", "bench", "docs", "clean", "format"}
    assert wanted <= listed


def test_constraints_hold_names_and_versions_only():
    lines = (REPOSITORY / "constraints.txt").read_text(encoding="utf-8").splitlines()
    pins = [line for line in lines if line and not line.startswith("#")]
    assert len(pins) > 50
    for pin in pins:
        assert re.fullmatch(r"[\w.-]+==[\w.]+", pin), pin


def test_constraints_name_every_direct_dependency():
    project = tomllib.loads((REPOSITORY / "pyproject.toml").read_text(encoding="utf-8"))
    extras = project["project"]["optional-dependencies"]
    wanted = [
        *project["project"]["dependencies"],
        *extras["sql"],
        *extras["formats"],
        *project["dependency-groups"]["dev"],
    ]
    text = (REPOSITORY / "constraints.txt").read_text(encoding="utf-8")
    pinned = {line.split("==")[0].lower().replace("_", "-") for line in text.splitlines()}
    names = {re.match(r"[\w.-]+", line)[0].lower().replace("_", "-") for line in wanted}
    assert names <= pinned
