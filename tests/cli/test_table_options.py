"""The options of tacit table: every one has help."""

from dataclasses import fields
from typing import get_type_hints

import pytest

from tacit.cli.table_options import Cells, Protecting


@pytest.mark.parametrize("group", [Cells, Protecting])
def test_every_option_has_help_and_a_default(group):
    hints = get_type_hints(group, include_extras=True)
    group()
    for field in fields(group):
        (option,) = hints[field.name].__metadata__
        assert option.help.endswith("."), field.name
