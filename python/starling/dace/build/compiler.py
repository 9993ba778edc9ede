"""Compiles the source of a program for virtual devices: to a shared object."""

from __future__ import annotations

import functools
import os
import shlex
import shutil
import subprocess
from dataclasses import dataclass
from pathlib import Path

from starling.dace.build.sources import libcudacxx_headers, name_of, own_headers, run
from starling.errors import Unsupported

__all__ = ["Compiler", "compiler"]

# No fused multiply-add: the bits are NumPy's.
FLAGS = ("-std=c++20", "-O3", "-march=native", "-ffp-contract=off", "-fno-math-errno", "-fPIC", "-fvisibility=hidden", "-g1")
# Loads and stores of the kernel are calls, and copies of the C library too.
WATCHED = ("-O1", "-fsanitize=thread", "-DSTARLING_CHECKED")
WRAPPED = tuple(f"-Wl,--wrap={name}" for name in ("memcpy", "memmove", "memset"))
CALLS = '#include "starling/program/access_calls.hpp"\n'


@dataclass(frozen=True)
class Compiler:
    """A C++ compiler and what it needs to compile programs, whose loads and stores check mode sees if `checked`."""

    command: tuple[str, ...]
    version: str
    folders: tuple[Path, ...]
    checked: bool

    object_name = "program.so"
    for_gpus = False

    def key(self, source: str) -> str:
        """What names the compiled program: everything that it is made of."""
        return name_of(source, str(self.checked), *self.command, self.version, *FLAGS, *WATCHED, _processor())

    def compile(self, source: Path, to: Path) -> None:
        """Compiles a file.

        Raises:
            Unsupported: The compiler fails; the message has what it says.
        """
        includes = [f"-I{self.folders[0]}", *(f"-isystem{f}" for f in self.folders[1:])]
        if not self.checked:
            run([*self.command, *FLAGS, *includes, "-shared", str(source), "-o", str(to)])
            return
        watched, calls = source.with_suffix(".o"), source.with_name("calls.cpp")
        calls.write_text(CALLS)
        run([*self.command, *FLAGS, *WATCHED, *includes, "-c", str(source), "-o", str(watched)])
        run([*self.command, *FLAGS, *includes, "-shared", *WRAPPED, str(watched), str(calls), "-o", str(to)])


def compiler(checked: bool) -> Compiler:
    """The compiler that CXX names, else c++.

    Raises:
        Unsupported: There is none, or headers are missing.
    """
    return _compiler(os.environ.get("CXX", "c++"), checked)


@functools.cache
def _compiler(named: str, checked: bool) -> Compiler:
    command = shlex.split(named)
    if shutil.which(command[0]) is None:
        raise Unsupported(f"there is no C++ compiler {command[0]!r}; install g++ 12 or newer, or set CXX")
    version = subprocess.run([command[0], "--version"], capture_output=True, text=True).stdout
    return Compiler(tuple(command), version, (own_headers(), libcudacxx_headers()), checked)


@functools.cache
def _processor() -> str:
    """What -march=native means here."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    return "".join(sorted({n for n in lines if n.startswith(("flags", "model name"))}))
