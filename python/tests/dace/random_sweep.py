"""Runs random programs beside NumPy, a range of seeds, for as long as one likes.

    python python/tests/dace/random_sweep.py FIRST COUNT [--jobs N] [--quick] [--numpy] [--show]

Each seed runs in a process apart, so that a crash or a hang ends only that: the process is started again for the seeds
that are left. A seed that fails is told at once, with its kind:

* `wrong value`: an array or an exception is not NumPy's
* `refused`: a ProgramError, with its message
* `error`: any other exception, of the compiler, of C++ or of the machine
* `crash`: the process died, or hung

FIRST may be `random`. `--quick` compiles without the optimisations that take long, and leaves out check mode and most
runs with the time loop on the host; `--numpy` compiles nothing; `--show` prints the texts of programs that are refused
too. The exit status is 1 where anything but refusals was found, or more than a tenth is refused.
"""

from __future__ import annotations

import argparse
import collections
import json
import os
import queue
import re
import secrets
import select
import shutil
import subprocess
import sys
import tempfile
import threading
import traceback
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve()
sys.path[:0] = [str(HERE.parents[2]), str(HERE.parents[1])]  # python, python/tests
LONGEST = 900.0  # seconds of a seed
SEEDS_OF_A_PROCESS = 100  # programs stay loaded until it ends
MOST_REFUSED = 10  # one of so many
MARK = "RESULT "


# ---- the process that runs seeds ----


def work(options: argparse.Namespace) -> None:
    """Runs the seeds of standard input, and tells of each on standard output."""
    from dace_random import random_program

    examined = _with_numpy if options.numpy else _beside(options)
    for line in sys.stdin:
        seed = int(line)
        made = random_program(seed)
        kind, words = examined(made, seed)
        print(MARK + json.dumps([seed, kind, words]), flush=True)


def _with_numpy(made: Any, seed: int) -> tuple[str, str]:
    import numpy as np

    arrays, k = made.inputs(np.random.default_rng(seed))
    try:
        with np.errstate(all="raise", under="ignore"):
            made.plain()(*arrays, k)
    except Exception as raised:
        if str(raised) not in made.messages:
            return "error", traceback.format_exc()
    return "passed", ""


def _beside(options: argparse.Namespace) -> Any:
    """What examines a program on virtual devices; its files are gone afterwards."""
    import starling.dace.run
    from dace_random.running import examine, program_of, quick_compiler, source_of
    from starling import machine
    from starling.dace import ProgramError

    folder = Path(tempfile.mkdtemp(dir=options.folder))
    setattr(starling.dace.run, "compiler", quick_compiler(folder, optimised=not options.quick))  # noqa: B010
    machines: dict[int, Any] = {}

    def devices(n: int) -> Any:
        return machines.setdefault(n, None) or machines.update({n: machine.host(n)}) or machines[n]

    def examined(made: Any, seed: int) -> tuple[str, str]:
        place = folder / str(seed)
        place.mkdir()
        os.environ["XDG_CACHE_HOME"] = str(place)
        try:
            program = program_of(made, place)
            source_of(program, seed)
            examine(made, program, devices, seed, complete=not options.quick)
        except ProgramError as problem:
            return "refused", str(problem)
        except AssertionError as problem:
            return "wrong value", str(problem)
        except Exception:
            machines.clear()
            return "error", traceback.format_exc()
        finally:
            shutil.rmtree(place)
        return "passed", ""

    return examined


# ---- the process that starts them ----


class Worker:
    """A process that runs one seed after the other, started again where it is gone."""

    def __init__(self, arguments: list[str]) -> None:
        self._command = [sys.executable, str(HERE), "--work", *arguments]
        self._process: subprocess.Popen[str] | None = None
        self._said = tempfile.TemporaryFile("w+", errors="replace")  # noqa: SIM115
        self._done = 0

    def run(self, seed: int) -> tuple[str, str]:
        """The kind of what a seed found, and words."""
        if self._process is None:
            self._process = subprocess.Popen(
                self._command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=self._said, text=True
            )
        found = self._answer(self._process, seed)
        self._done += 1
        if found is None or self._done % SEEDS_OF_A_PROCESS == 0:
            how = self._process.poll()
            self.close()
            self._said.seek(0)
            why = f"said nothing for {LONGEST} s" if how is None else f"ended with {how}"
            found = found or ("crash", f"the process {why}\n{self._said.read()[-4000:]}")
            self._said.truncate(0)
        return found

    def _answer(self, process: subprocess.Popen[str], seed: int) -> tuple[str, str] | None:
        assert process.stdin is not None
        assert process.stdout is not None
        try:
            process.stdin.write(f"{seed}\n")
            process.stdin.flush()
        except BrokenPipeError:
            return None
        while select.select([process.stdout], [], [], LONGEST)[0]:
            line = process.stdout.readline()
            if not line:
                process.wait()
                return None
            if line.startswith(MARK):
                _, kind, words = json.loads(line[len(MARK) :])
                return kind, words
        return None

    def close(self) -> None:
        """Ends the process, if there is one."""
        if self._process is not None:
            self._process.kill()
            self._process.communicate()
            self._process = None


def sweep(options: argparse.Namespace) -> int:
    """Runs all seeds; the exit status."""
    first = secrets.randbits(30) if options.first == "random" else int(options.first)
    seeds: queue.Queue[int] = queue.Queue()
    for seed in range(first, first + options.count):
        seeds.put(seed)
    counts: collections.Counter[str] = collections.Counter()
    failing: list[tuple[int, str]] = []
    lock = threading.Lock()
    arguments = [*(["--quick"] if options.quick else []), *(["--numpy"] if options.numpy else [])]

    def drive(folder: str) -> None:
        worker = Worker([*arguments, "--folder", folder])
        while True:
            try:
                seed = seeds.get_nowait()
            except queue.Empty:
                break
            kind, words = worker.run(seed)
            with lock:
                counts[kind] += 1
                if kind != "passed":
                    failing.append((seed, f"{kind}: {in_short(words)}"))
                    tell(seed, kind, words, show=options.show)
                if sum(counts.values()) % 100 == 0:
                    print(f"{sum(counts.values())} of {options.count}: {dict(counts)}", flush=True)
        worker.close()

    print(f"seeds {first} to {first + options.count - 1}", flush=True)
    with tempfile.TemporaryDirectory() as folder:
        threads = [threading.Thread(target=drive, args=(folder,)) for _ in range(options.jobs)]
        for t in threads:
            t.start()
        for t in threads:
            t.join()
    print(*(f"{seed} {words}" for seed, words in sorted(failing)), sep="\n")
    print(f"{sum(counts.values())} programs: {dict(counts)}")
    wrong = sum(n for kind, n in counts.items() if kind not in ("passed", "refused"))
    return int(wrong > 0 or counts["refused"] * MOST_REFUSED > options.count)


def in_short(words: str) -> str:
    """One line of what happened: the exception of a traceback, or else the first line, without the folder."""
    lines = words.strip().splitlines() or [""]
    line = next((x for x in reversed(lines) if x[:1].isalpha()), "") if lines[0].startswith("Traceback") else lines[0]
    return re.sub(r"\S*/(made\.py|program\.)", r"\1", line)[-300:]


def tell(seed: int, kind: str, words: str, *, show: bool) -> None:
    """Prints what a seed found: its number first, then the program, then what happened."""
    from dace_random import random_program

    print(f"==== seed {seed}: {kind}", flush=True)
    if kind != "refused" or show:
        print(random_program(seed).text)
    print(words.strip(), flush=True)


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("first", nargs="?", default="random", help="the first seed, or random")
    parser.add_argument("count", nargs="?", type=int, default=100, help="how many seeds")
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1, help="how many processes")
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--numpy", action="store_true")
    parser.add_argument("--show", action="store_true")
    parser.add_argument("--folder", help=argparse.SUPPRESS)
    parser.add_argument("--work", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.work:
        work(options)
        return 0
    return sweep(options)


if __name__ == "__main__":
    sys.exit(main())
