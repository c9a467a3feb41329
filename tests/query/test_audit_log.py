import json
import os
import subprocess
import sys
from datetime import UTC, datetime

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from tacit.core.errors import DataError, ParameterError, WriteError
from tacit.query.audit_log import AuditLog, digest, verify_log

KEY = b"a key of more than sixteen bytes"
PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.text()
    | st.floats(allow_nan=False).filter(lambda x: abs(x) != float("inf")),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(), inner, max_size=3),
    max_leaves=8,
)


def _log(path, n=8, **settings):
    log = AuditLog(path, key=KEY, durable=False, **settings)
    for i in range(n):
        log.append({"analysis": "crosstab", "by": [f"v{i}"]}, {"status": "answered"}, user="Zoë")
    return log


@pytest.fixture
def path(tmp_path):
    _log(tmp_path / "audit.jsonl")
    return tmp_path / "audit.jsonl"


def _kinds(path, **more):
    return {problem.kind for problem in verify_log(path, key=KEY, **more).problems}


def _rewrite(path, change):
    lines = path.read_bytes().splitlines(keepends=True)
    path.write_bytes(b"".join(change(lines)))


def test_a_whole_log_is_whole(path):
    check = verify_log(path, key=KEY)
    assert check.ok
    assert check.n_entries == 9
    assert str(check) == "9 entries, whole"


@pytest.mark.parametrize("line", range(9))
def test_an_edited_entry_is_found_where_it_stands(path, line):
    def edit(lines):
        lines[line] = lines[line].replace(b'"user":', b'"user" :')
        return lines

    _rewrite(path, edit)
    found = verify_log(path, key=KEY).problems
    assert [(p.kind, p.line) for p in found] == [("edited", line + 1)]


@pytest.mark.parametrize("line", range(9))
def test_a_dropped_entry_is_found_where_it_stood(path, line):
    _rewrite(path, lambda lines: lines[:line] + lines[line + 1 :])
    check = verify_log(path, key=KEY)
    assert not check.ok
    if line == 8:
        assert {p.kind for p in check.problems} == {"truncated"}
    else:
        dropped = [p for p in check.problems if p.kind == "dropped"]
        assert [(p.line, p.what.rsplit(" ", 1)[1]) for p in dropped] == [(line + 1, str(line))]


@pytest.mark.parametrize("kept", range(9))
def test_truncation_at_the_end_is_found(path, kept):
    _rewrite(path, lambda lines: lines[:kept])
    found = verify_log(path, key=KEY).problems
    assert [p.kind for p in found] == ["truncated"]
    assert f"{9 - kept} of 9" in found[0].what
    with pytest.raises(DataError, match="missing at the end"):
        AuditLog(path, key=KEY)


@settings(
    max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(order=st.permutations(range(9)))
def test_any_other_order_is_found(path, order):
    before = path.read_bytes()
    try:
        _rewrite(path, lambda lines: [lines[i] for i in order])
        check = verify_log(path, key=KEY)
        assert check.ok == (list(order) == sorted(order))
        assert check.ok or {p.kind for p in check.problems} <= {"reordered"}
    finally:
        path.write_bytes(before)


@settings(
    max_examples=150, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(data=st.data())
def test_any_changed_byte_is_found(path, data):
    before = path.read_bytes()
    at = data.draw(st.integers(0, len(before) - 1))
    byte = data.draw(st.integers(0, 255).filter(lambda b: b != before[at]))
    try:
        path.write_bytes(before[:at] + bytes([byte]) + before[at + 1 :])
        assert not verify_log(path, key=KEY).ok
    finally:
        path.write_bytes(before)


@settings(
    max_examples=60, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
@given(cut=st.integers(0, 5000))
def test_any_cut_is_found(path, cut):
    before = path.read_bytes()
    cut %= len(before)
    try:
        path.write_bytes(before[:cut])
        assert not verify_log(path, key=KEY).ok
    finally:
        path.write_bytes(before)


def test_repeated_and_foreign_entries_are_found(path, tmp_path):
    _rewrite(path, lambda lines: [*lines[:3], lines[2], *lines[3:]])
    assert _kinds(path) == {"repeated"}
    _log(tmp_path / "other.jsonl", clock=lambda: datetime(2000, 1, 1, tzinfo=UTC))
    other = (tmp_path / "other.jsonl").read_bytes().splitlines(keepends=True)
    _rewrite(path, lambda lines: [*lines[:3], *lines[4:5], other[4], *lines[6:]])
    assert "spliced" in _kinds(path)


def test_a_chain_rebuilt_without_the_key_is_found(path):
    """The forger has everything but the key: new hashes throughout, old seals."""
    import hashlib

    from tacit.query._audit_verify import canonical

    def forge(lines):
        previous = "0" * 64
        for i, line in enumerate(lines):
            found = json.loads(line)
            body = {**found["entry"], "previous": previous}
            if i == 4:
                body["outcome"] = {"status": "refused"}
            previous = hashlib.sha256(canonical(body)).hexdigest()
            end = f',"hash":"{previous}","seal":"{found["seal"]}"}}\n'
            yield b'{"entry":' + canonical(body) + end.encode()

    _rewrite(path, lambda lines: list(forge(lines)))
    assert verify_log(path, key=None).ok, "the chain alone cannot tell"
    found = verify_log(path, key=KEY).problems
    assert [p.line for p in found if p.kind == "forged"] == [5, 6, 7, 8, 9]
    assert [p.line for p in found if p.kind == "checkpoint"] == [0]


def test_a_missing_or_foreign_checkpoint_is_found(path):
    head = path.with_name("audit.jsonl.head")
    head.write_text(head.read_text().replace("9 ", "8 ", 1))
    assert _kinds(path) == {"checkpoint"}
    head.unlink()
    assert _kinds(path) == {"checkpoint"}
    with pytest.raises(DataError, match="checkpoint"):
        AuditLog(path, key=KEY)


def test_an_old_copy_put_back_is_found_with_an_anchor(path):
    head = path.with_name("audit.jsonl.head")
    old = path.read_bytes(), head.read_bytes()
    log = _log(path, n=2)
    anchor = log.anchor
    _log(path, n=1)
    assert verify_log(path, key=KEY, anchor=anchor).ok
    path.write_bytes(old[0])
    head.write_bytes(old[1])
    assert verify_log(path, key=KEY).ok, "log and checkpoint agree: only an anchor helps"
    assert _kinds(path, anchor=anchor) == {"truncated"}
    assert _kinds(path, anchor="11 made up") == {"anchor"}


def test_another_key_opens_nothing(path):
    other = b"another key of sixteen bytes..."
    assert not verify_log(path, key=other).ok
    with pytest.raises(DataError):
        AuditLog(path, key=other)


@pytest.mark.parametrize("torn", [1, 7, 120])
def test_a_line_half_written_is_set_aside_and_told(path, torn):
    line = path.read_bytes().splitlines(keepends=True)[-1]
    with path.open("ab") as log:
        log.write(line[:torn])
    assert _kinds(path) == {"torn"}
    log = AuditLog(path, key=KEY)
    assert log.verify().ok
    assert path.with_name("audit.jsonl.torn").read_bytes() == line[:torn] + b"\n"
    last = list(log.entries())[-1]
    assert last.kind == "recovered"
    assert last.outcome["torn line"]["bytes"] == torn


def test_a_crash_between_line_and_checkpoint_loses_nothing(tmp_path):
    path = tmp_path / "audit.jsonl"
    head = path.with_name("audit.jsonl.head")
    _log(path, n=1)
    old = head.read_bytes()
    _log(path, n=1)
    head.write_bytes(old)
    assert verify_log(path, key=KEY).ok
    assert len(AuditLog(path, key=KEY)) == 3


def test_a_crash_while_the_log_is_made_is_mended(tmp_path):
    path = tmp_path / "audit.jsonl"
    log = _log(path, n=0)
    path.write_bytes(b'{"ent')
    path.with_name("audit.jsonl.head").write_text(log._keys.anchor(0, "0" * 64))
    assert AuditLog(path, key=KEY).verify().ok


def test_a_process_killed_while_writing_leaves_a_log_that_opens(tmp_path):
    path = tmp_path / "audit.jsonl"
    code = (
        "import sys; from tacit.query.audit_log import AuditLog\n"
        f"log = AuditLog({str(path)!r}, key={KEY!r})\n"
        "print('ready', flush=True)\n"
        "while True: log.append({'x': 'y' * 5000}, {})\n"
    )
    with subprocess.Popen([sys.executable, "-c", code], stdout=subprocess.PIPE) as process:
        process.stdout.readline()
        while not path.stat().st_size > 100_000:
            pass
        process.kill()
    log = AuditLog(path, key=KEY)
    assert log.verify().ok
    assert len(log) > 15


def test_a_disk_that_fails_leaves_no_half_line(path, monkeypatch):
    log = AuditLog(path, key=KEY)
    before = path.read_bytes()
    write = os.write

    def full(descriptor, content):
        if len(content) > 100:
            return write(descriptor, content[:50])
        raise OSError(28, "No space left on device")

    monkeypatch.setattr("tacit.query._audit_store.os.write", full)
    with pytest.raises(WriteError, match="nothing is answered"):
        log.append({"x": 1}, {})
    monkeypatch.undo()
    assert path.read_bytes() == before
    log.append({"x": 1}, {})
    assert log.verify().ok


def test_two_writers_share_one_log(path):
    first, second = AuditLog(path, key=KEY), AuditLog(path, key=KEY)
    for i in range(5):
        (first if i % 2 else second).append({"i": i}, {})
    assert first.verify().ok
    assert verify_log(path, key=KEY).n_entries == 14


def test_identities_are_kept_only_as_configured(tmp_path):
    names = {}
    for mode in ("none", "pseudonym", "plain"):
        file = tmp_path / mode
        log = _log(file, n=2, identities=mode)
        names[mode] = {entry.user for entry in log.requests()}
        assert ("Zo" in file.read_text()) == (mode == "plain")
    assert names["none"] == {None}
    assert names["plain"] == {"Zoë"}
    assert len(names["pseudonym"]) == 1
    other = AuditLog(None, key=b"another key of sixteen bytes...")
    other.append({}, {}, user="Zoë")
    assert {e.user for e in other.requests()} != names["pseudonym"], "pseudonyms need the key"


@settings(max_examples=60, deadline=None)
@given(
    request=st.dictionaries(st.text(), PLAIN, max_size=4), outcome=st.dictionaries(st.text(), PLAIN)
)
def test_requests_come_back_as_they_went_in(request, outcome):
    log = AuditLog(None, key=KEY)
    log.append(request, outcome)
    entry = next(log.requests())
    assert entry.request == request
    assert entry.outcome == outcome
    assert log.verify().ok


def test_replay_names_what_would_be_answered_otherwise():
    log = AuditLog(None, key=KEY)
    for i in range(4):
        log.append({"i": i}, {"answer": i * i})
    assert log.replay(lambda request: {"answer": request["i"] ** 2}) == []
    changed = log.replay(lambda request: {"answer": min(request["i"] ** 2, 4)})
    assert [entry.request for entry in changed] == [{"i": 3}]


def test_keys_that_are_not_text_are_kept_as_text():
    log = AuditLog(None, key=KEY)
    log.append({10: "ten", 9: "nine", 100: "hundred"}, {})
    assert log.verify().ok
    assert digest({1: 2}) == digest({"1": 2})


@pytest.mark.parametrize("bad", [float("nan"), float("inf"), object(), {1, 2}, b"x"])
def test_what_is_not_plain_data_is_refused_and_nothing_is_written(path, bad):
    log = AuditLog(path, key=KEY)
    before = path.read_bytes()
    with pytest.raises(ParameterError, match="plain data"):
        log.append({"x": bad}, {})
    assert path.read_bytes() == before
    assert log.verify().ok


@pytest.mark.parametrize("key", [b"", b"short", "a text of sixteen letters", None])
def test_bad_keys_are_refused(key):
    with pytest.raises(ParameterError, match="16 secret bytes"):
        AuditLog(None, key=key)


def test_bad_settings_are_refused(tmp_path):
    with pytest.raises(ParameterError, match="identities"):
        AuditLog(None, key=KEY, identities="names")
    with pytest.raises(DataError, match="no audit log"):
        verify_log(tmp_path / "none", key=KEY)


def test_a_hostile_number_does_not_hang_the_check(path):
    _rewrite(path, lambda lines: [*lines, lines[-1].replace(b'"n":8', b'"n":' + b"9" * 30)])
    assert "edited" in _kinds(path)
    path.write_bytes(path.read_bytes() + b'{"entry":' + b"[" * 100_000 + b"\n")
    assert "edited" in _kinds(path)


def test_files_are_for_the_owner_only(path):
    if os.name == "posix":
        assert path.stat().st_mode & 0o077 == 0
        assert path.with_name("audit.jsonl.head").stat().st_mode & 0o077 == 0
