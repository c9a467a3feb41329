"""Log lines: JSON, and no value of a record in them."""

import io
import json
import logging

import pytest

from tacit.app.logging_setup import JsonLines, places, set_up

VALUE = "income of P00000001 is 14991.52"


@pytest.fixture
def stream():
    """Log to a text as a served app does, and put everything back afterwards."""
    root = logging.getLogger()
    before, level = list(root.handlers), root.level
    ours = logging.getLogger("tacit").level
    target = io.StringIO()
    set_up(target)
    yield target
    root.handlers[:] = before
    root.setLevel(level)
    logging.getLogger("tacit").setLevel(ours)
    logging.captureWarnings(False)


def _lines(stream):
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def _raise():
    raise RuntimeError(VALUE)


def test_our_own_lines_keep_their_words_and_fields(stream):
    logging.getLogger("tacit.requests").info(
        "request", extra={"fields": {"route": "/x", "status": 200, "message": "not this"}}
    )
    (line,) = _lines(stream)
    assert line["message"] == "request"
    assert (line["route"], line["status"], line["level"]) == ("/x", 200, "info")
    assert line["time"].endswith("+00:00")


@pytest.mark.parametrize("name", ["tacit.app", "nicegui", "uvicorn.error", "sqlalchemy.pool"])
def test_an_error_tells_its_kind_and_place_but_not_its_text(stream, name):
    try:
        _raise()
    except RuntimeError:
        logging.getLogger(name).exception("it failed")
    (line,) = _lines(stream)
    assert line["error"] == "RuntimeError"
    assert line["trace"][-1].startswith("test_logging_setup.py:")
    assert line["trace"][-1].endswith("_raise")
    assert "14991" not in stream.getvalue()


def test_words_of_other_libraries_are_not_repeated(stream):
    """NiceGUI logs an exception as the message itself."""
    logging.getLogger("nicegui").error(RuntimeError(VALUE))
    logging.getLogger("polars").warning("could not parse %s", VALUE)
    logging.getLogger("other").warning(f"could not parse {VALUE}")
    lines = _lines(stream)
    assert len(lines) == 3
    assert "14991" not in stream.getvalue()
    assert all(line["message"].startswith("a message of") for line in lines)


def test_a_line_stays_a_line(stream):
    logging.getLogger("tacit.app").warning('two\nlines "quoted" \u2028 ü')
    assert len(stream.getvalue().splitlines()) == 1
    assert _lines(stream)[0]["message"] == "two"


def test_a_whole_request_logs_no_name_and_no_address(stream, client, project):
    program = client("The custodian")
    program.get(f"/api/v1/projects/{project}")
    program.put(f"/api/v1/projects/{project}/data?name=secret-file.csv", content=b"a\n1\n")
    text = stream.getvalue()
    assert "/api/v1/projects/{project}/data" in text
    for hidden in (project, "secret-file", "ustodian", "Census"):
        assert hidden not in text


def test_a_long_way_is_cut_to_its_end():
    def deep(n):
        if n:
            return deep(n - 1)
        return _raise()

    try:
        deep(30)
    except RuntimeError as error:
        found = places(error.__traceback__)
    assert len(found) == 12
    assert found[-1].endswith("_raise")


def test_a_line_is_written_whatever_is_logged():
    record = logging.LogRecord("tacit.x", logging.INFO, "f", 1, "", (), None)
    record.fields = {"odd": object()}
    assert json.loads(JsonLines().format(record))["message"] == ""
