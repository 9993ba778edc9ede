"""The benchmark of programs on regions: it runs on virtual devices, and its table says what lines hold."""

from __future__ import annotations

import importlib.util
import json
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
    text = run.section(lines)
    assert "| pagerank | G | 2 | inline | 4096 | 2e+04 | 50 |" in text
    assert "| pagerank | G | 2 | polling | None | no memory | - |" in text
    assert "| pagerank | G | 1 | theirs | - | 5 | - |" in text


@pytest.mark.parametrize("words", [["--agents", "magic"], ["--figure", "9"], ["--devices", "x"]])
def test_wrong_words(run, monkeypatch: pytest.MonkeyPatch, words: list[str]) -> None:
    monkeypatch.setattr(sys, "argv", ["run.py", "--machine", "host", *words])
    with pytest.raises(SystemExit):
        run.main()
