"""The runner of the measurements of communication: what it makes of programs that are there, fail, or are not there."""

from __future__ import annotations

import importlib.util
import json
import stat
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch):
    """bench/communication/run.py as a module."""
    spec = importlib.util.spec_from_file_location("communication_run", ROOT / "bench/communication/run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setattr(sys, "path", list(sys.path))
    spec.loader.exec_module(module)
    return module


def program(folder: Path, name: str, text: str) -> None:
    path = folder / name
    path.write_text(f"#!/bin/sh\n{text}\n")
    path.chmod(path.stat().st_mode | stat.S_IXUSR)


LINE = {"what": "stores", "measure": "latency", "devices": 2, "from": 0, "to": 1, "bytes": 8, "us": [2.0, 1.5]}


def test_programs_are_merged(runner, tmp_path: Path) -> None:
    program(tmp_path, runner.OURS, f"echo '{json.dumps(LINE)}'; echo 'no JSON'")
    program(tmp_path, runner.RIVALS[0], f"echo '{json.dumps({**LINE, 'what': 'nccl'})}'; echo broken >&2; exit 3")
    lines = runner.measured(tmp_path, 2, 0.001, 10)
    assert lines[0] == LINE
    assert lines[1]["what"] == "nccl"
    assert "broken" in lines[2]["error"]
    assert lines[3] == {"what": runner.RIVALS[1], "devices": 2, "error": "was not built"}
    assert "| 8 | 1.50 | 1.50 |" in "\n".join(runner.comm_page.section("here", {}, lines))


def test_mpi_has_a_process_for_each_device(runner, tmp_path: Path, monkeypatch) -> None:
    program(tmp_path, runner.OURS, "")
    program(tmp_path, runner.RIVALS[-1], f"echo '{json.dumps({**LINE, 'what': 'mpi staged'})}'")
    program(tmp_path, "mpiexec", 'test "$1 $2" = "-n 4" && shift 2 && exec "$@"')
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    lines = runner.measured(tmp_path, 4, 0.001, 10)
    assert lines[-1]["what"] == "mpi staged"
    assert not any("mpi" in line["what"] and "error" in line for line in lines)


def test_one_device_has_no_rivals(runner, tmp_path: Path) -> None:
    program(tmp_path, runner.OURS, f"echo '{json.dumps(LINE)}'")
    assert runner.measured(tmp_path, 1, 0.001, 10) == [LINE]


def test_multicast_is_off(runner) -> None:
    assert runner.programs.ENVIRONMENT["NCCL_NVLS_ENABLE"] == "0"
    assert runner.programs.ENVIRONMENT["NVSHMEM_DISABLE_NVLS"] == "1"


def test_a_folder_without_programs_is_refused(runner, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["run.py", "--bin", str(tmp_path)])
    with pytest.raises(SystemExit):
        runner.main()
    assert "build the benchmarks first" in capsys.readouterr().err
