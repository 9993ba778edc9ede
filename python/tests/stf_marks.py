"""What tests of task flow need that a machine may lack."""

from __future__ import annotations

import importlib.util
import os

import pytest

on_gpus = os.environ.get("STARLING_TEST_MACHINE", "host") == "cuda"

# Bodies of tasks that compute with operators alone: NumPy's arrays on virtual devices, CuPy's on GPUs.
computes_in_bodies = pytest.mark.skipif(
    on_gpus and importlib.util.find_spec("cupy") is None, reason="bodies of tasks on GPUs need CuPy here"
)
# What holds for NumPy's arrays, on virtual devices.
on_virtual_devices = pytest.mark.skipif(on_gpus, reason="only on virtual devices bodies compute with NumPy")
