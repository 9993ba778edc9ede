"""The page of stencil results says what its file holds, and does not stumble over what it lacks; the runner measures
what the page needs."""

from __future__ import annotations

import importlib.util
import json
import os
import stat
import sys
from pathlib import Path

import pytest
import stencil_auto
import stencil_domains as domains
import stencil_page
import stencil_plot
from stencil_results import VARIANTS, StencilResults

ROOT = Path(__file__).resolve().parents[2]
MACHINE = {"gpus": ["NVIDIA H200, 580, 143771 MiB"] * 4, "processor": "p", "cores": 8, "compiler": ["c++ 1"]}
SMALL = "256x256"


def line(domain: str, devices: int, variant: str, us: list[float], compute: bool = True, **more: object) -> dict:
    return {"what": "stencil", "domain": domain, "devices": devices, "variant": variant, "compute": compute, "us": us,
            **more}  # fmt: skip


def pair(domain: str, devices: int, variant: str, whole: float, bare: float, **more: object) -> list[dict]:
    """With and without computation."""
    return [
        line(domain, devices, variant, [whole + 1, whole], **more),
        line(domain, devices, variant, [bare], False, **more),
    ]


FULL = [
    *pair(SMALL, 1, "copy", 8, 6),
    *pair(SMALL, 1, "overlap", 10, 10),
    *pair(SMALL, 1, "graph", 4, 2),
    *pair(SMALL, 1, "cpu_free", 3, 1),
    *pair(SMALL, 1, "temporal", 1, 0.5, depth=13),
    *pair("64x256", 1, "copy", 6.5, 6),
    *pair("64x256", 1, "cpu_free", 1.5, 1),
    *pair(SMALL, 4, "copy", 16.5, 16),
    *pair(SMALL, 4, "overlap", 20, 19.8),
    *pair(SMALL, 4, "cpu_free", 2, 2),
    *pair("512x512", 4, "copy", 18, 16),
    *pair("512x512", 4, "overlap", 20, 19),
    *pair("512x512", 4, "graph", 5, 4),
    *pair("512x512", 4, "cpu_free", 4, 2.5),
    *pair("512x512", 4, "resident", 2, 1),
]
BROKEN = [
    {"what": "stencil", "devices": 2, "domain": SMALL, "variant": "copy", "error": "a stall | with\nlines"},
    {"what": "bench", "domain": "512x512x512", "error": "no end after 9 s"},
    {"what": "stencil"},
    line(SMALL, 4, "copy", []),
    {"what": "stencil", "devices": 4, "us": [7.0]},
    "not even an object",
]


@pytest.fixture
def results(tmp_path: Path):
    def make(lines: list, machine: dict = MACHINE) -> StencilResults:
        target = tmp_path / "one.json"
        target.write_text(json.dumps({"machine": machine, "results": lines}))
        return StencilResults(target)

    return make


def test_domains_grow_axis_by_axis() -> None:
    assert [domains.grown("8x6", n) for n in (1, 2, 3, 4, 8)] == ["8x6", "16x6", None, "16x12", "32x12"]
    assert [domains.grown("8x6x4", n) for n in (2, 4, 8, 16)] == ["16x6x4", "16x12x4", "16x12x8", "32x12x8"]
    assert domains.part("512x512x512", 4) == "128x512x512"
    assert domains.part("7x5", 2) == "4x5"
    assert domains.extents("256^2") == ()


def test_weak_scaling_keeps_the_cells_of_a_device() -> None:
    for base in domains.all_of(domains.OF_GPUS):
        for n in (1, 2, 4):
            assert domains.cells(domains.grown(base, n) or "") == n * domains.cells(base)


def test_asks_for_the_best(results) -> None:
    r = results(FULL)
    assert r.step(SMALL, 1, "copy") == 8
    assert r.step(SMALL, 1, "p2p") is None
    assert r.best_of(("copy", "graph"), SMALL, 1) == ("graph", 4)
    assert r.strong() == [(SMALL, 1), (SMALL, 4)]  # neither a part nor what four devices alone computed
    assert r.weak() == [(SMALL, 1, SMALL), (SMALL, 4, "512x512")]
    assert r.efficiency(SMALL, 4, "512x512", "cpu_free") == 0.75


def test_overlap_is_what_is_hidden_of_communication(results) -> None:
    r = results(FULL)
    # 2 of computing on one device; 2.5 of communication; 4 together: 0.5 of the 2.5 is hidden.
    assert r.computation("512x512", 4, "cpu_free") == 2  # of as many cells, if not of the same shape
    assert r.overlap("512x512", 4, "cpu_free") == pytest.approx(0.2)
    assert r.share("512x512", 4, "cpu_free") == pytest.approx(2.5 / 4)
    # The part of the same shape is there; all of it is hidden, or none.
    assert r.computation(SMALL, 4, "cpu_free") == 0.5
    assert r.overlap(SMALL, 4, "cpu_free") == pytest.approx(0.25)
    assert r.overlap(SMALL, 4, "copy") == 0
    assert r.computation(SMALL, 4, "overlap") == 0.5  # that of `copy`
    assert r.overlap(SMALL, 1, "copy") is None
    assert r.overlap("512x512", 4, "resident") is None  # nothing of one device to compare with


def test_page_and_pictures_of_a_full_file(results, tmp_path: Path) -> None:
    text = stencil_page.results_page([results(FULL)], [], [], tmp_path / "page.md")
    assert "4 x NVIDIA H200" in text
    assert f"| a step of `cpu_free`, {SMALL} on 4 GPUs | 2.5 us | 2.00 | met |" in text
    assert f"| a step of `cpu_free` or `resident`, {SMALL} on 4 GPUs | 1.2 us | 2.00 | missed |" in text
    assert f"| a step of `temporal`, {SMALL} on 4 GPUs | 0.5 us | not measured | not measured |" in text
    assert "| 512x512 | 4 | graph | 5.00 | resident | 2.00 | 60 % | 90 % |" in text
    assert "| 512x512 | 4 | graph | 4.00 | resident | 1.00 | 75 % | 95 % |" in text  # without computation
    assert f"| {SMALL} | 4 | 512x512 | 44 % |" in text  # efficiency of `copy`
    assert "256x256 on 1: 13; otherwise 1." in text
    assert "What failed" not in text
    assert "one-2d.png" in text
    assert {path.name for path in tmp_path.glob("*.png")} == {"one-overlap.png", "one-2d.png"}


@pytest.mark.parametrize("lines", [[], BROKEN, [*BROKEN, *FULL]])
@pytest.mark.parametrize("machine", [{}, MACHINE])
def test_page_of_a_file_that_lacks_much(results, tmp_path: Path, lines: list, machine: dict) -> None:
    r = results(lines, machine)
    text = stencil_page.results_page([r], [], [], tmp_path / "page.md")
    assert ("a stall / with lines" in text) == bool(lines)
    assert "| stall" not in text


def test_page_with_tiles_measured_alone(results, tmp_path: Path) -> None:
    tiles = [line for line in FULL if line["variant"] == "resident"]
    text = stencil_page.results_page([results(FULL)], [results(tiles)], [], tmp_path / "page.md")
    alone = text[text.index("## Tiles and passes") :]
    assert "--variants resident`:" in alone
    assert "| 512x512 | 4 | 2.00 |" in alone
    assert SMALL not in alone
    assert "Tiles and passes" not in stencil_page.results_page([results(FULL)], [], [], tmp_path / "page.md")


def test_pages_without_files(tmp_path: Path) -> None:
    assert "Not measured yet." in stencil_page.results_page([], [], [], tmp_path / "page.md")


def chosen(domain: str, us: float, ran: str, **more: object) -> dict:
    return line(domain, 1, "auto", [us], type="float32", ran=ran, expected=us, built_in="cpu_free", **more)


AUTO = [
    {"what": "costs", "devices": 1, "meet_us": 2.5},
    chosen(SMALL, 1.0, "temporal"),
    line(SMALL, 1, "cpu_free", [4.0, 2.0], type="float32"),
    line(SMALL, 1, "temporal", [1.0], type="float32"),
    line(SMALL, 1, "cpu_free", [3.0], type="float64"),
    chosen("64x64x64", 3.0, "resident"),
    line("64x64x64", 1, "cpu_free", [2.0], type="float32"),
    {"what": "stencil", "devices": 1, "domain": "512x512x512", "error": "no room"},
]


def test_auto_beside_the_best(results, tmp_path: Path) -> None:
    path = results(AUTO).path
    r = stencil_auto.AutoResults(path)
    assert r.best((SMALL, "float32")) == ("temporal", 1.0)
    assert r.over((SMALL, "float32"), 2.0) == -0.5
    assert r.best(("64x64x64", "float64")) is None
    text = stencil_page.results_page([results(FULL)], [], [r], tmp_path / "page.md")
    assert f"| {SMALL} | float32 | 1.00 | temporal | 1.00 | temporal | 1.00 | 2.00 | +0 % | -50 % | cpu_free |" in text
    assert f"| {SMALL} | float64 | not measured | not measured |" in text
    assert "Of 2 rows `auto` is within the model's error, 30 %, of the best in\n1; half" in text
    assert "the worst is 50 % above it.\nBeside `cpu_free` the worst is +50 %." in text
    assert "float64, and other libraries" not in text


@pytest.mark.parametrize("lines", [[], BROKEN, AUTO[4:5]])
def test_auto_of_a_file_that_lacks_much(results, lines: list) -> None:
    text = "\n".join(stencil_auto.section(stencil_auto.AutoResults(results(lines).path)))
    assert "Of " not in text


def test_the_error_of_the_model_is_that_of_the_library() -> None:
    model = (ROOT / "apps/stencil/plan/cost_model.hpp").read_text()
    assert f"cost_model_error = {stencil_auto.MODEL_ERROR};" in model


def test_no_pictures_of_nothing(results) -> None:
    assert stencil_plot.figures(results(BROKEN)) == []


# Says what it was asked for, as the program does; a domain with a 7 kills it.
PROGRAM = """\
import json, os, sys
words = [word for word in sys.argv[1:] if word not in ("--tune", "--computing")]
given = dict(zip(words[::2], words[1::2]))
if "--tune" in sys.argv:
    print(json.dumps({"what": "costs", "devices": 1, "place": os.environ["XDG_CACHE_HOME"]}), flush=True)
for domain in given["--domains"].split(","):
    print(json.dumps({"what": "begin", "domain": domain}), flush=True)
    if "7" in domain:
        raise SystemExit("no more")
    for k, variant in enumerate(given["--variants"].split(",")):
        for compute in (True, False):
            us = [k + 2.0 + compute] * int(given["--repetitions"])
            for type in given.get("--types", "float32").split(","):
                print(json.dumps({"what": "stencil", "devices": int(given["--devices"]), "domain": domain, "type": type,
                                  "variant": variant, "compute": compute, "us": us, "ran": "copy"}), flush=True)
"""


@pytest.fixture
def runner(monkeypatch: pytest.MonkeyPatch, tmp_path: Path):
    """bench/cpu_free_stencil/run.py as a module, and a program for it."""
    spec = importlib.util.spec_from_file_location("stencil_run", ROOT / "bench/cpu_free_stencil/run.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    monkeypatch.setattr(sys, "path", list(sys.path))
    spec.loader.exec_module(module)
    program = tmp_path / module.PROGRAM
    program.write_text(f"#!{sys.executable}\n{PROGRAM}")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    return module


def test_the_runner_measures_what_the_page_needs(runner, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(runner.facts, "machine", lambda: MACHINE)
    arguments = ["run.py", "--short", "--bin", str(tmp_path), "--out", str(tmp_path / "out")]
    monkeypatch.setattr(sys, "argv", arguments)
    assert runner.main() == 0
    target = tmp_path / "out/nvidia-h200-x4.json"
    kept = json.loads(target.read_text())
    assert kept["sizes"] == domains.OF_GPUS
    assert kept["machine"] == MACHINE
    assert all(len(one["us"]) == 5 for one in kept["results"])
    r = StencilResults(target)
    for base in domains.all_of(domains.OF_GPUS):
        for n in (1, 2, 4):
            for domain in (base, domains.grown(base, n)):
                for variant in VARIANTS:
                    assert r.share(domain, n, variant) is not None
                    assert (r.overlap(domain, n, variant) is None) == (n == 1)
    keys = [(x["domain"], x["devices"], x["variant"], x["compute"]) for x in r.lines]
    assert len(keys) == len(set(keys))  # nothing twice
    assert {path.name.removeprefix("nvidia-h200-x4-") for path in target.parent.glob("*.png")} == {
        "overlap.png", "2d.png", "3d.png"
    }  # fmt: skip
    assert "Overlap ratio" in capsys.readouterr().out


def test_the_runner_holds_auto_against_all_others(runner, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(runner.facts, "machine", lambda: MACHINE)
    monkeypatch.setattr(runner.domains, "AUTO_OF_GPUS", ("8x8", "4x4x4"))
    monkeypatch.setenv("XDG_CACHE_HOME", "/as/before")
    arguments = ["run.py", "--auto", "--bin", str(tmp_path), "--out", str(tmp_path / "out")]
    monkeypatch.setattr(sys, "argv", arguments)
    assert runner.main() == 0
    r = stencil_auto.AutoResults(tmp_path / "out/auto/nvidia-h200-x1.json")
    assert set(r.times) == {(d, t) for d in ("8x8", "4x4x4") for t in ("float32", "float64")}
    assert all(set(times) == {"auto", *VARIANTS} for times in r.times.values())
    place = next(one["place"] for one in r.data["results"] if one["what"] == "costs")
    assert place != "/as/before"
    assert not Path(place).exists()  # the user's own costs are left alone
    assert os.environ["XDG_CACHE_HOME"] == "/as/before"
    assert "| 8x8 | float32 |" in capsys.readouterr().out


def test_there_are_thirty_domains_for_auto() -> None:
    wanted = domains.AUTO_OF_GPUS
    assert len(set(wanted)) == 30
    assert {len(domains.extents(d)) for d in wanted} == {2, 3}


def test_the_runner_goes_on_behind_what_fails(runner, tmp_path: Path) -> None:
    sizes = {"2D": {"small": "4x4", "medium": "7x7", "large": "8x8"}}
    lines = runner.measured(tmp_path / runner.PROGRAM, sizes, [2], ["--repetitions", 1], 60)
    failed = {one["domain"]: one["error"].split(":")[0] for one in lines if "error" in one}
    assert failed == {"7x7": "exit status 1", "14x7": "exit status 1"}
    assert all(one["devices"] == 2 for one in lines)
    assert {one["domain"] for one in lines if "us" in one} == {"4x4", "8x8", "8x4", "16x8"}


def test_the_runner_says_what_it_had_no_time_for(runner, tmp_path: Path) -> None:
    sizes = {"2D": {"small": "4x4"}}
    lines = runner.measured(tmp_path / runner.PROGRAM, sizes, [1, 2], [], 0)
    assert {one["error"] for one in lines} == {"no time left"}
    assert {(one["devices"], one["domain"]) for one in lines} == {(1, "4x4"), (1, "2x4"), (2, "4x4"), (2, "8x4")}


def test_a_folder_without_programs_is_refused(runner, tmp_path: Path, monkeypatch, capsys) -> None:
    monkeypatch.setattr(sys, "argv", ["run.py", "--bin", str(tmp_path / "none")])
    with pytest.raises(SystemExit):
        runner.main()
    assert "build the benchmarks first" in capsys.readouterr().err
