#!/usr/bin/env python3
"""Takes one fence, wait, signal, slot or barrier at a time out of the shipped protocols; check mode must notice.

Each mutation (see tools/mutations) replaces an exact text of a source; a program of tests/mutate that relies on it is
built with the changed source alone compiled again, and run under seeded schedules. The unchanged programs must pass
first. Mutations that change nothing observable are listed with the reason. Exit status 0: every other mutation is
noticed.

Usage: mutate_protocols.py [--build FOLDER] [--seeds N] [--only TEXT] [--within-blocks] [--list]
"""

from __future__ import annotations

import argparse
import json
import os
import re
import shlex
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

from mutations import MUTATIONS, PROGRAMS, ROOT, WITHIN_BLOCKS, Broken, Mutation, replaced

LIKE = "apps/stencil/step/cpu_free_kernels.cpp"  # how this is compiled, all are


@dataclass
class Outcome:
    found: str  # empty: nothing
    seconds: float


class Workshop:
    """Builds and runs programs, with one mutation or none."""

    def __init__(self, build: Path, scratch: Path, seeds: int) -> None:
        self.scratch = scratch
        self.seeds = seeds
        self.libraries = [build / name for name in ("libstarling.a", "libstarling_accesses.a", "libstarling.a")]
        for library in self.libraries:
            if not library.exists():
                raise Broken(f"{library} is not there; build it first: make test, or cmake --build {build}")
        self.command = self.compile_command(build)
        # Calls that check mode looks at by the linker.
        self.wrapped = sorted(set(re.findall(r"--wrap=\w+", (build / "build.ninja").read_text())))
        self.standard = scratch / "standard.hpp"

    @staticmethod
    def compile_command(build: Path) -> list[str]:
        """How CMake compiles for check mode, without the input and the output; the code need not be fast."""
        for entry in json.loads((build / "compile_commands.json").read_text()):
            if entry["file"].endswith(LIKE) and "starling_stencil_checked.dir" in entry["command"]:
                words = shlex.split(entry["command"])
                words = [word for word in words[: words.index("-o")] if not word.startswith("-Werror")]
                return ["-O1" if word == "-O3" else word for word in words]
        raise Broken(f"{build} has no check mode: it needs g++ and a build without CUDA")

    def precompile(self) -> None:
        """What no mutation changes, and takes most of the time."""
        headers = ("cuda/atomic", "cuda/std/mdspan", "cstdio", "functional", "memory", "numeric", "string", "vector")
        self.standard.write_text("".join(f"#include <{header}>\n" for header in headers))
        status, said = self.run([*self.command, "-x", "c++-header", self.standard, "-o", f"{self.standard}.gch"], 300)
        if status != 0:
            raise Broken(f"the standard headers do not compile: {said[-200:]}")

    def run(self, words: Iterable[str | Path], timeout: float, **environment: str) -> tuple[int | None, str]:
        try:
            done = subprocess.run(
                [str(word) for word in words],
                cwd=ROOT,
                env={**os.environ, **environment},
                capture_output=True,
                text=True,
                errors="replace",
                timeout=timeout,
            )
        except subprocess.TimeoutExpired:
            return None, ""
        return done.returncode, done.stdout + done.stderr

    def compile(self, source: Path, output: Path, changed: Path | None) -> None:
        # What is changed hides what it replaces.
        folders = [f"-I{changed}/include", f"-I{changed}/apps"] if changed else []
        if changed and source.is_relative_to(changed):
            folders += ["-iquote", str(ROOT / source.relative_to(changed).parent)]
        words = [
            self.command[0],
            *folders,
            *self.command[1:],
            f"-I{ROOT}/src",
            f"-I{ROOT}/tests/mutate",
            "-include",
            str(self.standard),
        ]
        words += ["-o", str(output), "-c", str(source)]
        status, said = self.run(words, 300)
        if status != 0:
            errors = [line for line in said.splitlines() if "error" in line] or said.splitlines()
            raise Broken(f"{source.name} does not compile: {'; '.join(errors[:2])}")

    def object_of(self, name: str, source: str) -> Path:
        """The unchanged object; programs share it unless a setting of theirs is in it."""
        setting = PROGRAMS[name].setting
        own = re.sub(r"\W+", "_", name) if setting and setting[0] == source else "shared"
        return self.scratch / own / f"{source.replace('/', '_')}.o"

    def compile_unchanged(self, name: str, source: str) -> None:
        output = self.object_of(name, source)
        output.parent.mkdir(exist_ok=True)
        self.compile(self.written(name, source, output.parent, None), output, None)

    def written(self, name: str, source: str, folder: Path, mutation: Mutation | None) -> Path:
        """The source file, in `folder` if its text is not that of the tree."""
        setting = PROGRAMS[name].setting
        text = (ROOT / source).read_text()
        if setting and setting[0] == source:
            text = replaced(text, setting[1], setting[2], source)
        if mutation and mutation.file == source:
            text = replaced(text, mutation.old, mutation.new, source)
        changed = folder / source
        if text == (ROOT / source).read_text():
            return changed if changed.exists() else ROOT / source
        changed.parent.mkdir(parents=True, exist_ok=True)
        changed.write_text(text)
        return changed

    def judge(self, name: str, mutation: Mutation | None, folder: Path) -> Outcome:
        program = PROGRAMS[name]
        folder.mkdir(exist_ok=True)
        again = program.again(mutation.file) if mutation else ()
        if mutation and mutation.file not in program.sources:
            changed = folder / mutation.file
            changed.parent.mkdir(parents=True, exist_ok=True)
            text = (ROOT / mutation.file).read_text()
            changed.write_text(replaced(text, mutation.old, mutation.new, mutation.file))
            beside(changed, (ROOT / mutation.file).parent)
        objects = []
        for source in program.sources:
            output = self.object_of(name, source)
            if source in again:
                output = folder / output.name
                self.compile(self.written(name, source, folder, mutation), output, folder)
            objects.append(output)
        binary = folder / "program"
        wrapped = [f"-Wl,{option}" for option in self.wrapped]
        # An object of the library can hold several sources, also one that is compiled here: the first definition
        # counts. The library is position-independent code, whose functions call each other by their names.
        linked = [*self.libraries, *wrapped, "-Wl,--allow-multiple-definition", "-lpthread", "-ldl"]
        words = [self.command[0], *objects, *linked, "-o", binary]
        status, said = self.run(words, 120)
        if status != 0:
            raise Broken(f"does not link: {said[-200:]}")
        start = time.monotonic()
        words = [word.format(seeds=self.seeds) for word in program.arguments]
        environment = {key: value.format(seeds=self.seeds) for key, value in program.environment}
        status, said = self.run([binary, *words], 240, **environment)
        return Outcome(verdict(status, said), time.monotonic() - start)


def beside(changed: Path, folder: Path) -> None:
    """Links to the other files of a folder, beside a changed one: some include each other by their names alone."""
    for path in folder.iterdir():
        if path.is_file() and path.name != changed.name:
            (changed.parent / path.name).symlink_to(path)


def verdict(status: int | None, said: str) -> str:
    if status == 0:
        return ""
    if status is None:
        raise Broken("no end after 240 s")
    last = said.strip().splitlines()[-1] if said.strip() else ""
    if last.startswith(("found ", "wrong result")):
        return last
    if match := re.search(r"check: (.*) \(seed (\d+)\)", said):  # an example
        return f"found {match[1]}, seed {match[2]}"
    if match := re.search(r"stall: .*", said):
        return f"found {match[0]}"
    # Before the next call, where check mode would have said what was read.
    if status in (-signal.SIGSEGV, -signal.SIGBUS):
        return "crash: by what was read in place of a value"
    if status > 0 and not said.strip().startswith("usage"):
        return f"wrong result: {last or 'exit status ' + str(status)}"
    raise Broken(f"ended with {status}: {last}")


def main() -> int:
    parser = argparse.ArgumentParser(description="Shows that check mode notices mistakes in the shipped protocols.")
    parser.add_argument("--build", type=Path, default=ROOT / "build/host", help="a build with check mode")
    parser.add_argument("--seeds", type=int, default=200, help="schedules for each run of a program")
    parser.add_argument("--jobs", type=int, default=min(os.cpu_count() or 1, 8))
    parser.add_argument("--only", default="", help="mutations whose program, file or text contains this")
    parser.add_argument(
        "--within-blocks",
        action="store_true",
        help="barriers and choices of one thread of a block, with 3 threads each",
    )
    parser.add_argument("--list", action="store_true", help="name the mutations and stop")
    arguments = parser.parse_args()

    mutations = WITHIN_BLOCKS if arguments.within_blocks else MUTATIONS
    chosen = [m for m in mutations if arguments.only in f"{m.program} {m.file} {m.what}"]
    if arguments.list or not chosen:
        print("\n".join(f"{m.program}: {m.what} ({m.file})" for m in chosen) or "no such mutation")
        return 0 if chosen else 2
    names = list(dict.fromkeys(m.program for m in chosen))
    bad = 0
    with tempfile.TemporaryDirectory() as scratch, ThreadPoolExecutor(arguments.jobs) as pool:
        try:
            shop = Workshop(arguments.build.resolve(), Path(scratch), arguments.seeds)
            shop.precompile()
            needed = {
                shop.object_of(name, source): (name, source) for name in names for source in PROGRAMS[name].sources
            }
            list(pool.map(lambda pair: shop.compile_unchanged(*pair), needed.values()))
            for name in names:
                outcome = shop.judge(name, None, Path(scratch, f"unchanged {name}"))
                print(f"{name}, unchanged: {outcome.found or 'passed'} ({outcome.seconds:.1f} s)", flush=True)
                bad += bool(outcome.found)
        except Broken as reason:
            print(f"FAILED: {reason}")
            return 1
        if bad:
            return 1

        def attempt(numbered: tuple[int, Mutation]) -> tuple[Mutation, str, bool]:
            number, mutation = numbered
            try:
                found = shop.judge(mutation.program, mutation, Path(scratch, str(number))).found
            except Broken as reason:
                return mutation, f"NOT JUDGED: {reason}", False
            if mutation.same:
                return mutation, f"NOT the same: {found}" if found else f"same: {mutation.same}", not found
            return mutation, found or "SURVIVES", bool(found)

        file = ""
        noticed = equivalent = 0
        for mutation, text, good in pool.map(attempt, enumerate(chosen)):
            if (heading := f"{mutation.file} ({mutation.program})") != file:
                file = heading
                print(f"\n{file}")
            print(f"  {mutation.what:<52} {text}", flush=True)
            bad += not good
            noticed += good and not mutation.same
            equivalent += good and bool(mutation.same)
    print(f"\n{noticed} mutations noticed, {equivalent} change nothing, {bad} survive or could not be judged")
    return 1 if bad else 0


if __name__ == "__main__":
    sys.exit(main())
