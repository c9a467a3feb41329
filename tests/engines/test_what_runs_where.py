"""The page of what runs where says what the code does, and running it shows that it is so."""

import importlib
from pathlib import Path

import duckdb
import narwhals as nw
import pytest

import tacit

DOCS = Path(__file__).resolve().parents[2] / "docs"
DATA = tacit.datasets.census(600)
RECORD_METHODS = [m for f in ("mask", "risk", "utility") for m in tacit.methods(f)]


def test_the_page_has_every_method_in_its_place(monkeypatch):
    monkeypatch.syspath_prepend(DOCS)
    page = importlib.import_module("generate_reference").pages()["what-runs-where.rst"]
    words = {"native": "in the engine", "blocks": "per block", "collect": "collected"}
    for method in RECORD_METHODS:
        line = page.index(f":doc:`{method.title} <{method.family}-{method.key}>`")
        assert page[line:].split("\n")[1].strip() == f"- {words[method.at_scale]}"


@pytest.mark.parametrize(
    "method", [m for m in RECORD_METHODS if m.at_scale == "native"], ids=lambda m: m.key
)
def test_a_native_method_takes_no_records_out_of_the_engine(method, monkeypatch):
    """Every frame that leaves the engine is watched: none may be as long as the file."""
    monkeypatch.setattr("tacit.core.engine_keys.MANY_RECORDS", 10)
    lengths = []
    plain = nw.LazyFrame.collect

    def watched(self, *arguments, **options):
        found = plain(self, *arguments, **options)
        lengths.append(len(found))
        return found

    data = tacit.Microdata.of(duckdb.from_arrow(DATA.frame.to_arrow())).with_schema(DATA.schema)
    monkeypatch.setattr(nw.LazyFrame, "collect", watched)
    step = method(**method.example)
    if method.family == "mask":
        released = step.apply(data, None)
        assert released.lazy.implementation is nw.Implementation.DUCKDB
    else:
        step.measure(data)
    assert lengths
    assert max(lengths) < DATA.n_records


def test_blocks_are_only_promised_by_methods_that_do_not_look_beyond_them():
    """Synthesis, sampling and generalisation look at the whole file: they must not say blocks."""
    for key in (
        "generalise",
        "mondrian",
        "sample",
        "synthesise",
        "partitioned-mdav",
        "random-order",
    ):
        assert tacit.find(key, "mask").at_scale == "collect"
