"""The command that writes the built-in costs of stencils' steps anew."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
SCRIPT = ROOT / "bench/cpu_free_stencil/write_costs.py"
SOURCE = ROOT / "apps/stencil/plan/measured.cpp"


@pytest.fixture(scope="module")
def write_costs():
    spec = importlib.util.spec_from_file_location("write_costs", SCRIPT)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def run(tmp_path: Path, costs: object, *more: str) -> subprocess.CompletedProcess[str]:
    source = tmp_path / "measured.cpp"
    source.write_text(SOURCE.read_text())
    file = tmp_path / "costs.json"
    file.write_text(json.dumps(costs))
    words = [sys.executable, str(SCRIPT), str(file), "--source", str(source), *more]
    return subprocess.run(words, capture_output=True, text=True, timeout=60)


def test_the_costs_of_gpus_alone_are_written(tmp_path: Path) -> None:
    measured = {"format": 3, "device": "cuda X", "near_us": 0.5567, "far_us": 9.0, "memory_cells_per_us": 361569.0}
    done = run(tmp_path, measured, "--keep", "far_us")
    assert done.returncode == 0, done.stderr
    before, after = SOURCE.read_text(), (tmp_path / "measured.cpp").read_text()
    changed = [b for a, b in zip(before.splitlines(), after.splitlines(), strict=True) if a != b]
    assert changed == ["    c.near_us = 0.56;", "    c.memory_cells_per_us = 360'000;"]


def test_numbers_of_two_digits(write_costs) -> None:
    assert [write_costs.number(v) for v in (0.9543, 3.546, 11.73, 10738.4)] == ["0.95", "3.5", "12", "11'000"]


@pytest.mark.parametrize(
    ("costs", "more", "problem"),
    [
        ({"near_us": 0}, (), "near_us is 0.0; must be more than 0"),
        ({"no_such_cost": 1}, (), "the source has no cost no_such_cost"),
        ({"near_us": 1}, ("--keep", "far"), "--keep far"),
        ([], (), "holds no costs by name"),
    ],
)
def test_bad_input_changes_nothing(tmp_path: Path, costs: object, more: tuple[str, ...], problem: str) -> None:
    done = run(tmp_path, costs, *more)
    assert done.returncode == 2
    assert problem in done.stderr
    assert (tmp_path / "measured.cpp").read_text() == SOURCE.read_text()
