"""The benchmark of programs of starling.dace: its table, and the way from the command line to a file of results."""

from __future__ import annotations

import importlib
import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

ROOT = Path(__file__).resolve().parents[2]
Table = Callable[[list[dict[str, Any]]], list[str]]
PROGRAM = {"shape": "8x8", "devices": 1, "way": "program", "us": [4.0, 3.0], "blocks": 2, "threads": 512}


@pytest.fixture
def table(monkeypatch: pytest.MonkeyPatch) -> Table:
    monkeypatch.syspath_prepend(str(ROOT / "bench/dace"))
    return importlib.import_module("sweeps").table  # type: ignore[no-any-return]


def test_the_best_setting_counts(table: Table) -> None:
    slower = {**PROGRAM, "us": [5.0], "blocks": 1, "threads": 256}
    by_hand = {**PROGRAM, "way": "cpu_free", "us": [2.0, 6.0]}
    by_calls = {**PROGRAM, "way": "call", "us": [30.0, 40.0]}
    assert (
        table([slower, PROGRAM, by_hand, by_calls])[-1] == "| 8x8 | 1 | 3.00 | 2 x 512 | 30.00 | 0.10 | 2.00 | 1.50 |"
    )


def test_ways_that_were_not_run_have_no_columns(table: Table) -> None:
    assert table([PROGRAM])[0] == "| domain | devices | program, us a sweep | blocks x threads |"


def test_an_error_is_shown(table: Table) -> None:
    failed = {"shape": "9", "devices": 2, "way": "program", "error": "StallError: late"}
    assert "StallError: late" in table([failed])[-1]


@pytest.mark.skipif(importlib.util.find_spec("dace") is None, reason="DaCe is missing")
def test_run(tmp_path: Path) -> None:
    words = ["--machine", "host", "--devices", "2", "--shapes", "12x10", "--length", "0.001", "--out", str(tmp_path)]
    words += ["--control", "device,stream,call"]
    done = subprocess.run(
        [sys.executable, str(ROOT / "bench/dace/run.py"), *words], capture_output=True, text=True, timeout=300
    )
    assert done.returncode == 0, done.stderr
    results = json.loads(next(tmp_path.glob("*.json")).read_text())["results"]
    assert [line["way"] for line in results] == ["program", "stream", "call", "cpu_free"]
    assert not [line for line in results if "error" in line], results
