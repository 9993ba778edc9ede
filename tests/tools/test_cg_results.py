"""The page of conjugate gradient results says what its file holds, and does not stumble over what it lacks."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import cg_plot
import page
import programs
import pytest
from cg_results import CgResults, geometric_mean

SMALL, LARGE = "5-point 1000^2", "elasticity 110^3"
MACHINE = {"gpus": ["NVIDIA H200, 580, 143771 MiB"] * 4, "processor": "p", "cores": 8, "compiler": ["c++ 1"]}


def line(what: str, matrix: str, devices: int, us: list[float], **more: object) -> dict:
    return {"what": what, "matrix": matrix, "devices": devices, "us": us, "rows": 10, "nonzeros": 50,
            "stands_for": "ecology2", **more}  # fmt: skip


FULL = [
    line("cg", SMALL, 4, [9.0, 8.0], method="fused", control="cpu_free", storage="sliced", halo=[1, 2], blocks=8),
    line("cg", SMALL, 4, [20.0], method="fused", control="graph"),
    line("cg", SMALL, 4, [24.0], method="fused", control="streams"),
    line("cg", SMALL, 4, [10.0], method="standard", control="cpu_free"),
    line("cg", SMALL, 4, [15.0], method="standard", control="streams"),
    line("cg", SMALL, 1, [30.0], method="fused", control="cpu_free"),
    line("cg", LARGE, 4, [400.0], method="fused", control="cpu_free"),
    line("multiply", SMALL, 1, [50.0, 40.0], storage="sliced"),
    line("rival multiply", SMALL, 1, [45.0], algorithm="alg1"),
    line("rival multiply", SMALL, 1, [43.0], algorithm="alg2"),
    line("rival cg", SMALL, 4, [32.0], method="standard", control="graph"),
]
BROKEN = [
    {"what": "cg", "devices": 2, "matrix": SMALL, "error": "a stall | with\nlines"},
    {"what": "bench", "matrix": LARGE, "error": "no end after 9 s"},
    {"what": "cg"},
    {"what": "cg", "devices": 4, "matrix": LARGE, "us": []},
    {"what": "cg", "devices": 4, "matrix": LARGE, "us": [7.0]},
    "not even an object",
]


@pytest.fixture
def results(tmp_path: Path):
    def make(lines: list, machine: dict = MACHINE) -> CgResults:
        target = tmp_path / "one.json"
        target.write_text(json.dumps({"machine": machine, "results": lines}))
        return CgResults(target)

    return make


def test_asks_for_the_best(results) -> None:
    r = results(FULL)
    assert r.iteration(SMALL, 4, ("cpu_free",)) == ("fused, cpu_free", 8.0)
    assert r.iteration(SMALL, 2, ("cpu_free",)) is None
    assert r.rival_multiply(SMALL) == ("alg2", 43.0)
    assert r.speed_up(SMALL, 4, "fused", ("streams", "graph")) == 2.5
    assert r.speed_up(SMALL, 4, "pipelined", ("streams",)) is None


def test_says_met_and_missed(results) -> None:
    r = results(FULL)
    bars = page.bar_rows(r)
    assert any(SMALL in one and "8.00" in one and "| met |" in one for one in bars)
    assert any(LARGE in one and "400" in one and "| missed |" in one for one in bars)
    assert sum("not measured" in one for one in bars) == 2
    control = "\n".join(page.control_rows(r))
    assert "standard, streams | 15.00 | 1.88 | 2.0 | missed" in control
    assert "standard, graph | 32.00 | 4.00" in control
    assert any("40.00 | 43.00 | alg2 | 1.07 | met" in one for one in page.multiply_rows(r))


def test_gains_have_a_geometric_mean(results) -> None:
    rows = page.gain_rows(results(FULL), 4)
    assert "3.00 | 2.50" in rows[-1]  # fused, by streams and by the best
    assert "1.54 standard, 1.63 pipelined" in rows[-1]
    assert "| 2.56 |" in rows[2]
    assert geometric_mean([2.0, None, 8.0]) == pytest.approx(4.0)
    assert geometric_mean([None]) is None


def test_page_and_pictures_of_a_full_file(results, tmp_path: Path) -> None:
    text = page.results_page([results(FULL)], tmp_path / "page.md")
    assert "4 x NVIDIA H200" in text
    assert "What failed" not in text
    assert "one-scaling.png" in text
    assert {path.name for path in tmp_path.glob("*.png")} == {"one-scaling.png", "one-speed-up.png"}


@pytest.mark.parametrize("lines", [[], BROKEN, [*BROKEN, *FULL]])
@pytest.mark.parametrize("machine", [{}, MACHINE])
def test_page_of_a_file_that_lacks_much(results, tmp_path: Path, lines: list, machine: dict) -> None:
    text = page.results_page([results(lines, machine)], tmp_path / "page.md")
    assert ("a stall / with lines" in text) == bool(lines)
    assert "| stall" not in text


def test_page_without_files(tmp_path: Path) -> None:
    assert "Not measured yet." in page.results_page([], tmp_path / "page.md")


def test_no_pictures_of_nothing(results) -> None:
    assert cg_plot.figures(results(BROKEN[:3])) == []


def run_python(text: str, seconds: float = 20, quiet: float | None = None) -> programs.Outcome:
    return programs.run(Path(sys.executable), ["-c", text], seconds, quiet)


def test_a_program_that_fails_leaves_its_lines() -> None:
    done = run_python("print('{\"a\": 1}'); print('words'); print('{\"b\": '); raise SystemExit(3)")
    assert done.lines == [{"a": 1}]
    assert "exit status 3" in done.problem


def test_a_program_that_does_not_end_is_ended() -> None:
    wait = "import time; print('{\"a\": 1}', flush=True); time.sleep(60)"
    assert run_python(wait, seconds=2).problem == "no end after 2 s"
    done = run_python(wait, quiet=2)
    assert (done.lines, done.problem) == ([{"a": 1}], "no result for 2 s")


def test_a_program_that_is_not_there() -> None:
    assert "No such file" in programs.run(Path("/no/such/program"), [], 1).problem


PROGRAM = """\
import json, sys, time
for matrix in sys.argv[sys.argv.index("--matrices") + 1].split(","):
    print(json.dumps({"what": "begin", "matrix": matrix}), flush=True)
    if matrix == "dies":
        raise SystemExit("no more")
    if matrix == "hangs":
        time.sleep(60)
    print(json.dumps({"what": "cg", "matrix": matrix}), flush=True)
"""


def test_goes_on_behind_the_matrix_that_fails(tmp_path: Path) -> None:
    program = tmp_path / "program"
    program.write_text(f"#!{sys.executable}\n{PROGRAM}")
    program.chmod(0o755)
    todo = ["dies", "one", "two", "hangs", "three"]
    done = programs.over("matrix", "--matrices", todo, program, [], seconds=30, quiet=1.5)
    assert [x["matrix"] for x in done if "error" not in x] == ["one", "two", "three"]
    assert {x["matrix"]: x["error"].split(":")[0] for x in done if "error" in x} == {
        "dies": "exit status 1",
        "hangs": "no result for 2 s",
    }
