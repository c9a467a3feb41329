"""Keys belong to units, and randomness to sets of units."""

import numpy as np
import pytest

from tacit.core.data import Microdata
from tacit.core.errors import TacitError
from tacit.query.keys import KEYS, Sticky, keyed_frame, secret_bytes

SECRET = b"a long and secret phrase"


def test_numbers_stick_to_keys_and_purpose():
    sticky, keys = Sticky(SECRET), np.array([[5, 6], [5, 7], [5, 6]])
    first = sticky.numbers("a", keys)
    assert (first[0] == first[2]).all()
    assert (first[0] != first[1]).any()
    assert (first != sticky.numbers("b", keys)).any()
    assert (first != Sticky(SECRET + b"x").numbers("a", keys)).any()
    assert (first != sticky.numbers("a", keys, size=3)).any()


def test_numbers_are_uniform_and_normal():
    sticky, keys = Sticky(SECRET), np.arange(20_000).reshape(-1, 2)
    below = np.bincount(sticky.below("u", keys, 10), minlength=10)
    assert below.min() > 850
    assert below.sum() == 10_000
    normal = sticky.normal("n", keys)
    assert abs(normal.mean()) < 0.04
    assert normal.std() == pytest.approx(1, abs=0.03)
    assert sticky.seed("s", keys[:1]) == sticky.seed("s", keys[:1])


def test_units_share_a_key(people):
    frame = keyed_frame(Microdata.of(people), SECRET, "region", None).collect().to_native()
    assert frame.select(*KEYS).unique().height == 3


def test_secrets_are_kept_and_guarded(tmp_path):
    one = secret_bytes(None, tmp_path / "new")
    assert secret_bytes(None, tmp_path / "new") == one
    assert len(one) == 32
    assert secret_bytes(None, None) != secret_bytes(None, None)
    place = tmp_path / "new" / "secret.key"
    assert place.stat().st_mode & 0o777 == 0o600
    place.chmod(0o644)
    with pytest.raises(TacitError, match="chmod 600"):
        secret_bytes(None, tmp_path / "new")
    with pytest.raises(TacitError, match="too short"):
        secret_bytes("short", None)


def test_stored_keys_are_checked(people):
    bad = people.with_columns(k1=-people["id"] - 1, k2=people["id"])
    with pytest.raises(TacitError, match="stored keys"):
        keyed_frame(Microdata.of(bad), SECRET, None, ("k1", "k2"))
