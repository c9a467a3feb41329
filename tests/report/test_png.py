"""Charts as pictures."""

import struct

import numpy as np
import pytest

from tacit import report
from tacit.core.errors import ParameterError, WriteError

CHART = report.class_sizes(None, np.array([1.0, 2.0, 5.0]))


def size(path):
    head = path.read_bytes()[:24]
    assert head[:8] == b"\x89PNG\r\n\x1a\n"
    return struct.unpack(">II", head[16:24])


def test_a_picture_is_written_and_scaled(tmp_path):
    small = report.save_png(CHART, tmp_path / "small.png", scale=1)
    large = report.save_png(CHART, str(tmp_path / "large.png"), scale=3)
    assert size(large)[0] == pytest.approx(3 * size(small)[0], abs=3)
    report.save_png(CHART, small, scale=2)
    assert size(small)[0] < size(large)[0]
    assert sorted(p.name for p in tmp_path.iterdir()) == ["large.png", "small.png"]


def test_bad_input_is_named(tmp_path):
    with pytest.raises(ParameterError, match="scale"):
        report.save_png(CHART, tmp_path / "a.png", scale=0)
    with pytest.raises(ParameterError, match="got int"):
        report.save_png(3, tmp_path / "a.png")
    assert list(tmp_path.iterdir()) == []
    (tmp_path / "file").write_text("no folder", encoding="utf-8")
    with pytest.raises(WriteError):
        report.save_png(CHART, tmp_path / "file" / "a.png")
