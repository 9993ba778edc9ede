"""The benchmark of programs on regions: it runs on virtual devices, and its table says what lines hold."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent


@pytest.fixture(scope="module")
def run():
    spec = importlib.util.spec_from_file_location("proact_run", ROOT / "bench/proact/run.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules["proact_run"] = module
    spec.loader.exec_module(module)
    return module


def test_short_run(run, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    words = ["--short", "--machine", "host", "--devices", "2", "--agents", "polling", "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["run.py", *words])
    assert run.main() == 0
    results = json.loads(next((tmp_path / "applications").glob("*.json")).read_text())["results"]
    assert {line["application"] for line in results} == {"pagerank", "sssp", "jacobi"}
    assert all(len(line["us"]) == run.REPETITIONS and line["agent"] == "polling" for line in results)
    assert all(line["bytes_sent"][0][1] > 0 for line in results)
    assert "| pagerank | RMAT-10 | 2 | polling |" in capsys.readouterr().out


def test_table(run) -> None:
    what = {"what": "iterations", "application": "pagerank", "graph": "G", "entries": 10**9, "devices": 2}
    lines = [
        {**what, "agent": "inline", "chunk": 4096, "us": [1e4, 2e4, 9e4]},
        {**what, "agent": "polling", "chunk": None, "error": "no memory"},
        {"what": "rival", "application": "pagerank", "graph": "G", "rival": "theirs", "us": [5.0]},
    ]
    text = run.figures.table(lines)
    assert "| pagerank | G | 2 | inline | 4096 | 2e+04 | 50 |" in text
    assert "| pagerank | G | 2 | polling | None | no memory | - |" in text
    assert "| pagerank | G | 1 | theirs | - | 5 | - |" in text


@pytest.mark.parametrize(
    ("figure", "devices", "what"),
    [
        ("2", "1", "| host | 4 |"), ("2", "2", "| peers | 64 |"), ("4", "2", "| 2 | simulated | 512 | 4096 |"),
        ("6", "1", "| host | 1 | inline | 4096 |"), ("6", "2", "| peers | 2 | polling | 65536 |"),
        ("8", "1,2", "| pagerank | RMAT-10 | 2 |"), ("9", "2", "| sssp | RMAT-10 | 2 | simulated | polling |"),
        ("stores", "2", "| jacobi | 7 diagonals of 4096 | 2 |"), ("table2", "2", "| pagerank | RMAT-10 | 2 |"),
    ],
)  # fmt: skip
def test_figure(run, tmp_path, monkeypatch, capsys, figure: str, devices: str, what: str) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    words = ["--figure", figure, "--short", "--machine", "host", "--devices", devices, "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["run.py", *words])
    assert run.main() == 0
    shown = capsys.readouterr().out
    assert what in shown
    results = json.loads(next((tmp_path / figure).glob("*.json")).read_text())["results"]
    assert not [line["error"] for line in results if "error" in line]
    assert all(line["right"] for line in results if "right" in line)
    assert all(("simulated" in line) == (figure in ("4", "9")) for line in results)
    page = tmp_path / "page.md"
    script = [sys.executable, str(ROOT / "bench/proact/page.py"), "--results", str(tmp_path), "--page", str(page)]
    subprocess.run(script, check=True, capture_output=True, timeout=120)
    assert what in page.read_text()


def test_no_results_no_page(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    script = [sys.executable, str(ROOT / "bench/proact/page.py"), "--results", str(tmp_path), "--page", str(page)]
    subprocess.run(script, check=True, capture_output=True, timeout=120)
    assert not page.exists()


def test_figures_of_lines(run) -> None:
    tracked = {"what": "tracking", "application": "a", "graph": "g", "devices": 4, "us": [21.0], "untracked_us": [20.0]}
    assert run.figures.table([tracked])[-1] == "| a | g | 4 | 21 | 20 | 5.0% |"
    hidden = {**tracked, "what": "hidden", "agent": "polling", "elided_us": [20.0], "copy_us": 10.0}
    assert run.figures.table([hidden])[-1] == "| a | g | 4 | real | polling | 21 | 20 | 90% |"
    goodput = {"what": "goodput", "to": "host", "devices": 1, "bytes": 10**6, "store_bytes": 4, "us": [100.0]}
    assert run.figures.table([goodput])[-1] == "| host | 4 | 10 | 8.3% | 14.3% |"
    both = {"what": "overlap", "to": "host", "devices": 1, "agent": "inline", "chunk": 4096, "us": [10.0],
            "compute_us": 9.0, "copy_us": [9.0, 9.0]}  # fmt: skip
    assert run.figures.table([both])[-1] == "| host | 1 | inline | 4096 | 10 | 9 | 9 | 1.8 |"
    failed = {"what": "stores", "application": "a", "graph": "g", "devices": 2, "error": "no memory"}
    assert run.figures.table([failed])[-1] == "| a | g | 2 | no memory | - | - |"


@pytest.mark.parametrize("words", [["--agents", "magic"], ["--figure", "99"], ["--devices", "x"]])
def test_wrong_words(run, monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["run.py", "--machine", "host", *words])
    with pytest.raises(SystemExit):
        run.main()
