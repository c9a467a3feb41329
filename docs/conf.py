"""Sphinx configuration; nothing is fetched while building or reading the pages."""

import sys
from functools import cache
from pathlib import Path, PurePosixPath

import furo
import pybtex.plugin
from sphinx.search.en import SearchEnglish

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))

import generate_reference  # noqa: E402

import tacit  # noqa: E402

project = "tacit"
author = "The tacit developers"
copyright = "the tacit developers"
version = release = tacit.__version__

extensions = [
    "mathml",
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinxcontrib.bibtex",
]
exclude_patterns = ["_build"]
default_role = "py:obj"

html_theme = "furo"
html_title = f"tacit {version}"
html_math_renderer = "mathml"
html_copy_source = False

myst_enable_extensions = ["colon_fence", "deflist", "dollarmath"]
myst_heading_anchors = 3

# Every citation looks for its style in all installed packages; once is enough.
pybtex.plugin._load_entry_point = cache(pybtex.plugin._load_entry_point)
# The index of the search meets the same words on every page.
SearchEnglish.stem = cache(SearchEnglish.stem)
bibtex_bibfiles = ["references.bib"]
bibtex_reference_style = "author_year"

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "documented"
# Members come from autodoc's own options; numpydoc would repeat those of pydantic's base class.
numpydoc_show_class_members = False


def _use_bibliography(app, what, name, obj, options, lines):
    """Let docstrings cite the one bibliography with ``[key]_``."""
    lines[:] = generate_reference.with_citations("\n".join(lines), role="cite:t").split("\n")


def _navigation_tree(context, *, made={}, make=furo._compute_navigation_tree):  # noqa: B006
    """Lay out the menu once for all pages of a folder that are not in the menu themselves."""
    if "orphan" not in (context.get("meta") or {}):
        return make(context)
    folder = PurePosixPath(context["pagename"]).parent
    if folder not in made:
        made[folder] = make(context)
    return made[folder]


# To lay out the menu takes longer than all the rest of a page.
furo._compute_navigation_tree = _navigation_tree


def _write_reference(app):
    generate_reference.write(HERE / "reference" / "methods")


def setup(app):
    app.connect("builder-inited", _write_reference)
    # Before numpydoc (priority 500), which would rename the citations.
    app.connect("autodoc-process-docstring", _use_bibliography, priority=400)
