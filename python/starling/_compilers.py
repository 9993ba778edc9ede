"""Where compilers are that Starling calls."""

from __future__ import annotations

import os
import shutil

__all__ = ["nvcc_path"]


def nvcc_path() -> str | None:
    """The nvcc of CUDA_HOME, that on the path, or that of /usr/local/cuda; None: there is none."""
    home = os.environ.get("CUDA_HOME", "")
    folders = [*([f"{home}/bin"] if home else []), os.environ.get("PATH", ""), "/usr/local/cuda/bin"]
    return shutil.which("nvcc", path=os.pathsep.join(folders))
