"""Compiles the source of a program for GPUs: to their machine code, which a machine loads."""

from __future__ import annotations

import functools
import subprocess
from dataclasses import dataclass
from pathlib import Path

from starling._compilers import nvcc_path
from starling.dace.build.sources import name_of, own_headers, run
from starling.errors import Unsupported

__all__ = ["Nvcc", "nvcc"]

# No fused multiply-add: the bits are NumPy's.
FLAGS = ("-cubin", "-std=c++20", "-O3", "--fmad=false", "--extended-lambda", "--expt-relaxed-constexpr", "-lineinfo")


@dataclass(frozen=True)
class Nvcc:
    """nvcc for GPUs of one compute capability, as 90."""

    command: str
    version: str
    folder: Path
    capability: int

    object_name = "program.cubin"
    for_gpus = True

    def key(self, source: str) -> str:
        """What names the compiled program: everything that it is made of."""
        return name_of(source, "cuda", str(self.capability), self.version, *FLAGS)

    def compile(self, source: Path, to: Path) -> None:
        """Compiles a file.

        Raises:
            Unsupported: nvcc fails; the message has what it says.
        """
        run([self.command, *FLAGS, f"-arch=sm_{self.capability}", f"-I{self.folder}", "-x", "cu", str(source), "-o", str(to)])


def nvcc(capability: int) -> Nvcc:
    """The nvcc of CUDA_HOME, that on the path, or that of /usr/local/cuda.

    Raises:
        Unsupported: There is none.
    """
    command = nvcc_path()
    if command is None:
        raise Unsupported(
            "programs of starling.dace need nvcc for GPUs; install the CUDA toolkit and put its bin folder on PATH, or "
            "pass machine=starling.machine.host(n)"
        )
    return Nvcc(command, _version(command), own_headers(), capability)


@functools.cache
def _version(command: str) -> str:
    return subprocess.run([command, "--version"], capture_output=True, text=True).stdout
