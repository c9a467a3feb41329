"""What people send to do harm, over REST: names, contents, repetitions, races, guesses."""

import io
import zipfile
from concurrent.futures import ThreadPoolExecutor

import pytest

from tacit.app.worker import Worker

PASSWORD = "correct horse battery"  # noqa: S105 - of people who live as long as a test
TABLE = {"by": [["name"]], "rule": "freq(2)", "method": {"method": "suppress-modular"}}


@pytest.fixture
def owner(client, people):
    """The custodian's program."""
    return client("The custodian")


@pytest.fixture
def empty(owner):
    """A project without data."""
    return owner.post("/api/v1/projects", json={"name": "Fresh"}).json()["id"]


@pytest.fixture
def sent(owner, empty, worker):
    """Return a function that uploads something, lets it be read, and tells how that ended."""

    def send(content, name="people.csv"):
        answer = owner.put(f"/api/v1/projects/{empty}/data", params={"name": name}, content=content)
        assert answer.status_code == 202, answer.text
        worker.step()
        return owner.get(f"/api/v1/jobs/{answer.json()['job']}").json()

    return send


# -- names -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "name",
    [
        "../../../evil.csv", "..\\..\\evil.csv", "/srv/evil.csv", "C:\\evil.csv", "a\x00b.csv",
        "<img src=x onerror=alert(1)>.csv", "=cmd|' /C calc'!A0.csv", "\u202egnp.csv",
        "a\r\nSet-Cookie: x=1.csv", "." * 50 + ".csv", "x" * 400 + ".csv", ".csv", "CON.csv",
        "{project}.csv", "ü'; DROP TABLE project; --.csv",
    ],
    ids=ascii,
)  # fmt: skip
def test_a_hostile_name_is_a_harmless_word(owner, empty, settings, name):
    answer = owner.put(f"/api/v1/projects/{empty}/data", params={"name": name}, content=b"a\n1\n")
    assert answer.status_code in (202, 422)
    made = [p for p in settings.folder.parent.rglob("*") if p.suffix == ".csv"]
    for path in made:
        assert path.parent == settings.projects / empty / "incoming"
        assert len(path.stem) == 32
        assert int(path.stem, 16)
    assert len(made) == (answer.status_code == 202)


def test_a_shown_name_keeps_no_folder(owner, empty, sent):
    assert sent(b"a,b\n1,2\n3,4\n", "../x/<b>people.csv")["state"] == "done"
    about = owner.get(f"/api/v1/projects/{empty}")
    assert about.json()["data"]["name"] == "<b>people.csv"
    assert about.headers["Content-Type"] == "application/json"
    assert about.headers["X-Content-Type-Options"] == "nosniff"


# -- contents --------------------------------------------------------------------------------------


def test_formulas_stay_text_inside_and_are_harmless_in_what_is_published(
    owner, empty, sent, worker, parts, people
):
    import polars as pl

    formula = '=HYPERLINK("http://evil.example","x")'
    rows = [formula, "@SUM(1+1)", "+1+cmd|' /C calc'!A0", "plain"] * 5
    content = io.BytesIO()
    pl.DataFrame({"name": rows, "n": range(20)}).write_csv(content)
    assert sent(content.getvalue())["state"] == "done"
    page = owner.get(f"/api/v1/projects/{empty}/data").json()
    assert formula in [row[0] for row in page["rows"]]
    job = owner.post(f"/api/v1/projects/{empty}/tables", json={"name": "t", "plan": TABLE})
    worker.step()
    done = owner.get(f"/api/v1/jobs/{job.json()['job']}").json()
    assert done["state"] == "done", done["message"]
    public = parts.versions.folder(empty, done["result"]["version"]) / "public"
    cells = [
        cell
        for path in public.glob("*.csv")
        for row in pl.read_csv(path, infer_schema=False, comment_prefix="#").rows()
        for cell in row
        if cell
    ]
    assert any("HYPERLINK" in cell for cell in cells)
    assert not any(cell.startswith(("=", "@", "+1+")) for cell in cells)
    for path in public.glob("*.xlsx"):
        with zipfile.ZipFile(path) as book:
            sheets = [n for n in book.namelist() if n.startswith("xl/worksheets/sheet")]
            assert not any(b"<f>" in book.read(name) for name in sheets)


def test_html_in_values_is_data(owner, empty, sent):
    assert sent(b"a,b\n<script>alert(1)</script>,2\nx,4\n")["state"] == "done"
    page = owner.get(f"/api/v1/projects/{empty}/data")
    assert page.headers["Content-Type"] == "application/json"
    assert page.json()["rows"][0][0] == "<script>alert(1)</script>"


def _bomb():
    content = io.BytesIO()
    with zipfile.ZipFile(content, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b"0" * (100 * 2**20))
    return content.getvalue()


def test_a_zip_bomb_is_refused_by_the_job(sent):
    ended = sent(_bomb(), "book.xlsx")
    assert ended["state"] == "failed"
    assert "unpacks to far more" in ended["message"]


@pytest.mark.parametrize(
    ("content", "name"),
    [
        ("name,n\nMüller,1\nß,2\n".encode("latin-1"), "latin.csv"),
        ("name,n\nMüller,1\nß,2\n".encode("utf-16"), "wide.csv"),
        (b"\xff\xfe\x00\x01\x02" * 50, "junk.csv"),
        (b"a,b\n\x00\x00,1\n", "nul.csv"),
        (b"a,b\n1,2,3,4\n5\n", "ragged.csv"),
        (b'a,b\n"unclosed,1\n2,3\n', "quote.csv"),
        (b"PAR1" + b"\x00" * 60 + b"PAR1", "broken.parquet"),
        (b"not a workbook", "broken.xlsx"),
        (b"\n\n\n", "blank.csv"),
        (b"a,a,A\n1,2,3\n", "doubles.csv"),
        (b"a\n" * 3, "same.csv"),
        (b"$FL2@(#)" + b"\x00" * 200, "broken.sav"),
        (b"<stata_dta>" + b"\x00" * 50, "broken.dta"),
    ],
    ids=lambda p: p if isinstance(p, str) else "",
)
def test_odd_contents_are_read_or_refused_in_words(sent, owner, empty, content, name):
    ended = sent(content, name)
    assert ended["state"] in ("done", "failed")
    assert "bug" not in ended["message"], ended["message"]
    if ended["state"] == "failed":
        assert owner.get(f"/api/v1/projects/{empty}").json()["data"] == {}


def test_what_could_not_be_read_is_not_kept(sent, settings, empty):
    assert sent(b"PAR1 nothing", "broken.parquet")["state"] == "failed"
    assert list((settings.projects / empty / "incoming").iterdir()) == []


def test_an_upload_that_is_called_off_is_not_kept(owner, empty, settings):
    answer = owner.put(
        f"/api/v1/projects/{empty}/data", params={"name": "a.csv"}, content=b"a\n1\n"
    )
    assert len(list((settings.projects / empty / "incoming").iterdir())) == 1
    owner.delete(f"/api/v1/jobs/{answer.json()['job']}")
    assert list((settings.projects / empty / "incoming").iterdir()) == []


@pytest.mark.parametrize("size", [4 * 2**30 + 1, 10**30])
def test_a_file_that_says_it_is_too_large_is_not_taken(owner, empty, settings, size):
    answer = owner.put(
        f"/api/v1/projects/{empty}/data", params={"name": "a.csv"}, content=b"a\n1\n",
        headers={"Content-Length": str(size)},
    )  # fmt: skip
    assert answer.status_code == 429
    assert "too large" in answer.json()["error"]["message"]
    assert not (settings.projects / empty / "incoming").exists()


def test_no_more_files_at_once_than_there_are_places(owner, empty, client):
    places = owner.app.state.uploads
    places.taken = places.most
    send = {"params": {"name": "a.csv"}, "content": b"a\n1\n"}
    refused = owner.put(f"/api/v1/projects/{empty}/data", **send)
    assert refused.status_code == 429
    assert "too many files" in refused.json()["error"]["message"]
    places.taken = 0
    assert owner.put(f"/api/v1/projects/{empty}/data", **send).status_code == 202
    assert places.taken == 0


@pytest.mark.parametrize("text", ["a\ud800b", "a\x00b"], ids=["surrogate", "nul"])
def test_text_that_no_database_takes_is_never_a_bug(owner, text):
    import json

    body = json.dumps({"name": "New", "description": text}).encode()
    answer = owner.post(
        "/api/v1/projects", content=body, headers={"Content-Type": "application/json"}
    )
    assert answer.status_code in (201, 422)
    for path in (f"/api/v1/projects/{'%00' if text[1] == chr(0) else '%ED%A0%80'}",):
        assert owner.get(path).status_code in (404, 422)


def test_a_plan_with_the_names_of_our_own_arguments_is_only_wrong(owner, project):
    for plan in ({"self": 1}, {"cls": 1, "by": 1}, {"__class__": 1}):
        answer = owner.post(f"/api/v1/projects/{project}/tables", json={"name": "t", "plan": plan})
        assert answer.status_code == 422
    edition = owner.get(f"/api/v1/projects/{project}").json()["edition"]
    for step in ({"method": "mdav", "self": 1}, {"method": 5}, {}, {"method": "../x"}):
        answer = owner.put(
            f"/api/v1/projects/{project}/plan", json={"steps": [step], "edition": edition}
        )
        assert answer.status_code == 422


def test_a_table_whose_rule_or_method_lacks_a_column_is_no_job(owner, project):
    for lacking in ({"rule": "p(10,level=holding)"}, {"method": {"method": "cell-key"}}):
        answer = owner.post(
            f"/api/v1/projects/{project}/tables", json={"name": "t", "plan": TABLE | lacking}
        )
        assert answer.status_code == 422
        assert "; choose " in answer.json()["error"]["message"]


# -- repetitions and races -------------------------------------------------------------------------


def test_sending_twice_with_one_key_is_one_job_even_after_it_is_done(owner, project, worker):
    ask = {"json": {"name": "v", "seed": 1}, "headers": {"Idempotency-Key": "k1"}}
    first = owner.post(f"/api/v1/projects/{project}/generate", **ask).json()
    assert owner.post(f"/api/v1/projects/{project}/generate", **ask).json() == first
    worker.step()
    assert owner.get(f"/api/v1/jobs/{first['job']}").json()["state"] == "done"
    assert owner.post(f"/api/v1/projects/{project}/generate", **ask).json() == first
    assert len(owner.get(f"/api/v1/projects/{project}/versions").json()) == 1


def test_a_key_that_was_used_for_something_else_is_refused(owner, project, empty):
    key = {"Idempotency-Key": "k1"}
    owner.post(f"/api/v1/projects/{project}/generate", json={"name": "v"}, headers=key)
    answer = owner.post(
        f"/api/v1/projects/{project}/tables", json={"name": "t", "plan": TABLE}, headers=key
    )
    assert answer.status_code == 409
    send = {"params": {"name": "a.csv"}, "content": b"a\n1\n", "headers": key}
    assert owner.put(f"/api/v1/projects/{empty}/data", **send).status_code == 409


def test_one_key_at_the_same_time_is_one_job_and_one_file(owner, empty, settings):
    def send(_number):
        return owner.put(
            f"/api/v1/projects/{empty}/data", params={"name": "a.csv"}, content=b"a\n1\n",
            headers={"Idempotency-Key": "k1"},
        )  # fmt: skip

    with ThreadPoolExecutor(4) as pool:
        answers = list(pool.map(send, range(4)))
    assert {a.status_code for a in answers} == {202}
    assert len({a.json()["job"] for a in answers}) == 1
    assert len(list((settings.projects / empty / "incoming").iterdir())) == 1


def test_of_two_who_edit_at_the_same_time_one_is_told(owner, project):
    edition = owner.get(f"/api/v1/projects/{project}").json()["edition"]
    sizes = range(4, 9)  # not 3, the default, which a plan does not write down

    def edit(k):
        steps = [{"method": "mdav", "columns": ["income"], "k": k}]
        return owner.put(
            f"/api/v1/projects/{project}/plan", json={"steps": steps, "edition": edition}
        )

    with ThreadPoolExecutor(5) as pool:
        answers = list(pool.map(edit, sizes))
    assert sorted(a.status_code for a in answers) == [200, 409, 409, 409, 409]
    winner = next(k for k, a in zip(sizes, answers, strict=True) if a.status_code == 200)
    about = owner.get(f"/api/v1/projects/{project}").json()
    assert about["plan"][0]["k"] == winner
    assert about["edition"] == edition + 1


def test_one_name_at_the_same_time_is_one_project(owner, people):
    with ThreadPoolExecutor(5) as pool:
        answers = list(
            pool.map(lambda _: owner.post("/api/v1/projects", json={"name": "Same"}), range(5))
        )
    assert sorted(a.status_code for a in answers) == [201, 409, 409, 409, 409]


def test_two_workers_make_one_version_of_one_name(owner, project, settings, parts, people):
    ids = [
        owner.post(f"/api/v1/projects/{project}/generate", json={"name": "v", "seed": s}).json()
        for s in (1, 2)
    ]
    workers = [Worker(settings), Worker(settings)]
    with ThreadPoolExecutor(2) as pool:
        list(pool.map(lambda w: w.step(), workers))
    for one in workers:
        one.store.close()
    states = sorted(owner.get(f"/api/v1/jobs/{i['job']}").json()["state"] for i in ids)
    assert states == ["done", "failed"]
    (made,) = owner.get(f"/api/v1/projects/{project}/versions").json()
    kept = (settings.projects / project / "versions").iterdir()
    assert [path.name for path in kept] == [made["id"]]


# -- guesses ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "guess", ["%25", "*", "0" * 32, "census", "Census", "..%2f..", "null", "1 OR 1=1", "'"]
)
def test_an_id_is_not_guessed(owner, project, guess):
    for path in (f"projects/{guess}", f"versions/{guess}", f"jobs/{guess}"):
        answer = owner.get(f"/api/v1/{path}")
        assert answer.status_code == 404
        assert project not in answer.text


def test_keys_open_nothing_of_others_and_die_with_their_owner(client, parts, people, project):
    program = client()
    address = f"/api/v1/projects/{project}"

    def status(key):
        return program.get(address, headers={"Authorization": f"Bearer {key}"}).status_code

    mine = parts.accounts.create_token(people["custodian"], "mine")
    other = parts.accounts.create_token(people["stranger"], "other")
    assert (status(mine), status(other)) == (200, 404)
    assert status(mine[:-1]) == status(mine.upper()) == status("") == 401
    own = client("Stranger")
    (listed,) = parts.accounts.tokens(people["custodian"])
    assert own.delete(f"/api/v1/keys/{listed['id']}").status_code == 404
    assert status(mine) == 200
    parts.accounts.revoke_token(people["custodian"], listed["id"])
    assert status(mine) == 401
    parts.accounts.change(people["administrator"], people["stranger"].id, active=False)
    assert status(other) == 401


def test_a_key_does_not_override_a_browser_that_is_somebody_else(client, parts, people):
    """The key says who asks, whatever cookie comes along."""
    program = client("Root")
    key = parts.accounts.create_token(people["analyst"], "k")
    answer = program.get("/api/v1/accounts", headers={"Authorization": f"Bearer {key}"})
    assert answer.status_code == 403


def test_wrong_passwords_lock_the_account_for_a_while(client, people):
    program = client()
    wrong = {"name": "Root", "password": "wrong"}
    statuses = [program.post("/api/v1/session", json=wrong).status_code for _ in range(7)]
    assert statuses == [401] * 5 + [429] * 2
    right = {"name": "Root", "password": PASSWORD}
    assert program.post("/api/v1/session", json=right).status_code == 429
