"""tacit logs: an AOL-format file end to end."""

import json
from collections import Counter

import polars as pl
import pytest

SMALL = ["-n", 60]


@pytest.fixture
def sample(run, folder):
    result = run("logs", "sample", "log.txt.gz", *SMALL)
    assert result.exit_code == 0, result.stderr
    return "log.txt.gz"


def test_from_a_file_to_a_release_with_report_and_attack(run, folder, sample):
    result = run("logs", "anonymize", sample, "-o", "out", "--seed", 3)
    assert result.exit_code == 0, result.stderr
    assert "of users in the original log" in result.stdout
    assert "out/dossier/report.html" in result.stdout
    assert (folder / "out/public/log.txt").is_file()
    assert (folder / "out/dossier/report.html").is_file()
    again = run("logs", "attack", sample, "-r", "out", "--known", 5)
    assert again.exit_code == 0, again.stderr
    assert "User k-anonymity" in again.stdout


def test_json_and_repeatability(run, folder, sample):
    for out in ("a", "b"):
        result = run("logs", "anonymize", sample, "-o", out, "--seed", 3, "-k", 4, "--json")
        document = json.loads(result.stdout)
        measured = {m["measure"]: m for m in document["measurements"]}
        assert measured["user-k-anonymity"]["value"] >= 4
        assert measured["known-queries"]["details"]["largest_probability"] <= 0.25 + 1e-9
    files = [(folder / out / "public/log.txt").read_bytes() for out in ("a", "b")]
    assert files[0] == files[1]


def test_details_taxonomies_and_variants(run, folder, sample):
    (folder / "t.csv").write_text("term,category\nflu,Health\ndiet,Health\npie,Home\n")
    result = run(
        "logs", "anonymize", sample, "-o", "out", "--taxonomy", "t.csv", "--match", "spelling",
        "--time", "week", "--url", "domain", "--session-gap", 30, "--partition", "mdav", "--fill",
        "--compress", "--categories", 1, "--levels", 1, "--min-users", 3,
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr
    lines = pl.read_csv(folder / "out/public/log.txt.gz", separator="\t", quote_char=None)
    assert lines["QueryTime"].str.ends_with("00:00:00").all()
    assert not lines["ClickURL"].drop_nulls().str.contains("http").any()


def test_other_columns(run, folder):
    rows = "".join(f"{n},apple pie\n{n},chess opening\n" for n in range(9))
    (folder / "log.csv").write_text("who,asked\n" + rows)
    result = run(
        "logs", "anonymize", "log.csv", "-o", "out", "--separator", ",", "--column", "user=who",
        "--column", "query=asked", "--fill",
    )  # fmt: skip
    assert result.exit_code == 0, result.stderr


def test_a_hostile_log_leaks_nothing_into_the_public_folder(run, folder):
    """Identifiers, times of day, paths, hosts of one user, scripts: none of it may be seen."""
    words = ["flu", "risotto", "=HYPERLINK(1)", "<script>alert(1)</script>", "apple pie"]
    rows = [
        f"SECRET{u:03}\t{words[(u + n) % 5]}\t2006-03-{u % 28 + 1:02} 07:13:{n + 11}\t7\t"
        f"http://{'common' if n else f'only{u}'}.example/path{u}?token={u}"
        for u in range(30)
        for n in range(6)
    ]
    text = "AnonID\tQuery\tQueryTime\tItemRank\tClickURL\r\n" + "\r\n".join(rows)
    (folder / "log.txt").write_text("\ufeff" + text, encoding="utf-8")
    result = run("logs", "anonymize", "log.txt", "-o", "out", "--time", "day", "--url", "host")
    assert result.exit_code == 0, result.stderr
    public = b"".join(p.read_bytes() for p in (folder / "out/public").iterdir())
    for secret in (b"SECRET", b"07:13", b"path", b"token", b"only", b"http"):
        assert secret not in public, secret
    assert b"common.example" in public
    assert "<script>" not in (folder / "out/dossier/report.html").read_text(encoding="utf-8")
    logs_of = {}
    for line in public.split(b"ClickURL\n")[1].splitlines():
        user, _, rest = line.partition(b"\t")
        logs_of.setdefault(user, []).append(rest)
    counts = Counter(tuple(sorted(lines)) for lines in logs_of.values())
    assert min(counts.values()) >= 3


def test_no_cleaning_is_pointed_out(run, sample):
    result = run("logs", "anonymize", sample, "-o", "out", "--no-cleaning")
    assert "was not cleaned" in result.stderr


def test_the_attack_shows_a_forged_release(run, folder, sample):
    """Somebody swaps the public file for the original log: the attack must say so."""
    run("logs", "anonymize", sample, "-o", "out", "--seed", 3)
    from tacit import logs
    from tacit.logs.saving import write_frame

    truth = pl.read_parquet(folder / "out/dossier/users.parquet")
    original = logs.read(folder / sample).frame
    forged = original.join(truth, on="user").select(user="pseudonym", query="query")
    write_frame(forged, folder / "out/public/log.txt")
    result = run("logs", "attack", sample, "-r", "out")
    assert "above 1/3" in result.stderr


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["anonymize", "none.txt", "-o", "x"], "no such file"),
        (["anonymize", "log.txt.gz", "-o", "x", "-k", 61], "needs at least 61 users"),
        (["anonymize", "log.txt.gz", "-o", "x", "-k", 1], "greater than or equal to 2"),
        (["anonymize", "log.txt.gz", "-o", "x", "--time", "hour"], "belong together"),
        (["anonymize", "log.txt.gz", "-o", "x", "--taxonomy", "no.csv"], "taxonomy could not"),
        (["anonymize", "log.txt.gz", "-o", "x", "--match", "magic"], "cannot be matched"),
        (["anonymize", "log.txt.gz", "-o", "x", "--column", "user"], "PART=NAME"),
        (["anonymize", "log.txt.gz", "-o", "x", "--seed", -1], "0 or above"),
        (["anonymize", "log.txt.gz", "-o", "x", "--separator", "ab"], "one ASCII character"),
        (["anonymize", "log.txt.gz", "-o", "x", "--session-gap", 30], "sessions need times"),
        (["anonymize", "log.txt.gz", "-o", "x", "--taxonomy", "categories:none"], "no such file"),
        (["anonymize", "log.txt.gz", "-o", "."], "exists already"),
        (["attack", "log.txt.gz", "-r", "."], "not the folder of a protected"),
    ],
)
def test_refusals_leave_nothing(run, refusal, folder, sample, words, said):
    assert said in refusal(run("logs", *words))
    assert sorted(p.name for p in folder.iterdir()) == [sample]
