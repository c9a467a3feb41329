"""Charts as pages."""

import re

import numpy as np
import pytest

from tacit import report
from tacit.core.errors import ParameterError

CHART = report.class_sizes(None, np.array([1.0, 2.0, 5.0]))


def test_a_page_stands_alone(tmp_path):
    page = report.save_html(CHART, tmp_path / "chart.html").read_text(encoding="utf-8")
    assert page.lstrip().lower().startswith("<!doctype html>")
    assert '"$schema"' in page
    assert not re.findall(r'(?:src|href)="https?://', page), "no script or style from outside"
    assert not re.findall(r"import\s*\(?['\"]https?://", page)


def test_bad_input_is_named_and_leaves_nothing(tmp_path):
    with pytest.raises(ParameterError, match="got int"):
        report.save_html(3, tmp_path / "a.html")
    assert list(tmp_path.iterdir()) == []
