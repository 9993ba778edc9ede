"""What GPUs and their tools find of wrong kernels, with programs and a tool that only pretend."""

from __future__ import annotations

import importlib.util
import json
import os
import sys
import time
from pathlib import Path
from types import ModuleType

import pytest

ROOT = Path(__file__).resolve().parents[2]
FOLDER = ROOT / "bench/check"


def module(name: str) -> ModuleType:
    """Of bench/check, where a name such as page is not unique among the benchmarks."""
    spec = importlib.util.spec_from_file_location(f"check_{name}", FOLDER / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = made
    spec.loader.exec_module(made)
    return made


sys.path.insert(0, str(FOLDER))
import wrong_programs as programs  # noqa: E402

on_gpus = module("on_gpus")
page = module("page")

# Stands in for wrong_on_gpus: each program does what its name says.
BINARY = """#!{python}
import os, sys, time
names = sys.argv[-1].removeprefix("--test-case=").split(",")
fixed = os.environ["STARLING_WRONG"] == "fixed"
for name in names:
    print("begin", name, flush=True)
    for _ in range(int(os.environ.get("STARLING_WRONG_RUNS", "1"))):
        if name.startswith("hangs") and not fixed: time.sleep(60)
        if name.startswith("dies") and not fixed: os.kill(os.getpid(), 11)
        if name.startswith("breaks") and not fixed:
            print(f"outcome of {{name}}: device error: lost", flush=True)
            time.sleep(60)
        what = "right" if fixed or name.startswith("quiet") else "wrong result"
        if name.startswith("pair") and os.environ.get("STARLING_PES_PER_GPU", "1") == "1": what = "skipped"
        print(f"outcome of {{name}}: {{what}}", flush=True)
"""
# Stands in for compute-sanitizer.
TOOL = """#!{python}
import subprocess, sys
print("========= COMPUTE-SANITIZER", flush=True)
done = subprocess.run(sys.argv[-2:])
tool, names = sys.argv[2], sys.argv[-1].split("=")[1].split(",")
for name in names:
    if name.startswith("race") and tool == "racecheck":
        print(f"========= Error: Race reported between Write access at void entry<&tests::{{name}}, 1>()")
        print(f"=========     Host Frame:tests::{{name}}(machine&, bool)")
        print("========= ")
print("========= Error: process didn't terminate successfully")
print("========= RACECHECK SUMMARY: 1 hazard displayed (1 error, 0 warnings)")
sys.exit(done.returncode)
"""


def executable(path: Path, text: str) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text.format(python=sys.executable))
    path.chmod(0o755)
    return path


def named(*names: str) -> list[programs.Program]:
    return [programs.Program(name, "loops", True, 2 if name.startswith("pair") else 1) for name in names]


@pytest.fixture
def runner(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(on_gpus, "SILENCE", 1.0)
    monkeypatch.setattr(on_gpus, "SILENCE_OF_TOOL", 1.0)
    binary = executable(tmp_path / "bin/wrong_on_gpus", BINARY)
    tool = executable(tmp_path / "compute-sanitizer", TOOL)

    def make(seconds: float = 60, runs: int = 3):
        return on_gpus.Runner(binary, str(tool), 1, runs, time.monotonic() + seconds)

    return make


def rows_of(run, names: tuple[str, ...], ways: tuple[str, ...]) -> dict:
    chosen = named(*names)
    rows, _ = on_gpus.judge(chosen, on_gpus.planned(chosen, ways), 2, run)
    return {r.program: r for r in rows}


def test_programs_of_the_tree() -> None:
    found = programs.programs_in(ROOT / "tests/wrong")
    assert len(found) > 90
    assert len({p.name for p in found}) == len(found)
    assert [p.pes for p in found] == sorted(p.pes for p in found)
    text = "".join(source.read_text() for source in (ROOT / "tests/wrong").glob(programs.SOURCES))
    assert text.count("WRONG_PROGRAM(") == len(found)


def test_a_program_without_an_end_takes_none_with_it(runner) -> None:
    rows = rows_of(runner(), ("wrong_a", "hangs_b", "quiet_c", "dies_d", "breaks_e", "wrong_f"), ("wrong", "fixed"))
    assert (rows["wrong_a"].runs, rows["wrong_a"].wrong_results) == (3, 3)
    assert list(rows["hangs_b"].errors) == ["no end after 1 s"]
    assert (rows["quiet_c"].runs, rows["quiet_c"].wrong_results, rows["quiet_c"].errors) == (3, 0, {})
    assert list(rows["dies_d"].errors) == ["the process ended by signal 11"]
    assert rows["breaks_e"].errors == {"device error: lost": 1}
    assert rows["wrong_f"].wrong_results == 3
    assert all(r.twin_right for r in rows.values())


def test_reports_are_of_the_program_that_they_name(runner) -> None:
    rows = rows_of(runner(), ("race_a", "race_ab", "wrong_c", "pair_d"), ("wrong", "fixed", *on_gpus.TOOLS))
    assert rows["race_a"].reports == {"racecheck": 1, "synccheck": 0, "memcheck": 0}
    assert rows["race_ab"].reports["racecheck"] == 1
    assert rows["wrong_c"].reports["racecheck"] == 0
    assert rows["pair_d"].runs == 3  # two PEs of one GPU
    assert set(rows["pair_d"].reports.values()) == {None}  # but not under a tool


def test_names_of_kernels() -> None:
    lines = [
        "========= COMPUTE-SANITIZER",
        "=" * 79,  # doctest's
        "========= Error: Race reported between Write access at void entry<tests::scan(machine &)::[lambda]>()",
        "=========     and Read access at void entry<tests::(anonymous)::scan(machine &)::[lambda]>()",
        "========= ",
        "begin scan_of_rows",
        "========= Invalid __global__ write of size 4 bytes",
        "=========     at _ZN5tests12scan_of_rowsERNS_7machineE+0x80",
        "========= Program hit an error that names nothing",
        "========= ERROR SUMMARY: 3 errors",
    ]
    assert programs.reports_in(lines, ["scan", "scan_of_rows"]) == {"scan": 1, "scan_of_rows": 1, "": 1}


def test_what_does_not_end_in_time_counts_as_not_run(runner) -> None:
    began = time.monotonic()
    rows = rows_of(runner(seconds=0.5), ("hangs_a", "wrong_b"), ("wrong", "racecheck"))
    assert time.monotonic() - began < 10
    assert rows["hangs_a"].runs == rows["wrong_b"].runs == 0
    assert rows["wrong_b"].reports == {"racecheck": None}


def test_a_silent_tool_says_nothing_of_a_process_that_was_ended(runner) -> None:
    rows = rows_of(runner(), ("wrong_a", "hangs_b"), ("memcheck",))
    assert rows["wrong_a"].reports == {"memcheck": None}


def test_the_page(tmp_path: Path, runner) -> None:
    chosen = named("race_a", "quiet_b", "pair_c")
    rows, _ = on_gpus.judge(chosen, on_gpus.planned(chosen, ("wrong", "fixed", "racecheck")), 2, runner())
    held = {
        "machine": {"gpus": ["NVIDIA H200, 580, 1 MiB"], "date": "2026-01-02"},
        "tools": ["racecheck"],
        "results": [on_gpus.asdict(r) for r in rows],
    }
    text = page.table(held)
    assert "NVIDIA H200 (2026-01-02)" in text
    assert "| pattern | kernels | check mode | wrong in any of 3 runs | `racecheck` |" in text
    assert "| all | 3 | 3 | 2 | 1 of 2 |" in text
    assert "Check mode alone finds 1 of them" in text
    assert "Of the corrected kernels 3 gave the right result" in text
    for name, data in {"new": held, "rate": {"machine": {}, "results": []}}.items():
        (tmp_path / f"{name}.json").write_text(json.dumps(data))
    assert page.newest(sorted(tmp_path.glob("*.json"))) == held
    assert page.newest([]) is None


def test_without_the_binary(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture) -> None:
    monkeypatch.setattr(sys, "argv", ["on_gpus.py", "--build", os.fspath(tmp_path)])
    assert on_gpus.main() == 1
    assert "--target wrong_on_gpus" in capsys.readouterr().out
