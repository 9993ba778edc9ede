"""What compilers of programs have in common: headers, names in the cache, how they are called."""

from __future__ import annotations

import functools
import hashlib
import os
import shlex
import subprocess
from importlib.metadata import PackageNotFoundError, files
from pathlib import Path
from typing import Protocol

from starling._native import __version__
from starling.errors import Unsupported

__all__ = ["Builder", "libcudacxx_headers", "name_of", "own_headers", "run"]

PACKAGE = Path(__file__).resolve().parents[2]


class Builder(Protocol):
    """Compiles the source of a program for one kind of device."""

    @property
    def object_name(self) -> str:
        """Of the file that it makes."""
        ...

    @property
    def for_gpus(self) -> bool:
        """Whether the file is GPU code, else a shared object of the host."""
        ...

    def key(self, source: str) -> str:
        """What names the compiled program: everything that it is made of."""
        ...

    def compile(self, source: Path, to: Path) -> None:
        """Compiles a file.

        Raises:
            Unsupported: The compiler fails; the message has what it says.
        """
        ...


def name_of(source: str, *parts: str) -> str:
    """A name for what is made of a source, Starling's headers and these parts."""
    return hashlib.sha256("\0".join([source, _headers_hash(), __version__, *parts]).encode()).hexdigest()[:32]


def run(words: list[str]) -> None:
    """Runs a compiler.

    Raises:
        Unsupported: It fails; the message has the first lines of what it says.
    """
    done = subprocess.run(words, capture_output=True, text=True)
    if done.returncode != 0:
        lines = [n for n in done.stderr.splitlines() if "error" in n] or done.stderr.splitlines()[-1:]
        raise Unsupported(f"{shlex.join(words)} fails: {'; '.join(lines[:3])}")


def own_headers() -> Path:
    """The folder of Starling's headers.

    Raises:
        Unsupported: They are missing.
    """
    for folder in (PACKAGE / "include", PACKAGE.parents[1] / "include"):
        if (folder / "starling/program").is_dir():
            return folder
    raise Unsupported(f"the package in {PACKAGE} has no headers; install it again with `pip install starling[dace]`")


def libcudacxx_headers() -> Path:
    """The folder of <cuda/std/...> for compilers that do not bring it.

    Raises:
        Unsupported: It is missing.
    """
    try:
        for file in files("nvidia-cuda-cccl") or []:
            if file.as_posix().endswith("/cuda/std/mdspan"):
                return Path(str(file.locate())).resolve().parents[2]
    except PackageNotFoundError:
        pass
    toolkit = Path(os.environ.get("CUDA_HOME", "/usr/local/cuda")) / "include/cccl"
    if not (toolkit / "cuda/std/mdspan").is_file():
        raise Unsupported("the headers of libcudacxx are missing; install them with `pip install nvidia-cuda-cccl`")
    return toolkit


@functools.cache
def _headers_hash() -> str:
    """Of the contents of all headers that a program may include."""
    digest = hashlib.sha256()
    folder = own_headers() / "starling"
    for room in ("base", "device", "program"):
        for path in sorted((folder / room).rglob("*.hpp")):
            digest.update(path.read_bytes())
    return digest.hexdigest()
