"""What STARLING_CUDA=auto means (cmake/cuda_choice.cmake)."""

from __future__ import annotations

import os
import shutil
import subprocess
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


def choice(*programs: Path) -> str:
    cmake = shutil.which("cmake")
    assert cmake, "cmake is on the PATH of tests"
    path = os.pathsep.join([*map(str, programs), "/usr/bin", "/bin"])
    environment = {"PATH": path}  # without CUDA_HOME and the like
    words = [cmake, "-P", str(ROOT / "cmake/cuda_choice.cmake")]
    return subprocess.run(words, env=environment, capture_output=True, text=True, check=True).stdout.strip()


def program(folder: Path, name: str, says: str, status: int = 0) -> Path:
    folder.mkdir()
    (folder / name).write_text(f"#!/bin/sh\necho '{says}'\nexit {status}\n")
    (folder / name).chmod(0o755)
    return folder


@pytest.fixture
def nvcc(tmp_path: Path) -> Path:
    return program(tmp_path / "nvcc", "nvcc", "")


@pytest.mark.skipif(bool(list(Path("/dev").glob("nvidia[0-9]*"))), reason="there are GPUs")
def test_nvcc_alone_is_not_enough(tmp_path: Path, nvcc: Path) -> None:
    assert choice(nvcc) == "off"
    failing = program(tmp_path / "failing", "nvidia-smi", "NVIDIA-SMI has failed", status=9)
    assert choice(nvcc, failing) == "off"
    without = program(tmp_path / "without", "nvidia-smi", "No devices were found")
    assert choice(nvcc, without) == "off"


def test_nvcc_and_a_gpu(tmp_path: Path, nvcc: Path) -> None:
    assert choice(nvcc, program(tmp_path / "gpu", "nvidia-smi", "GPU 0: NVIDIA H100 (UUID: GPU-1)")) == "on"


@pytest.mark.skipif(Path("/usr/local/cuda/bin/nvcc").exists(), reason="nvcc is where it is always found")
def test_a_gpu_without_nvcc(tmp_path: Path) -> None:
    assert choice(program(tmp_path / "gpu", "nvidia-smi", "GPU 0: NVIDIA H100 (UUID: GPU-1)")) == "off"
