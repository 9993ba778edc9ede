"""Results of PEs that share a GPU: their names, and the table of what sharing costs."""

from __future__ import annotations

import importlib.util
from pathlib import Path

import facts
import programs
import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
GPU = {"gpus": ["NVIDIA H200, 580.1, 143771 MiB"]}


@pytest.fixture(scope="module")
def run():
    spec = importlib.util.spec_from_file_location("sharing_run", ROOT / "bench/sharing/run.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_names_of_files() -> None:
    assert programs.result_file(GPU, [1]) == "nvidia-h200-x1.json"
    assert programs.result_file({**GPU, "pes_per_gpu": 4}, [1, 2, 4]) == "nvidia-h200-x1-pes4.json"
    assert programs.result_file({"gpus": GPU["gpus"] * 2, "pes_per_gpu": 2}, [1, 2, 4]) == "nvidia-h200-x2-pes2.json"
    assert programs.result_file({"gpus": [], "pes_per_gpu": 4}, [4]) == "virtual-x4.json"


def test_numbers_of_devices() -> None:
    assert programs.devices_here(GPU, [1, 2, 4]) == [1]
    assert programs.devices_here({**GPU, "pes_per_gpu": 4}, [1, 2, 4, 8]) == [1, 2, 4]
    assert programs.devices_here({"gpus": []}, [1, 2, 4]) == [1, 2, 4]


def test_shared_results_lie_apart(tmp_path: Path) -> None:
    alone = programs.keep_results(tmp_path, GPU, [1], [])
    shared = programs.keep_results(tmp_path, {**GPU, "pes_per_gpu": 4}, [1, 4], [])
    assert alone == tmp_path / "nvidia-h200-x1.json"
    assert shared == tmp_path / "one_gpu/nvidia-h200-x1-pes4.json"
    assert list(tmp_path.glob("*.json")) == [alone]


@pytest.mark.parametrize(("text", "each"), [("", 1), ("4", 4), ("x", 1), ("0", 1)])
def test_what_the_environment_says(monkeypatch: pytest.MonkeyPatch, text: str, each: int) -> None:
    monkeypatch.setenv("STARLING_PES_PER_GPU", text)
    assert facts.pes_per_gpu() == each
    assert ("pes_per_gpu" in facts.machine()) == (each > 1)


def test_table(run) -> None:
    def stencil(pes: int, sharing: str, us: float) -> dict:
        what = {"what": "stencil", "domain": "256x256", "variant": "cpu_free", "ran": "cpu_free"}
        return {**what, "us": [us, us, 9 * us], "pes": pes, "sharing": sharing}

    lines = [stencil(1, "alone", 10.0), stencil(4, "plain", 11.0), {"what": "stencil", "error": "no memory", "pes": 2}]
    text = run.section(lines, GPU)
    assert text[0] == "## NVIDIA H200"
    assert "4 PEs on one GPU, plain" in text[2]
    assert text[-1] == "| stencil 256x256, cpu_free | 10 | - | - | - | 11 (1.10x) |"


def test_environment_is_given_back(run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("STARLING_PES_PER_GPU", "3")
    monkeypatch.delenv("STARLING_GPU_SHARING", raising=False)
    with run.shared(4, "plain"):
        assert run.os.environ["STARLING_PES_PER_GPU"] == "4"
        assert run.os.environ["STARLING_GPU_SHARING"] == "plain"
    assert run.os.environ["STARLING_PES_PER_GPU"] == "3"
    assert "STARLING_GPU_SHARING" not in run.os.environ
