"""What GPUs and compute-sanitizer make of the wrong programs of tests/wrong that are wrong within a block.

    cmake --build build/cuda --target wrong_on_gpus
    python bench/check/on_gpus.py [--build build/cuda] [--only TEXT] [--runs 5] [--out FILE.json]

For each program: how often it gives a wrong result or ends with an error in so many runs, whether its corrected twin is
right, and whether the tools racecheck (shared memory), synccheck and memcheck report anything of the wrong one. Check
mode finds those of the suite `found`. Prints a table at the end; needs a GPU, and for the tools compute-sanitizer.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shutil
import subprocess
import sys
from dataclasses import asdict, dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for facts

from facts import ROOT
from facts import machine as facts_of_machine

TOOLS = ("racecheck", "synccheck", "memcheck")
# The last lines of each tool.
SUMMARY = re.compile(r"RACECHECK SUMMARY: (\d+) hazard|ERROR SUMMARY: (\d+) error")


@dataclass
class Row:
    program: str
    check_mode: bool
    runs: int = 0
    wrong_results: int = 0
    errors: int = 0
    twin_right: bool = False
    reports: dict[str, int | None] = field(default_factory=dict)  # by tool; None: it did not run to its end


def output_of(words: list[str], timeout: float, **environment: str) -> str:
    """What a command prints; a run that has no end counts as an error of the program."""
    try:
        done = subprocess.run(
            words, capture_output=True, text=True, errors="replace", timeout=timeout, env={**os.environ, **environment}
        )
    except subprocess.TimeoutExpired:
        return f"outcome: no end after {timeout:.0f} s"
    return done.stdout + done.stderr


def outcome_of(said: str) -> str:
    found = re.findall(r"^outcome: (.*)", said, re.M)
    return found[-1] if found else "the process ended without a result"


def reports_in(said: str) -> int | None:
    """How many hazards or errors a tool has counted."""
    found = SUMMARY.findall(said)
    return int("".join(found[-1])) if found else None


def cases(binary: Path, suite: str) -> list[str]:
    said = output_of([str(binary), "--list-test-cases", f"--test-suite={suite}"], 60)
    return [line for line in said.splitlines() if re.fullmatch(r"\w+", line)]


def judged(binary: Path, program: str, check_mode: bool, runs: int, sanitizer: str | None) -> Row:
    row = Row(program, check_mode, runs)
    words = [str(binary), f"--test-case={program}"]
    on_gpus = {"STARLING_TEST_MACHINE": "cuda", "STARLING_DEADLINE": "2"}
    for _ in range(runs):
        outcome = outcome_of(output_of(words, 60, **on_gpus, STARLING_WRONG="wrong"))
        row.wrong_results += outcome == "wrong result"
        row.errors += outcome not in ("right", "wrong result")
    row.twin_right = outcome_of(output_of(words, 60, **on_gpus, STARLING_WRONG="fixed")) == "right"
    for tool in TOOLS if sanitizer else ():
        said = output_of([str(sanitizer), "--tool", tool, *words], 300, **on_gpus, STARLING_WRONG="wrong")
        row.reports[tool] = reports_in(said)
    return row


def told(row: Row, tool: str) -> str:
    if tool not in row.reports:
        return "not run"
    reports = row.reports[tool]
    return "?" if reports is None else "found" if reports else "-"


def table(rows: list[Row]) -> str:
    lines = [["program", "check mode", "wrong on the GPU", *TOOLS, "twin"]]
    lines.append(["---"] * len(lines[0]))
    for r in rows:
        seen = f"{r.wrong_results + r.errors} of {r.runs} runs"
        by_tool = [told(r, tool) for tool in TOOLS]
        twin = "right" if r.twin_right else "wrong"
        lines.append([r.program, "found" if r.check_mode else "-", seen, *by_tool, twin])
    by_check_mode = sum(r.check_mode for r in rows)
    wrong = sum(r.wrong_results + r.errors > 0 for r in rows)
    by_tool = [str(sum(bool(r.reports.get(tool)) for r in rows)) for tool in TOOLS]
    lines.append([f"all {len(rows)}", str(by_check_mode), str(wrong), *by_tool, ""])
    return "\n".join(f"| {' | '.join(cells)} |" for cells in lines)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", type=Path, default=ROOT / "build/cuda")
    parser.add_argument("--only", default="", help="programs whose name contains this")
    parser.add_argument("--runs", type=int, default=5, help="of each wrong program, without a tool")
    parser.add_argument("--out", type=Path)
    o = parser.parse_args()
    binary = o.build / "bin/wrong_on_gpus"
    if not binary.exists():
        print(f"{binary} is not there: cmake --build {o.build} --target wrong_on_gpus")
        return 1
    sanitizer = shutil.which("compute-sanitizer")
    if sanitizer is None:
        print("no compute-sanitizer: results of runs alone")
    rows = []
    for suite in ("found", "missed"):
        for program in cases(binary, suite):
            if o.only not in program:
                continue
            rows.append(judged(binary, program, suite == "found", o.runs, sanitizer))
            print(json.dumps(asdict(rows[-1])), flush=True)
    print(table(rows))
    if o.out:
        o.out.parent.mkdir(parents=True, exist_ok=True)
        results = [asdict(r) for r in rows]
        o.out.write_text(json.dumps({"machine": facts_of_machine(), "results": results}, indent=1) + "\n")
    return 0 if all(r.twin_right for r in rows) else 1


if __name__ == "__main__":
    sys.exit(main())
