"""The benchmark of a grid that is cut in two dimensions: its tables and pictures, and its command line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent
TIMES = {"gio": 60.0, "inter_k": 100.0, "inter_k_overlap": 70.0, "inter_k_no_copies": 75.0, "inter_k_empty": 20.0}


@pytest.fixture
def figures(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.syspath_prepend(str(ROOT / "bench/gio"))
    sys.modules.pop("figures", None)
    import figures

    yield figures
    sys.modules.pop("figures", None)


def line(way: str, us: float, devices: int = 4, side: int = 2048, scaling: str = "weak") -> dict:
    return {
        "what": "grid",
        "way": way,
        "devices": devices,
        "side": side,
        "scaling": scaling,
        "us": [us + 5, us, us + 9],
    }


def all_lines() -> list[dict]:
    return [
        *(line(way, us) for way, us in TIMES.items()),
        *(line(way, us / 2, devices=1) for way, us in TIMES.items()),
        *(line(way, us / 4, side=1024) for way, us in TIMES.items()),
        line("gio", 30.0, devices=2, side=4096, scaling="strong"),
    ]


def test_times_are_the_least_by_hosts_and_by_side(figures) -> None:
    lines = all_lines()
    assert figures.by_devices(lines, "weak", 2048)["gio"] == {1: 30.0, 4: 60.0}
    assert figures.by_side(lines, 4)["inter_k"] == {1024: 25.0, 2048: 100.0}
    assert figures.by_devices(lines, "strong", 4096) == {"gio": {2: 30.0}}
    assert "ikn" not in figures.by_side(lines, 4)


def test_parts_of_a_step_add_up(figures) -> None:
    parts = figures.breakdown(all_lines(), 4, 2048)
    assert parts["inter_k"] == pytest.approx({"computing": 0.55, "communication": 0.25, "launching": 0.2})
    assert sum(parts["inter_k"].values()) == pytest.approx(1)
    assert parts["gio"] == {"in all": pytest.approx(0.6)}
    assert figures.breakdown([line("inter_k", 100.0)], 4, 2048) == {}


def test_tables_and_pictures_say_whose_wire_time_it_is(figures, tmp_path: Path) -> None:
    results = tmp_path / "here.json"
    results.write_text(json.dumps({"results": all_lines()}))
    script = [sys.executable, str(ROOT / "bench/gio/grid.py"), "--from", str(results)]
    done = subprocess.run(script, capture_output=True, text=True, timeout=120, check=False)
    assert done.returncode == 0, done.stderr
    assert "wire time is the model's" in done.stdout
    assert "| 4 | 60.0 | 100.0 | 70.0 |" in done.stdout
    assert "| inter_k | communication | 0.25 |" in done.stdout
    made = {path.name for path in tmp_path.glob("*.png")}
    assert made == {f"here-{name}.png" for name in ("figure-6", "figure-7", "figure-8", "strong")}


def test_a_program_that_was_not_built(tmp_path: Path) -> None:
    script = [sys.executable, str(ROOT / "bench/gio/grid.py"), "--bin", str(tmp_path)]
    done = subprocess.run(script, capture_output=True, text=True, timeout=60, check=False)
    assert done.returncode == 2
    assert "bench_gio_grid is not there; build the benchmarks first" in done.stderr
