"""What GPUs and compute-sanitizer make of the wrong programs of tests/wrong that are wrong within a block.

    cmake --build build/cuda --target wrong_on_gpus
    python bench/check/on_gpus.py [--build build/cuda] [--seconds 110] [--jobs 4] [--runs 5] [--out FILE.json]

For each program: in how many runs it gives a wrong result or ends with an error, whether its corrected twin is right,
and whether the tools racecheck (shared memory), synccheck and memcheck report anything of the wrong one. Check mode
finds those of the suite `found`.

Several processes run at once, each a few programs one after the other, those of one PE first; first all without a tool,
then under one tool after the other. What has not ended after --seconds is given up and counts as not run. Two PEs share
a GPU where there is one alone; not under the tools, which run kernels one by one, so that programs of several PEs are
left out there. FILE.log holds what all processes said. page.py makes the table of docs/check.md from the results.
"""

from __future__ import annotations

import argparse
import json
import os
import shutil
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass, field
from pathlib import Path

sys.path[:0] = [str(Path(__file__).resolve().parent), str(Path(__file__).resolve().parent.parent)]

from facts import ROOT  # noqa: E402
from facts import machine as facts_of_machine  # noqa: E402
from wrong_programs import SKIPPED, Program, Said, programs_in, run  # noqa: E402

TOOLS = ("racecheck", "synccheck", "memcheck")
# Reports of all kernels, not of the first alone; none of calls by which the library asks the driver what there is.
OF_TOOL = ("--print-limit", "0", "--destroy-on-device-error", "kernel", "--report-api-errors", "no")
TOGETHER = 8  # programs of a process
PATH = os.pathsep.join([os.environ.get("PATH", ""), "/usr/local/cuda/bin"])
SILENCE = 20.0  # seconds after which a program counts as one without an end
SILENCE_OF_TOOL = 45.0


@dataclass
class Row:
    program: str
    pattern: str
    pes: int
    check_mode: bool
    runs: int = 0
    wrong_results: int = 0
    errors: dict[str, int] = field(default_factory=dict)
    """How often the runs ended with each."""
    twin_right: bool | None = None  # None: it did not run
    reports: dict[str, int | None] = field(default_factory=dict)  # by tool; None: it did not run to its end


@dataclass
class Work:
    """Programs that run one after the other in one process."""

    way: str  # wrong, fixed, or a tool
    programs: Sequence[Program]


def planned(programs: Sequence[Program], ways: Sequence[str]) -> list[Work]:
    """In the order in which they begin."""
    parts = [programs[i : i + TOGETHER] for i in range(0, len(programs), TOGETHER)]
    return [Work(way, part) for way in ways for part in parts]


class Runner:
    """Runs the programs of a binary, until a time."""

    def __init__(self, binary: Path, sanitizer: str, gpus: int, runs: int, deadline: float) -> None:
        self.binary = binary
        self.sanitizer = sanitizer
        self.shared = {"STARLING_PES_PER_GPU": "2"} if gpus == 1 else {}
        self.runs = runs
        self.deadline = deadline

    def __call__(self, work: Work) -> Said:
        environment = {"STARLING_TEST_MACHINE": "cuda", "STARLING_WRONG": "fixed" if work.way == "fixed" else "wrong"}
        if work.way in TOOLS:
            words = [self.sanitizer, "--tool", work.way, *OF_TOOL, str(self.binary)]
            environment |= {"STARLING_DEADLINE": "10", "STARLING_PES_PER_GPU": "1"}
            return run(words, work.programs, environment, SILENCE_OF_TOOL, self.deadline)
        environment |= {"STARLING_DEADLINE": "1", **self.shared}
        if work.way == "wrong":
            environment["STARLING_WRONG_RUNS"] = str(self.runs)
        return run([self.binary], work.programs, environment, SILENCE, self.deadline)


def enter(rows: dict[str, Row], work: Work, said: Said) -> None:
    for program in work.programs:
        row = rows[program.name]
        outcomes = [one for one in said.outcomes.get(program.name, []) if one != SKIPPED]
        if work.way == "wrong":
            row.runs = len(outcomes)
            row.wrong_results = outcomes.count("wrong result")
            errors = [one for one in outcomes if one not in ("right", "wrong result")]
            row.errors = {one: errors.count(one) for one in errors}
        elif work.way == "fixed":
            row.twin_right = outcomes == ["right"] if outcomes else None
        else:
            came_to_end = bool(outcomes) and program.name in said.judged
            reports = said.reports[program.name]
            row.reports[work.way] = reports if reports or came_to_end else None


def told(row: Row, tool: str) -> str:
    reports = row.reports.get(tool)
    return "not run" if reports is None else "found" if reports else "-"


def table(rows: Sequence[Row]) -> str:
    lines = [["program", "check mode", "wrong on the GPU", *TOOLS, "twin"]]
    lines.append(["---"] * len(lines[0]))
    for r in rows:
        seen = f"{r.wrong_results + sum(r.errors.values())} of {r.runs} runs"
        twin = {True: "right", False: "wrong", None: "not run"}[r.twin_right]
        lines.append([r.program, "found" if r.check_mode else "-", seen, *(told(r, tool) for tool in TOOLS), twin])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def judge(
    programs: Sequence[Program], works: Sequence[Work], jobs: int, runner: Callable[[Work], Said]
) -> tuple[list[Row], list[str]]:
    """The rows, and what all processes have said."""
    rows = {p.name: Row(p.name, p.pattern, p.pes, p.check_mode) for p in programs}
    log: list[str] = []
    began = time.monotonic()
    with ThreadPoolExecutor(jobs) as pool:
        for work, said in zip(works, pool.map(runner, works), strict=True):
            enter(rows, work, said)
            log += said.log
            unnamed = f", {said.reports['']} reports of no program" if said.reports[""] else ""
            of = f"{len(said.outcomes)} of {len(work.programs)} programs"
            print(f"{time.monotonic() - began:6.1f} s: {work.way}, {of}{unnamed}", flush=True)
    return list(rows.values()), log


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build/cuda")
    parser.add_argument("--only", default="", help="programs whose name contains this")
    parser.add_argument("--runs", type=int, default=5, help="of each wrong program, without a tool")
    parser.add_argument("--seconds", type=float, default=110, help="for everything")
    parser.add_argument("--jobs", type=int, default=4, help="processes at once")
    parser.add_argument("--sanitizer", default=shutil.which("compute-sanitizer", path=PATH) or "", help="where it is")
    parser.add_argument("--out", type=Path)
    o = parser.parse_args()
    binary = o.build / "bin/wrong_on_gpus"
    if not binary.exists():
        print(f"{binary} is not there: cmake --build {o.build} --target wrong_on_gpus")
        return 1
    if not o.sanitizer:
        print("no compute-sanitizer: results of runs alone")
    deadline = time.monotonic() + o.seconds
    programs = [p for p in programs_in(ROOT / "tests/wrong") if o.only in p.name]
    machine = facts_of_machine()
    ways = ("wrong", "fixed", *(TOOLS if o.sanitizer else ()))
    runner = Runner(binary, o.sanitizer, len(machine["gpus"]), o.runs, deadline)
    rows, log = judge(programs, planned(programs, ways), o.jobs, runner)
    print(table(rows))
    if o.out:
        o.out.parent.mkdir(parents=True, exist_ok=True)
        o.out.with_suffix(".log").write_text("\n".join(log) + "\n")
        results = {"machine": machine, "tools": list(ways[2:]), "results": [asdict(r) for r in rows]}
        o.out.write_text(json.dumps(results, indent=1) + "\n")
    return 0 if all(r.twin_right is not False for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
