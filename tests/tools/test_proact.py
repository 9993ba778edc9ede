"""The benchmark of programs on regions: it runs on virtual devices, and its table says what lines hold."""

from __future__ import annotations

import argparse
import importlib.util
import json
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
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


def short_options(graph: str = "", scale: int = 10) -> argparse.Namespace:
    return argparse.Namespace(short=True, graph=graph, scale=scale)


def test_graphs_are_chosen_by_name(run) -> None:
    made = [(c.application, c.graph) for c in run.cases(short_options("RMAT", scale=5), lambda text: None)]
    assert made == [("pagerank", "RMAT-5"), ("sssp", "RMAT-10")]
    assert not list(run.cases(short_options("no such graph"), lambda text: None))


@pytest.mark.parametrize(("graph", "status"), [("RMAT-10", 0), ("RMAT-22", 2)])
def test_a_graph_that_is_not_there_is_refused(run, tmp_path, monkeypatch, capsys, graph: str, status: int) -> None:
    words = ["--short", "--machine", "host", "--devices", "2", "--agents", "polling", "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["run.py", *words, "--graph", f"pagerank {graph}"])
    if status == 0:
        assert run.main() == 0
        return
    with pytest.raises(SystemExit) as ended:
        run.main()
    assert ended.value.code == status
    assert "there are pagerank RMAT-10" in capsys.readouterr().err


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
    what = {"what": "iterations", "application": "pagerank", "graph": "G", "entries": 10**9, "devices": 2,
            "iterations": 7}  # fmt: skip
    lines = [
        {**what, "agent": "inline", "chunk": 4096, "us": [1e4, 2e4, 9e4]},
        {**what, "agent": "polling", "chunk": None, "error": "no memory"},
        {"what": "rival", "application": "pagerank", "graph": "G", "rival": "theirs", "us": [5.0]},
    ]
    text = run.figures.table(lines)
    assert "| pagerank | G | 2 | inline | 4096 | 7 | 2e+04 | 50 |" in text
    assert "| pagerank | G | 2 | polling | None | no memory | - | - |" in text
    assert "| pagerank | G | 1 | theirs | - | - | 5 | - |" in text


@pytest.mark.parametrize(
    ("figure", "devices", "what"),
    [
        ("2", "1", "| host | 4 |"), ("2", "2", "| peers | 64 |"), ("4", "2", "| 2 | simulated | 512 | 4096 |"),
        ("6", "1", "| host | 1 | inline | 4096 |"), ("6", "2", "| peers | 2 | polling | 65536 |"),
        ("7", "2", "| pagerank | RMAT-10 | 2 | polling |"), ("8", "1,2", "| pagerank | RMAT-10 | 2 |"),
        ("9", "2", "| sssp | RMAT-10 | 2 | simulated | polling |"),
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
    assert run.figures.table([hidden])[-1] == "| a | g | 4 | real | polling | 21 | 20 | 10 | 90% |"
    refused = {**hidden, "refused": "too few bytes"}
    assert run.figures.table([refused])[-1] == "| a | g | 4 | real | polling | 21 | 20 | 10 | too few bytes |"
    chosen = {**tracked, "what": "chosen", "how": "all settings", "agent": "polling", "chunk": 4096, "us": 10.0}
    chosen |= {"tuner_us": 10.5, "seconds": 3.0}
    assert (
        run.figures.table([chosen])[-1] == "| a | g | 4 | all settings | polling | 4096 | as chosen | 10 | 3 | 1.05 |"
    )
    fewer = {**chosen, "agent_blocks": 4}
    assert run.figures.table([fewer])[-1] == "| a | g | 4 | all settings | polling | 4096 | 4 | 10 | 3 | 1.05 |"
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


def test_of_copies_that_are_too_short_nothing_is_said(run) -> None:
    line = {"bytes_on_a_link": 4e6, "copy_us": 12.0, "us": [100.0, 101.0], "elided_us": [95.0, 96.0]}
    assert run.figures.unresolved(line) == ""
    assert "latency" in run.figures.unresolved({**line, "bytes_on_a_link": 2000, "copy_us": 1.0})
    assert "differ by 9 us" in run.figures.unresolved({**line, "elided_us": [91.0, 100.0]})


def test_results_are_kept_as_they_come(run, tmp_path, monkeypatch, capsys) -> None:
    words = ["--figure", "table2", "--short", "--machine", "host", "--devices", "2", "--out", str(tmp_path)]
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    seen = []

    def one_line(*_: object) -> list[dict]:
        yield {"what": "chosen", "application": "a", "graph": "g", "devices": 2, "how": "tuner", "error": "none"}
        seen.append(json.loads(next((tmp_path / "table2").glob("*.json")).read_text()))

    monkeypatch.setattr(run, "lines_of_all", one_line)
    monkeypatch.setattr(sys, "argv", ["run.py", *words])
    assert run.main() == 0
    assert (len(seen[0]["results"]), seen[0]["complete"]) == (1, False)
    assert json.loads(next((tmp_path / "table2").glob("*.json")).read_text())["complete"]


@pytest.mark.parametrize("figure", ["4", "6", "9", "table2", "applications"])
def test_no_time(run, tmp_path, monkeypatch, capsys, figure: str) -> None:
    words = ["--figure", figure, "--short", "--machine", "host", "--devices", "2", "--out", str(tmp_path)]
    monkeypatch.setattr(sys, "argv", ["run.py", *words, "--seconds", "0"])
    assert run.main() == 1
    kept = json.loads(next((tmp_path / figure).glob("*.json")).read_text())
    assert (kept["results"], kept["complete"]) == ([], False)
    assert "0 s are over" in capsys.readouterr().err


def test_the_end_of_the_time_ends_a_search(run, tmp_path, monkeypatch) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    case = next(run.cases(short_options(), lambda text: None))
    budget = run.figures.Budget(60)
    monkeypatch.setattr(budget, "tell", lambda text: setattr(budget, "seconds", 0))
    where = run.figures.Where("host", 2, ("polling",))
    lines = list(run.figures.chosen(case.application, case.graph, case.matrix, where, 0.2, budget))
    assert len(lines) == 1
    assert "no end within" in lines[0]["error"]
    assert budget.ran_out


@pytest.mark.parametrize("figure", ["4", "9", "table2", "stores"])
def test_one_device_has_no_others(run, monkeypatch, capsys, figure: str) -> None:
    monkeypatch.setattr(sys, "argv", ["run.py", "--machine", "host", "--devices", "1", "--figure", figure])
    with pytest.raises(SystemExit):
        run.main()
    assert "STARLING_PES_PER_GPU=4" in capsys.readouterr().err


class Stream:
    """What the rival asks of CuPy's streams."""

    made: ClassVar[list[Stream]] = []

    def __init__(self, non_blocking: bool) -> None:
        self.recording = False
        self.launches = 0
        Stream.made.append(self)

    def __enter__(self) -> Stream:
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def synchronize(self) -> None:
        assert not self.recording

    def begin_capture(self) -> None:
        self.recording = True

    def end_capture(self) -> Stream:
        self.recording = False
        return self

    def launch(self, stream: Stream) -> None:
        assert stream is self
        self.launches += 1


@pytest.mark.parametrize("refuses", [False, True])
def test_the_rival_is_recorded_or_says_why_not(run, refuses: bool) -> None:
    Stream.made.clear()
    used, steps = [], []

    def step() -> None:
        steps.append(1)
        if refuses and Stream.made[-1].recording:
            raise NotImplementedError("not during stream capture\nat all")

    done = run.rivals.timed(Stream, used.append, step, iterations=5, repetitions=2)
    assert used[-1] is Stream.made[-1]
    assert not any(stream.recording for stream in Stream.made)
    assert len(done.us) == 2
    if refuses:
        assert done.name == "cuSPARSE on a stream, capture refused: not during stream capture"
        assert (len(steps), len(Stream.made)) == (12, 2)
    else:
        assert done.name == "cuSPARSE in a CUDA graph"
        assert (len(steps), Stream.made[0].launches) == (2, 11)


def test_where_a_library_lies(run) -> None:
    maps = "7f0 r-xp 0 00:0 1  /a/libcublasLt.so.12\n7f1 r-xp 0 00:0 2  /b/libcublas.so.12.4\n"
    assert run.rivals.loaded("cublas", maps) == "/b/libcublas.so.12.4"
    with pytest.raises(OSError, match="libcusparse is not loaded"):
        run.rivals.loaded("cusparse", maps)


class OfNumpy:
    """What the rival asks of CuPy's arrays and kernels; the text of its kernel is Python too."""

    asarray, full, empty, zeros = np.asarray, np.full, np.empty, np.zeros
    float32 = np.float32

    class ElementwiseKernel:
        def __init__(self, inputs: str, outputs: str, text: str, name: str) -> None:
            self.names = [word.split()[-1] for word in f"{inputs}, {outputs}".split(", ")]
            self.text = text

        def __call__(self, *arrays: Any) -> None:
            given = dict(zip(self.names, arrays, strict=True))
            made = dict(given)
            exec(self.text, {}, made)
            for name in ("x", "scaled"):
                given[name][...] = made[name]


def test_the_rival_computes_pagerank(run) -> None:
    case = next(run.cases(short_options(), lambda text: None))
    alpha = run.rivals.ALPHA

    def product(cp: Any, a: Any, x: Any, y: Any) -> Callable[[], None]:
        return lambda: np.copyto(y, alpha * (a @ x))

    def dot(cp: Any, x: Any, y: Any, result: Any) -> Callable[[], None]:
        return lambda: np.copyto(result, x @ y)

    rank = run.rivals.Ranks(OfNumpy, case.matrix, product, dot)
    for _ in range(20):
        rank.step()
    expected = run.pagerank(case.matrix, machine="host", devices=1, weight=None, fixed_iterations=20)
    assert np.allclose(rank.x, expected, rtol=1e-4)
