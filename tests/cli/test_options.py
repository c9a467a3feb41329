"""Every shared option has a help text and a default."""

from dataclasses import MISSING, fields
from typing import get_args, get_type_hints

import pytest

from tacit.cli.options import Output, Reading, Roles

GROUPS = [Reading, Roles, Output]


@pytest.mark.parametrize("group", GROUPS)
def test_shared_options_are_optional_and_explained(group):
    hints = get_type_hints(group, include_extras=True)
    for field in fields(group):
        option = get_args(hints[field.name])[1]
        assert field.default is not MISSING
        assert option.help.endswith(".")
        assert option.rich_help_panel
