"""The reference pages of methods and commands, derived from the registry and the command line.

`pages` returns one page per method, an index and the page of the command line; nothing here knows a
method or a command by name.
"""

import inspect
import json
import re
import shlex
from functools import cache
from pathlib import Path

import effect_pictures
import typer
import under_attack
import what_runs_where
from numpydoc.docscrape import NumpyDocString
from typer.cli import get_docs_for_click
from typer.main import get_command

import tacit
from tacit.attack import Attack
from tacit.cli.catalogue import described
from tacit.cli.main import app
from tacit.core import families
from tacit.tables.protection import Protection
from tacit.tables.rule import Rule

REPOSITORY = Path(__file__).resolve().parents[1]
GOLDEN = REPOSITORY / "tests" / "golden"
BIBLIOGRAPHY = Path(__file__).resolve().parent / "references.bib"
FAMILIES = {
    "mask": ("Masking methods", families.Mask),
    "risk": ("Risk measures", families.Risk),
    "utility": ("Utility measures", families.Utility),
    "rule": ("Rules for sensitive cells", Rule),
    "protection": ("Protections of tables", Protection),
    "attack": ("Attacks", Attack),
    "format": ("File formats", families.Format),
    "document": ("Documents of the dossier", families.Document),
}
"""Heading and base class of each family, in reading order."""
_OPTIONS = {"mask": "--step", "risk": "--measure", "utility": "--measure"}
"""Option of the command line that takes a method of the family."""


def pages() -> dict[str, str]:
    """Return the text of each page, by file name."""
    found = tacit.methods()
    texts = {page_name(method): method_page(method) for method in found}
    return texts | {
        "index.rst": index_page(found),
        "command-line.md": command_page(),
        "what-runs-where.rst": what_runs_where.page(found, _heading, _table, page_name),
    }


def write(folder: Path) -> None:
    """Write the pages, leave unchanged ones alone, and remove those of methods that are gone."""
    folder.mkdir(parents=True, exist_ok=True)
    texts = pages()
    drawn = {picture_name(method): method for method in tacit.methods("mask")}
    for stale in {path.name for path in folder.iterdir()} - texts.keys() - drawn.keys():
        (folder / stale).unlink()
    for name, method in drawn.items():
        draw_picture(method, folder / name)
    for name, text in texts.items():
        path = folder / name
        if not path.is_file() or path.read_text(encoding="utf-8") != text:
            path.write_text(text, encoding="utf-8")


def page_name(method) -> str:
    return f"{method.family}-{method.key}.rst"


def picture_name(method) -> str:
    return f"{method.family}-{method.key}.svg"


def draw_picture(method, path: Path) -> None:
    """Draw what a masking method does, unless the picture is newer than the method."""
    source = Path(inspect.getfile(method))
    if not path.is_file() or path.stat().st_mtime < source.stat().st_mtime:
        path.write_text(effect_pictures.picture(method), encoding="utf-8")


# -- pages ----------------------------------------------------------------------------------------


def index_page(found) -> str:
    parts = [_heading("Methods", "="), "Every method of the registry, one page each."]
    named = [*FAMILIES, *sorted({m.family for m in found} - FAMILIES.keys())]
    for family in named:
        members = [m for m in found if m.family == family]
        if members:
            title, base = FAMILIES.get(family, (family, None))
            parts += [_heading(title, "-"), inspect.getdoc(base) if base else ""]
            parts += [_table(("Key", "Method"), [_index_row(m) for m in members])]
    return "\n\n".join(filter(None, parts)) + "\n"


def _index_row(method) -> tuple[str, str]:
    page = page_name(method).removesuffix(".rst")
    return f"``{method.key}``", f":doc:`{method.title} <{page}>`: {method.summary()}"


def method_page(method) -> str:
    """Return the page of one method."""
    document = described(method)
    doc = NumpyDocString(document["documentation"])
    parts = [
        # Reached from the index of methods: the sidebar of every page need not list them all.
        ":orphan:",
        _heading(method.title, "="),
        " ".join(doc["Summary"]),
        f"Class ``{method.__module__.rpartition('.')[0]}.{method.__name__}``, "
        f"family ``{method.family}``, key ``{method.key}``. :doc:`All methods <index>`.",
        "\n".join(doc["Extended Summary"]),
        _picture(method),
        *_section("Parameters", parameter_table(document["parameters"])),
        *_section("Notes", "\n".join(doc["Notes"])),
        *_section("Under attack", under_attack.words(method)),
        *_section("How to write it", usage(method, document)),
        *_section("Examples", "\n".join(doc["Examples"])),
        *_section("Checked against", golden_tests(method)),
    ]
    text = with_citations("\n\n".join(filter(None, parts)), role="footcite:p")
    return text + _references(method, text)


def _picture(method) -> str:
    if method.family != "mask":
        return ""
    words = effect_pictures.alternative_text(method)
    caption = (
        "Left: single records. Right: the variable as a whole, original behind, release in front."
    )
    return f".. figure:: {picture_name(method)}\n   :alt: {words}\n\n   {caption}"


def _references(method, text: str) -> str:
    """Close the page with its sources; those of `cites` that the text never names come first."""
    unnamed = [key for key in method.cites if f":footcite:p:`{key}`" not in text]
    if not unnamed and ":footcite:p:" not in text:
        return "\n"
    sentence = f"See {', '.join(f':footcite:t:`{key}`' for key in unnamed)}." if unnamed else ""
    parts = [_heading("References", "-"), sentence, ".. footbibliography::"]
    return "\n\n" + "\n\n".join(filter(None, parts)) + "\n"


def usage(method, document) -> str:
    """Show the example in the library, in a plan file and on the command line."""
    if method.family == "format":
        endings = ", ".join(f"``{ending}``" for ending in method.suffixes)
        return f"File endings: {endings}." if endings else ""
    if method.family in ("rule", "protection"):
        return _table_usage(method)
    if method.family not in _OPTIONS or "example_step" not in document:
        return ""
    given = ", ".join(f"{name}={value!r}" for name, value in method.example.items())
    call = f"{method.family}.{method.__name__}({given})"
    parts = ["In the library:", _code("python", f"from tacit import {method.family}\n\n{call}")]
    if method.family == "mask":
        parts += ["In a plan file:", _code("toml", document["example_toml"])]
    option = f"{_OPTIONS[method.family]} {shlex.quote(document['example_step'])}"
    return "\n\n".join([*parts, "On the command line:", _code("text", option)])


def _table_usage(method) -> str:
    """Show a rule or a protection in the library and on the command line."""
    given = ", ".join(f"{name}={value!r}" for name, value in method.example.items())
    call = f"from tacit import tables\n\ntables.{method.__name__}({given})"
    text = method(**method.example).short() if method.family == "rule" else method.key
    option = f"tacit table --{'rule' if method.family == 'rule' else 'method'} {shlex.quote(text)}"
    return "\n\n".join(
        ["In the library:", _code("python", call), "On the command line:", _code("text", option)]
    )


def golden_tests(method) -> str:
    """Name the published results that the tests compare this method with."""
    folders = sorted(GOLDEN.glob(f"{method.key}*/source.md"))
    return "\n".join(
        f"* {_first_line(source)} (``{_relative(source.parent)}``)" for source in folders
    )


def _first_line(path: Path) -> str:
    lines = path.read_text(encoding="utf-8").splitlines()
    return next((line.lstrip("# ").rstrip(".") for line in lines if line.strip()), path.parent.name)


def _relative(path: Path) -> str:
    return path.relative_to(REPOSITORY).as_posix()


def command_page() -> str:
    """Return the page of the command line, as its own help describes it."""
    program = get_command(app)
    text = get_docs_for_click(obj=program, ctx=typer.Context(program), name="tacit")
    return text.replace("# `tacit`", "# Command line", 1)


# -- parameters -----------------------------------------------------------------------------------


def parameter_table(parameters) -> str:
    """Return the parameters with type, limits, default and help."""
    rows = [_parameter_row(parameter) for parameter in parameters]
    return _table(("Parameter", "Type and limits", "Default", "Meaning"), rows) if rows else ""


def _parameter_row(parameter) -> tuple[str, ...]:
    tried = ", ".join(map(str, parameter["try"]))
    meaning = " ".join(parameter["help"].split()) + (f" Worth trying: {tried}." if tried else "")
    default = "required" if parameter["required"] else _default(parameter["default"])
    kind = ", ".join([parameter["type"], *parameter["limits"]])
    return f"``{parameter['name']}``", kind, default, meaning


def _default(value) -> str:
    return "none" if value is None else f"``{json.dumps(value, ensure_ascii=False)}``"


# -- reStructuredText -----------------------------------------------------------------------------


@cache
def bibliography_keys() -> set[str]:
    """Return the keys of the bibliography."""
    return set(re.findall(r"^@\w+\{([^,\s]+),", BIBLIOGRAPHY.read_text(encoding="utf-8"), re.M))


def with_citations(text: str, *, role: str) -> str:
    """Turn ``[key]_`` and citation roles into one role, for keys of the bibliography."""
    keys = bibliography_keys()

    def cite(found: re.Match[str]) -> str:
        line = found.string[: found.start()].rpartition("\n")[2]
        if found[1] not in keys:
            return found[0]
        return found[1] if r"\text{" in line else f":{role}:`{found[1]}`"  # not in a formula

    text = re.sub(r":(?:foot)?cite:[pt]:`([\w,]+)`", rf":{role}:`\1`", text)
    return re.sub(r"\[([a-z]+\d{4}[a-z]?)\]_", cite, text)


def _heading(title: str, underline: str) -> str:
    return f"{title}\n{underline * len(title)}"


def _section(title: str, body: str) -> list[str]:
    return [_heading(title, "-"), body] if body.strip() else []


def _code(language: str, code: str) -> str:
    return f".. code-block:: {language}\n\n" + _indented(code.rstrip())


def _indented(text: str) -> str:
    return "\n".join(f"   {line}".rstrip() for line in text.split("\n"))


def _table(header: tuple[str, ...], rows: list[tuple[str, ...]]) -> str:
    lines = [".. list-table::", "   :header-rows: 1", ""]
    for row in (header, *rows):
        lines += [f"   {'*' if i == 0 else ' '} - {cell}" for i, cell in enumerate(row)]
    return "\n".join(lines)
