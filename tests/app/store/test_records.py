"""The tables of the store."""

from tacit.app.store.records import Record, new_id, now


def test_ids_cannot_be_guessed_from_one_another():
    made = {new_id() for _ in range(100)}
    assert len(made) == 100
    assert all(len(i) == 32 for i in made)


def test_no_table_has_room_for_a_password_or_key_in_clear():
    lengths = {
        column.name: column.type.length
        for table in ("session", "api_token")
        for column in Record.metadata.tables[table].columns
        if column.name in ("token", "secret")
    }
    assert lengths == {"token": 64, "secret": 64}  # the length of SHA-256 in hexadecimal


def test_times_have_a_zone():
    assert now().utcoffset() is not None
