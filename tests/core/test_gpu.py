"""The graphics processor: a clear word where it is missing, the same results where it is not."""

import sys

import numpy as np
import polars as pl
import pytest
from tests.numpy_device import numpy_device

import tacit
from tacit import mask, risk
from tacit.core.errors import DataError, MissingExtraError, ParameterError
from tacit.core.gpu import enough_memory, gpu_arrays


def test_without_cupy_the_extra_is_named(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    with pytest.raises(MissingExtraError, match=r"tacit\[gpu\]"):
        gpu_arrays(by="mdav")


def test_methods_say_so_too_and_release_nothing(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", None)
    table = pl.DataFrame({"x": np.arange(20.0)})
    plan = tacit.Plan([mask.Mdav(columns=["x"], device="gpu")])
    with pytest.raises(MissingExtraError, match="cupy"):
        plan.apply(table, seed=1)
    linkage = risk.DistanceLinkage(attributes=["x"], device="gpu")
    with pytest.raises(MissingExtraError, match="cupy"):
        linkage.measure(table, table)


def test_no_processor_or_no_driver_is_said(monkeypatch):
    monkeypatch.setitem(sys.modules, "cupy", numpy_device)
    assert gpu_arrays(by="mdav") is numpy_device
    monkeypatch.setattr(numpy_device.cuda.runtime, "getDeviceCount", lambda: 0)
    with pytest.raises(ParameterError, match=r"mdav: there is no graphics processor.*cpu"):
        gpu_arrays(by="mdav")

    def no_driver():
        raise RuntimeError("driver is insufficient")

    monkeypatch.setattr(numpy_device.cuda.runtime, "getDeviceCount", no_driver)
    with pytest.raises(ParameterError, match=r"no graphics processor answers.*insufficient.*cpu"):
        gpu_arrays(by="mdav")


def test_too_large_a_file_is_said():
    with (
        pytest.raises(DataError, match="does not fit into the memory"),
        enough_memory(numpy_device, by="mdav"),
    ):
        raise numpy_device.cuda.memory.OutOfMemoryError("out of memory")


def test_an_unknown_device_is_refused():
    with pytest.raises(ParameterError, match="device"):
        mask.Mdav(columns=["x"], device="tpu")
