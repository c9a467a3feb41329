"""Names of projects and versions."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tacit.app.naming import checked, folded, require_free
from tacit.app.permissions import ConflictError
from tacit.core.errors import ParameterError


@given(st.text(min_size=1, max_size=60).filter(lambda t: t.strip() and t.isprintable()))
def test_a_proposed_name_is_free_and_valid(name):
    name = checked(name, "project")
    taken = [folded(name), folded(f"{name} 2")]
    with pytest.raises(ConflictError) as caught:
        require_free(name, taken, "project")
    assert caught.value.do.endswith(f"'{name} 3'")
    require_free(f"{name} 3", taken, "project")


def test_width_case_and_blanks_make_no_difference():
    assert folded("Ｃensus\u00a02026") == folded("census 2026")


@pytest.mark.parametrize("name", ["", " ", "x" * 101, "a\x00b"])
def test_bad_names(name):
    with pytest.raises(ParameterError, match="1 to 100 printable"):
        checked(name, "project")
