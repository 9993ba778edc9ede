#!/usr/bin/env python3
"""Holds the include direction of the house, and that every public header compiles alone.

    base <- device <- machine <- {program, shmem, stf, region, trace, openshmem} <- apps <- {python, bench}

A room may include itself and the rooms to its left; tests and examples may include all. Regions in tasks alone,
region/tasks.hpp and region/tasks/, come after stf. CUDA's own headers belong to src/machine/cuda and device/target,
and only device/target asks which compiler pass it is in (libcudacxx, <cuda/std/...> and the like, is portable and free
for all). Programs that measure other libraries for comparison, bench/**/rivals*, may use CUDA's headers too. Public
headers include no private ones. Memory is ordered for one GPU alone only where tools/device_scopes.py has the reason.
A network card, src/machine/network, knows bytes alone: of the block's end of a queue pair it includes the layout, and
nothing of virtual devices or check mode. How processes find each other and meet, src/machine/distributed, knows
nothing of devices at all, and what carries their messages, src/machine/mpi and src/machine/nvshmem, knows that alone.

Usage: check_includes.py [root] [--no-compile]; prints one line for each violation and returns 1 if there is one.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import re
import shlex
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

import device_scopes

BELOW: dict[str, set[str]] = {"base": set(), "device": {"base"}, "machine": {"base", "device"}}
for _room in ("program", "shmem", "stf", "region", "trace", "openshmem"):
    BELOW[_room] = {"base", "device", "machine"}
# What may include a room beside its own, by how its path begins, with the room.
BESIDE = {"include/starling/region/tasks": "stf"}
# Headers directly in include/starling gather rooms for users; inside the house only programs use them.
BELOW["starling.hpp"] = set(BELOW)
BELOW["apps"] = set(BELOW)
BELOW["python"] = set(BELOW)
BELOW["bench"] = set(BELOW) - {"python"}
FREE = ("tests", "examples")

TARGET = "include/starling/device/target/"
MAY_USE_CUDA = (TARGET, "src/machine/cuda/")
# What a card knows of the house, beside its own folder.
CARD = "src/machine/network/"
CARD_KNOWS = (
    "include/starling/base/",
    "include/starling/device/network/queue_pair.hpp",
    "include/starling/machine/card.hpp",
    CARD,
)
# What the meeting of processes knows of it.
PROCESSES = "src/machine/distributed/"
PROCESSES_KNOW = ("include/starling/base/", "src/machine/variables.hpp", PROCESSES)
# What an engine, which carries their messages, knows beside its own folder.
ENGINES = ("src/machine/mpi/", "src/machine/nvshmem/")
ENGINES_KNOW = ("include/starling/base/", PROCESSES)
RIVAL = re.compile(r"bench/(\w+/)*rivals\w*\.\w+")
CUDA_HEADER = re.compile(
    r"(cuda|cuda[A-Z_]\w*|cooperative_groups|cu(blas|solver|sparse|fft|rand|pti)\w*|nvml|nvshmemx?|nccl\w*"
    r"|device_(launch_parameters|functions|types|atomic_functions)|driver_types|vector_(types|functions)|nvtx3/\w+"
    r"|cooperative_groups/\w+)(\.(h|hpp|cuh))?"
)
PYTHON_HEADER = re.compile(r"nanobind/|Python\.h$")
COMPILER_PASS = re.compile(r"\b__(CUDA_ARCH\w*|CUDACC\w*|NVCC\w*)\b")
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*([<"])([^>"]+)[>"]', re.MULTILINE)
# Comments, and the literals in which comment signs mean nothing. Include lines stay as they are.
COMMENT = re.compile(r'^[ \t]*#[ \t]*include[^\n]*|//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"', re.DOTALL | re.MULTILINE)
SUFFIXES = {".hpp", ".cpp", ".h", ".cu", ".cuh"}


def without_comments(text: str) -> str:
    """Blanks comments and keeps the line numbers."""

    def blank(match: re.Match[str]) -> str:
        found = match.group()
        return "\n" * found.count("\n") if found.startswith(("//", "/*")) else found

    return COMMENT.sub(blank, text)


def room_of(path: str) -> str | None:
    """The room that a path from the root belongs to; None for tests, examples and everything outside the house."""
    parts = path.split("/")
    if parts[:2] == ["include", "starling"]:
        return parts[2] if len(parts) > 3 else "starling.hpp"
    if parts[0] == "src":
        return parts[1] if len(parts) > 2 else "starling.hpp"
    return parts[0] if parts[0] in ("apps", "python", "bench") else None


def may_use_cuda(path: str) -> bool:
    return path.startswith(MAY_USE_CUDA) or RIVAL.fullmatch(path) is not None


class House:
    def __init__(self, root: Path) -> None:
        self.root = root
        self.sources: dict[str, str] = {}
        for folder in ("include", "src", "apps", "python", "bench", *FREE):
            for path in sorted((root / folder).rglob("*")):
                if path.suffix in SUFFIXES and path.is_file():
                    text = path.read_text(encoding="utf-8", errors="replace")
                    self.sources[path.relative_to(root).as_posix()] = without_comments(text)

    def includes(self, path: str) -> list[tuple[int, str, str | None]]:
        """Line, name and, if it is one of ours, path of everything that a source includes."""
        text = self.sources[path]
        found = []
        for match in INCLUDE.finditer(text):
            line = text.count("\n", 0, match.start()) + 1
            found.append((line, match.group(2), self.resolve(path, match.group(2))))
        return found

    def resolve(self, path: str, name: str) -> str | None:
        for folder in (os.path.dirname(path), "include", "apps", "src", "tests"):
            candidate = os.path.normpath(os.path.join(folder, name)).replace(os.sep, "/")
            if candidate in self.sources:
                return candidate
        return None

    def violations(self) -> list[str]:
        return [f"{path}:{line}: {text}" for path in self.sources for line, text in self.violations_of(path)]

    def violations_of(self, path: str) -> list[tuple[int, str]]:
        found: list[tuple[int, str]] = []
        room = room_of(path)
        if room is not None and room not in BELOW:
            return [(1, f"'{room}' is no room of the house; known: {', '.join(BELOW)}")]
        for line, name, target in self.includes(path):
            if target is None:
                if CUDA_HEADER.fullmatch(name) and not may_use_cuda(path):
                    found.append((line, f"includes <{name}>; CUDA's headers belong to {', '.join(MAY_USE_CUDA)}"))
                elif name.startswith("starling/"):
                    found.append((line, f'includes "{name}", which does not exist'))
                elif PYTHON_HEADER.match(name) and room != "python":
                    found.append((line, f"includes <{name}>; Python belongs to python/bindings"))
                continue
            if path.startswith("include/") and not target.startswith("include/"):
                found.append((line, f'public header includes private "{name}"'))
            if path.startswith(CARD) and not target.startswith(CARD_KNOWS):
                found.append((line, f'a card includes "{name}"; it may know only {", ".join(CARD_KNOWS)}'))
            if path.startswith(PROCESSES) and not target.startswith(PROCESSES_KNOW):
                knows = ", ".join(PROCESSES_KNOW)
                found.append((line, f'the meeting of processes includes "{name}"; it may know only {knows}'))
            engine = next((folder for folder in ENGINES if path.startswith(folder)), None)
            if engine is not None and not target.startswith((*ENGINES_KNOW, engine)):
                found.append((line, f'an engine includes "{name}"; it may know only {", ".join(ENGINES_KNOW)}'))
            their_room = room_of(target)
            if room is None or their_room == room:
                continue
            beside = {other for start, other in BESIDE.items() if path.startswith(start)}
            if their_room not in BELOW[room] | beside:
                allowed = ", ".join(sorted(BELOW[room])) or "nothing else"
                found.append((line, f'{room} includes "{name}" of {their_room or target}; it may include {allowed}'))
        if not path.startswith(TARGET):
            text = self.sources[path]
            for match in COMPILER_PASS.finditer(text):
                line = text.count("\n", 0, match.start()) + 1
                found.append((line, f"mentions {match.group()}; only {TARGET} may"))
        return found + device_scopes.violations(path, self.sources[path])

    def closure(self, path: str) -> list[str]:
        """The source and everything of ours that it includes, directly or not."""
        seen = {path}
        todo = [path]
        while todo:
            for _, _, target in self.includes(todo.pop()):
                if target is not None and target not in seen:
                    seen.add(target)
                    todo.append(target)
        return sorted(seen)

    def libcudacxx_of(self, path: str) -> tuple[str, ...]:
        """The headers of libcudacxx that a source includes, directly or not."""
        named = (name for part in self.closure(path) for _, name, target in self.includes(part) if target is None)
        return tuple(sorted({name for name in named if name.startswith("cuda/")}))

    def public_headers(self) -> list[str]:
        return [path for path in self.sources if path.startswith(("include/", "apps/")) and path.endswith(".hpp")]


def libcudacxx() -> str | None:
    """The folder of <cuda/std/...>: the PyPI package's, else the CUDA toolkit's."""
    try:
        for file in files("nvidia-cuda-cccl") or []:
            if file.as_posix().endswith("/cuda/std/mdspan"):
                return str(Path(str(file.locate())).parents[2])
    except PackageNotFoundError:
        pass
    toolkit = Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "include/cccl"
    return str(toolkit) if (toolkit / "cuda/std/mdspan").exists() else None


def uncompilable_headers(house: House, cache_file: Path) -> list[str]:
    """Compiles every public header by itself; what compiled before and has not changed since is not tried again.

    What a header includes of libcudacxx is precompiled, which takes two thirds of the time: others have it too.
    """
    command = [*shlex.split(os.environ.get("CXX", "c++")), "-std=c++20", "-Wall", "-Wextra", "-Werror"]
    command += [f"-I{house.root / folder}" for folder in ("include", "apps")]
    if folder := libcudacxx():
        command += ["-isystem", folder]
    try:
        version = subprocess.run([command[0], "--version"], capture_output=True, text=True, check=True).stdout
    except (OSError, subprocess.CalledProcessError) as error:
        return [f"no C++ compiler: {error}"]

    try:
        good: set[str] = set(json.loads(cache_file.read_text()))
    except (OSError, ValueError):
        good = set()

    def key_of(path: str) -> str:
        parts = [version, *command, *(house.sources[part] for part in house.closure(path))]
        return hashlib.sha256("\0".join([path, *parts]).encode()).hexdigest()

    def precompiled(names: tuple[str, ...]) -> Path:
        header = cache_file.parent / "headers_alone" / f"{'_'.join(names).replace('/', '_')}.hpp"
        header.parent.mkdir(parents=True, exist_ok=True)
        header.write_text("".join(f"#include <{name}>\n" for name in names))
        # Where this fails, the header itself is included.
        subprocess.run([*command, "-x", "c++-header", str(header)], capture_output=True)
        return header

    def compile_alone(path: str) -> str | None:
        source = f'#include "{house.root / path}"\nint main() {{}}\n'
        before = ["-include", str(preludes[names])] if (names := house.libcudacxx_of(path)) else []
        words = [*command, "-fsyntax-only", *before, "-x", "c++", "-"]
        result = subprocess.run(words, input=source, capture_output=True, text=True)
        if result.returncode == 0:
            return None
        errors = [line for line in result.stderr.splitlines() if "error" in line] or ["no message"]
        return f"{path}:1: does not compile alone: {errors[0]}"

    keys = {path: key_of(path) for path in house.public_headers()}
    todo = [path for path, key in keys.items() if key not in good]
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        preludes = {names: precompiled(names) for names in {house.libcudacxx_of(path) for path in todo} if names}
        results = dict(zip(todo, pool.map(compile_alone, todo), strict=True))
    cache_file.parent.mkdir(parents=True, exist_ok=True)
    cache_file.write_text(json.dumps(sorted(key for path, key in keys.items() if results.get(path) is None)))
    return [message for message in results.values() if message is not None]


def main() -> int:
    parser = argparse.ArgumentParser(description="Checks the include direction and that public headers compile alone.")
    parser.add_argument("root", nargs="?", default=Path(__file__).resolve().parent.parent, type=Path)
    parser.add_argument("--no-compile", action="store_true", help="only the include direction")
    arguments = parser.parse_args()
    house = House(arguments.root.resolve())
    problems = house.violations()
    if not arguments.no_compile:
        problems += uncompilable_headers(house, house.root / "build/headers_alone.json")
    for problem in problems:
        print(problem)
    print(f"check_includes: {len(house.sources)} sources, {len(problems)} violations", file=sys.stderr)
    return 1 if problems else 0


if __name__ == "__main__":
    sys.exit(main())
