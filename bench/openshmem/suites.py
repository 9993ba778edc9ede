"""Programs that were written for other OpenSHMEM libraries, compiled against starling::openshmem alone and run.

    python bench/openshmem/suites.py FOLDER... [--launcher "starling launch -n {n} --"] [--only TEXT] [--out FILE]

A folder is a tree of one of these repositories, fetched by the user; nothing of it is kept:

    openshmem-org/specification      example_code
    openshmem-org/openshmem-examples c, c++
    openshmem-org/tests-sos          test/unit, test/spec-example, test/apps: the unit tests of Sandia OpenSHMEM

Each program is compiled by `gcc -std=gnu11` (C++: `g++ -std=gnu++17`) with what starling-oshcc gives, or with
--compiler, and passes when all of its processes end with 0, or as the program means to end, and nothing that they print
says that a check has failed.
"""

from __future__ import annotations

import argparse
import json
import re
import shlex
import subprocess
import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))  # for facts

from facts import ROOT
from facts import machine as facts_of_machine

PLACES = {
    "specification": ["example_code"],
    "openshmem-examples": ["c", "c++"],
    "tests-sos": ["test/unit", "test/spec-example", "test/apps"],
}
SECONDS = 120
FAILURE = re.compile(r"\b(ERROR|FAIL(ED|URE)?|Failed|incorrect|mismatch)\b|ended with exit code")
# What else a program must print to pass, and how it means to end.
ENDS = {
    "specification/example_code/shmem_global_exit_example.c": 1,  # its input file is not there
    "openshmem-examples/c/global_exit.c": 99,
}
# Options beside the compiler's own.
NEEDS = {
    "specification/example_code/shmem_ctx_invalid.c": ["-fopenmp"],
    "tests-sos/test/unit/mt_lock.c": ["mt_lock_test.c"],
}
LEFT_OUT = {
    "specification/example_code/pshmem_example.c": "a piece of a program, without main",
    "specification/example_code/pshmem_no_weak_symbol.c": "a piece of a program, without main",
    "specification/example_code/pshmem_weak_symbol_1.c": "a piece of a program, without main",
    "specification/example_code/pshmem_weak_symbol_2.c": "a piece of a program, without main",
    "specification/example_code/shmem_scan_example.c": "a piece of a program, without main",
    "tests-sos/test/unit/mt_lock_test.c": "a part of mt_lock.c",
}
WRONG = {
    "openshmem-examples/c/addr-accessible.c": "fails unless a variable of main is accessible, against its own comment",
    "openshmem-examples/c/nullput.c": "puts to a null pointer to see what happens: a range_error names it",
    "openshmem-examples/c/test_shmem_get.c": "gets 7 bytes of an array of 4: a range_error names it",
    "openshmem-examples/c/test_shmem_put.c": "puts 7 bytes to an array of 4: a range_error names it",
    "tests-sos/test/unit/shmem_team_b2b_collectives.c": "its dest holds the elements of one PE alone, a collect writes "
    "those of all: a range_error names it",
}


@dataclass
class Outcome:
    suite: str
    program: str
    result: str
    why: str = ""


def wrapper() -> list[str]:
    return [str(ROOT / "build/host/bin/starling-oshcc")]


def compile_one(source: Path, name: str, binary: Path, compiler: list[str], tree: Path) -> str:
    """What is wrong; empty: nothing."""
    cxx = source.suffix in (".cpp", ".cxx")
    more = NEEDS.get(name, [])
    options = [str(source.parent / word) if word.endswith(".c") else word for word in more]
    command = [*compiler, "-std=gnu++17" if cxx else "-std=gnu11", "-w", f"-I{tree / 'test/include'}"]
    if not cxx and not compiler[0].endswith("oshcc"):
        command.append("-D_GNU_SOURCE")
    command += [str(source), *options, "-o", str(binary), "-lm"]
    done = subprocess.run(["env", f"CC={'g++' if cxx else 'gcc'}", *command], capture_output=True, text=True)
    if done.returncode == 0:
        return ""
    said = [line for line in done.stderr.splitlines() if "error:" in line or "undefined reference" in line]
    return (said or done.stderr.splitlines() or ["no message"])[0].replace(str(tree), "").lstrip("/")


def run_one(binary: Path, name: str, launcher: list[str], folder: Path) -> str:
    try:
        done = subprocess.run(
            [*launcher, str(binary)],
            capture_output=True,
            text=True,
            errors="replace",
            timeout=SECONDS,
            cwd=folder,
            stdin=subprocess.DEVNULL,
        )
    except subprocess.TimeoutExpired:
        return f"did not end within {SECONDS} s"
    text = done.stdout + done.stderr
    if done.returncode != ENDS.get(name, 0):
        last = [line for line in text.splitlines() if line.strip()][-1:]
        return f"exit code {done.returncode}: {' '.join(last)[:200]}"
    if name not in ENDS and (found := FAILURE.search(text)):
        line = next(line for line in text.splitlines() if found.group() in line)
        return f"says: {line[:200]}"
    return ""


def programs_of(tree: Path) -> list[Path]:
    found = []
    for place in PLACES[tree.name]:
        found += [p for p in sorted((tree / place).iterdir()) if p.suffix in (".c", ".cpp", ".cxx")]
    return found


def outcome(tree: Path, source: Path, o: argparse.Namespace, folder: Path) -> Outcome:
    program = source.relative_to(tree).as_posix()
    name = f"{tree.name}/{program}"
    if "mpi.h" in source.read_text(errors="replace"):
        return Outcome(tree.name, program, "left out", "uses MPI too")
    if name in LEFT_OUT:
        return Outcome(tree.name, program, "left out", LEFT_OUT[name])
    binary = folder / name.replace("/", "_")
    if wrong := compile_one(source, name, binary, shlex.split(o.compiler) or wrapper(), tree):
        return Outcome(tree.name, program, "fail", f"is not compiled: {wrong}")
    wrong = run_one(binary, name, shlex.split(o.launcher.format(n=o.n)), folder)
    if wrong and name in WRONG:
        return Outcome(tree.name, program, "wrong program", WRONG[name])
    return Outcome(tree.name, program, "fail" if wrong else "pass", wrong)


def main() -> int:
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("trees", nargs="+", type=Path, metavar="FOLDER")
    parser.add_argument("--launcher", default="starling launch -n {n} --")
    parser.add_argument("--compiler", default="", help="another library's wrapper instead, e.g. oshcc")
    parser.add_argument("-n", type=int, default=4)
    parser.add_argument("--only", default="")
    parser.add_argument("--out", type=Path)
    o = parser.parse_args()
    results = []
    with tempfile.TemporaryDirectory() as made:
        for tree in o.trees:
            for source in programs_of(tree):
                if o.only not in str(source):
                    continue
                results.append(outcome(tree, source, o, Path(made)))
                if results[-1].result != "pass":
                    print(json.dumps(vars(results[-1])), flush=True)
    counts = {kind: sum(r.result == kind for r in results) for kind in ("pass", "fail", "wrong program", "left out")}
    print(json.dumps(counts))
    if o.out:
        o.out.parent.mkdir(parents=True, exist_ok=True)
        page = {
            "machine": facts_of_machine(),
            "compiler": o.compiler or "starling-oshcc",
            "launcher": o.launcher.format(n=o.n),
            "counts": counts,
            "results": [vars(r) for r in results],
        }
        o.out.write_text(json.dumps(page, indent=1) + "\n")
    return 1 if counts["fail"] else 0


if __name__ == "__main__":
    sys.exit(main())
