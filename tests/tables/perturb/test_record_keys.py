"""Record keys: secret, the same everywhere, uniform, and never public."""

import duckdb
import numpy as np
import polars as pl
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import tacit
from tacit import mask, tables
from tacit.core.errors import DataError, ParameterError, SchemaError
from tacit.tables.perturb._aes import authenticated, derived_key, encrypted
from tacit.tables.perturb.record_keys import MODULUS

SECRET = "a long and secret phrase"  # noqa: S105 - of made-up people


def test_the_cipher_is_that_of_the_standard():
    """FIPS 197, appendix C.3: AES-256 of one block."""
    key = bytes(range(32))
    block = np.frombuffer(bytes.fromhex("00112233445566778899aabbccddeeff"), np.uint8)[None]
    assert encrypted(key, block).tobytes().hex() == "8ea2b7ca516745bfeafc49904b496089"


def test_keys_of_a_purpose_are_those_of_hkdf():
    """RFC 5869, test case 3, cut to 32 bytes: no salt, no info."""
    made = derived_key(bytes.fromhex("0b" * 22), "")
    assert made.hex() == "8da4e775a563c18f715f802a063c5a31b8a11f5c5ee1879ec3454e5f3c738d2d"


def by_hand(key, text):
    """CBC-MAC with the length in front, one text at a time with the cipher of the library."""
    from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes

    encrypt = Cipher(algorithms.AES256(key), modes.ECB()).encryptor()  # noqa: S305
    raw = text.encode()
    state = encrypt.update(len(raw).to_bytes(8, "little") + bytes(8))
    for at in range(0, len(raw), 16):
        block = raw[at : at + 16].ljust(16, b"\0")
        state = encrypt.update(bytes(a ^ b for a, b in zip(state, block, strict=True)))
    return state


@settings(max_examples=40)
@given(st.lists(st.text(max_size=60), min_size=1, max_size=8))
def test_many_texts_at_once_give_what_each_gives_alone(texts):
    raw = [text.encode("utf-8", "surrogatepass") for text in texts]
    texts = [r.decode("utf-8", "ignore") for r in raw]
    raw = [text.encode() for text in texts]
    key = bytes(range(32))
    data = np.frombuffer(b"".join(raw) or b"\0", np.uint8)
    offsets = np.concatenate([[0], np.cumsum([len(r) for r in raw])])
    found = authenticated(key, (data, offsets))
    assert [row.tobytes() for row in found] == [by_hand(key, text) for text in texts]


def test_a_unit_has_the_same_keys_whatever_the_type_and_order():
    keys = tables.unit_keys([17, 4, 17], SECRET)
    assert keys.tolist()[0] == keys.tolist()[2]
    assert tables.unit_keys(["4", "17"], SECRET).tolist() == keys[[1, 0]].tolist()
    assert tables.unit_keys(pl.Series([17.0, 4.0]), SECRET).tolist() == keys[:2].tolist()
    assert tables.unit_keys(["日本", "x" * 1000], SECRET).shape == (2, 2)
    assert tables.unit_keys([], SECRET).shape == (0, 2)


def test_another_secret_gives_other_keys():
    one, other = (tables.unit_keys(range(1000), s) for s in (SECRET, SECRET + "!"))
    assert (one == other).mean() < 0.01


def test_keys_are_uniform_and_unrelated():
    keys = tables.unit_keys(range(20_000), SECRET) / MODULUS
    assert keys.min() >= 0
    assert keys.max() < 1
    counts = np.histogram(keys, 20, (0, 1))[0]
    assert ((counts - 2000) ** 2 / 2000).sum() < 50  # chi-square, 19 degrees of freedom
    assert abs(np.corrcoef(keys.T)[0, 1]) < 0.03
    assert abs(np.corrcoef(keys[1:, 0], keys[:-1, 0])[0, 1]) < 0.03


def test_names_that_begin_alike_do_not_share_keys():
    texts = ["a" * n for n in range(50)]
    keys = tables.unit_keys(texts, SECRET)
    assert len({tuple(k) for k in keys.tolist()}) == 50


def test_a_short_secret_and_units_without_a_name_are_refused():
    with pytest.raises(ParameterError, match="too short"):
        tables.unit_keys([1], "short")
    with pytest.raises(DataError, match="every record needs a unit"):
        tables.unit_keys(["a", None], SECRET)
    with pytest.raises(SchemaError, match="no order"):
        tables.with_record_keys(duckdb.sql("SELECT 1 AS a"), SECRET)
    with pytest.raises(ParameterError, match="not taken"):
        tables.with_record_keys(pl.DataFrame({"rk1": [1]}), SECRET)
    with pytest.raises(SchemaError, match="no column"):
        tables.with_record_keys(pl.DataFrame({"a": [1]}), SECRET, unit="b")


def test_keys_never_leave_with_a_release(keyed, tmp_path):
    release = tacit.Plan([mask.Sample(fraction=0.5)]).apply(keyed, seed=1)
    assert not {"rk1", "rk2"} & set(release.frame.columns)
    release.save(tmp_path / "out")
    published = [p for p in (tmp_path / "out" / "public").rglob("*") if p.is_file()]
    assert published
    assert not any(b"rk1" in path.read_bytes() for path in published)


def test_keys_are_in_nothing_a_table_publishes(census_table):
    protected = census_table.protect(tables.CellKey())
    assert not {"rk1", "rk2"} & set(protected.frame.columns)
    assert not {"rk1", "rk2"} & set(census_table.frame.columns)
    assert "rk1" not in repr(census_table)
    assert SECRET not in repr(protected)


def test_keys_are_added_up_exactly_in_every_cell(keyed, census_table):
    frame = keyed.local
    total = census_table.key_sums["rk1"][census_table.cell()]
    assert total == frame["rk1"].sum()
    some = frame.filter((pl.col("sex") == "female") & (pl.col("marital") == "widowed"))
    by_sex = tacit.tabulate(keyed, ["sex", "marital"], weights=None, keys="rk2")
    assert by_sex.key_sums["rk2"][by_sex.cell(sex="female", marital="widowed")] == some["rk2"].sum()


def test_sums_beyond_the_precision_of_floats_are_exact():
    n, key = 3_000_000, MODULUS - 1
    keys = np.full(n, key)
    keys[0] -= 1  # all the same would be refused
    frame = pl.DataFrame({"r": pl.Series(np.arange(n) % 2), "k": pl.Series(keys)})
    table = tacit.tabulate(frame, "r", keys="k")
    assert table.key_sums["k"].tolist() == [n * key - 1, n // 2 * key - 1, n // 2 * key]


def test_records_without_a_contribution_do_not_take_part_in_the_key_of_a_total():
    frame = pl.DataFrame({"r": list("aab"), "x": [1.0, 0.0, 5.0], "k": [10, 20, 40]})
    table = tacit.tabulate(frame, "r", "x", keys="k")
    assert table.key_sums["k"].tolist() == [70, 30, 40]
    assert table.value_key_sums["k"].tolist() == [50, 10, 40]


def test_bad_keys_are_refused():
    frame = pl.DataFrame({"r": ["a", "b"], "k": [1, None], "f": [0.5, 0.25], "n": [-1, 2]})
    for column, says in (("k", "1 missing"), ("n", "-1 to 2")):
        with pytest.raises(DataError, match=says):
            tacit.tabulate(frame, "r", keys=column)
    with pytest.raises(SchemaError, match="whole numbers"):
        tacit.tabulate(frame, "r", keys="f")
    whole = tables.whole_keys(frame, "f", name="w")
    assert tacit.tabulate(whole, "r", keys="w").key_sums["w"].tolist() == [
        750_000_000, 500_000_000, 250_000_000,
    ]  # fmt: skip
    with pytest.raises(DataError, match="below 1"):
        tables.whole_keys(frame, "n")


def test_linked_tables_keep_their_keys(keyed):
    one, other = (tacit.tabulate(keyed, by, weights=None, keys="rk1") for by in ("sex", "marital"))
    linked = tables.link({"a": one, "b": other})
    assert linked.key_sums["rk1"][linked.cell()] == one.key_sums["rk1"][0]
    assert len(linked.key_sums["rk1"]) == linked.n_cells


def test_keys_that_are_all_the_same_are_refused():
    frame = pl.DataFrame({"g": list("aabb"), "k": [12345] * 4})
    with pytest.raises(DataError, match="record keys must differ"):
        tacit.tabulate(frame, "g", keys="k")
    one = tacit.tabulate(frame.head(1), "g", keys="k")
    assert one.count[0] == 1
