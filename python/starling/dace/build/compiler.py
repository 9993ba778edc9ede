"""Compiles the source of a program to a shared object."""

from __future__ import annotations

import functools
import hashlib
import os
import shlex
import shutil
import subprocess
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path

from starling._native import __version__
from starling.errors import Unsupported

__all__ = ["Compiler", "compiler", "headers"]

PACKAGE = Path(__file__).resolve().parents[2]
# No fused multiply-add: the bits are NumPy's.
FLAGS = ("-std=c++20", "-O3", "-march=native", "-ffp-contract=off", "-fno-math-errno", "-fPIC", "-fvisibility=hidden", "-g1")
# Loads and stores of the kernel are calls, and copies of the C library too.
WATCHED = ("-O1", "-fsanitize=thread", "-DSTARLING_CHECKED")
WRAPPED = tuple(f"-Wl,--wrap={name}" for name in ("memcpy", "memmove", "memset"))
CALLS = '#include "starling/program/access_calls.hpp"\n'


class Compiler:
    """A C++ compiler and what it needs to compile programs."""

    def __init__(self, command: list[str], version: str, folders: list[Path]) -> None:
        self.command = command
        self.version = version
        self.folders = folders

    def key(self, source: str, checked: bool) -> str:
        """What names the compiled program: everything that it is made of."""
        parts = [source, str(checked), *self.command, self.version, *FLAGS, *WATCHED, _headers_hash(), __version__, _processor()]
        return hashlib.sha256("\0".join(parts).encode()).hexdigest()[:32]

    def compile(self, source: Path, to: Path, checked: bool) -> None:
        """Compiles a file.

        Raises:
            Unsupported: The compiler fails; the message has what it says.
        """
        includes = [f"-I{self.folders[0]}", *(f"-isystem{f}" for f in self.folders[1:])]
        if not checked:
            self._run([*self.command, *FLAGS, *includes, "-shared", str(source), "-o", str(to)])
            return
        watched, calls = source.with_suffix(".o"), source.with_name("calls.cpp")
        calls.write_text(CALLS)
        self._run([*self.command, *FLAGS, *WATCHED, *includes, "-c", str(source), "-o", str(watched)])
        self._run([*self.command, *FLAGS, *includes, "-shared", *WRAPPED, str(watched), str(calls), "-o", str(to)])

    def _run(self, words: list[str]) -> None:
        done = subprocess.run(words, capture_output=True, text=True)
        if done.returncode != 0:
            lines = [n for n in done.stderr.splitlines() if "error" in n] or done.stderr.splitlines()[-1:]
            raise Unsupported(f"{shlex.join(words)} fails: {'; '.join(lines[:3])}")


def headers() -> list[Path]:
    """The folder of Starling's headers and that of <cuda/std/...>.

    Raises:
        Unsupported: One is missing; the message says how to get it.
    """
    own = next((f for f in (PACKAGE / "include", PACKAGE.parents[1] / "include") if (f / "starling/program").is_dir()), None)
    if own is None:
        raise Unsupported(f"the package in {PACKAGE} has no headers; install it again with `pip install starling[dace]`")
    try:
        for file in files("nvidia-cuda-cccl") or []:
            if file.as_posix().endswith("/cuda/std/mdspan"):
                return [own, Path(str(file.locate())).resolve().parents[2]]
    except PackageNotFoundError:
        pass
    toolkit = Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "include/cccl"
    if not (toolkit / "cuda/std/mdspan").is_file():
        raise Unsupported("the headers of libcudacxx are missing; install them with `pip install nvidia-cuda-cccl`")
    return [own, toolkit]


def compiler() -> Compiler:
    """The compiler that CXX names, else c++.

    Raises:
        Unsupported: There is none, or headers are missing.
    """
    return _compiler(os.environ.get("CXX", "c++"))


@functools.cache
def _compiler(named: str) -> Compiler:
    command = shlex.split(named)
    if shutil.which(command[0]) is None:
        raise Unsupported(f"there is no C++ compiler {command[0]!r}; install g++ 12 or newer, or set CXX")
    version = subprocess.run([command[0], "--version"], capture_output=True, text=True).stdout
    return Compiler(command, version, headers())


@functools.cache
def _headers_hash() -> str:
    """Of the contents of all headers that a program may include."""
    digest = hashlib.sha256()
    folder = headers()[0] / "starling"
    for room in ("base", "device", "program"):
        for path in sorted((folder / room).rglob("*.hpp")):
            digest.update(path.read_bytes())
    return digest.hexdigest()


@functools.cache
def _processor() -> str:
    """What -march=native means here."""
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
    except OSError:
        return ""
    return "".join(sorted({n for n in lines if n.startswith(("flags", "model name"))}))
