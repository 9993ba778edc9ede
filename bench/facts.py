"""The machine and the versions behind a result."""

from __future__ import annotations

import datetime
import os
import platform
import re
import subprocess
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent


def output_of(command: list[str]) -> str:
    """What a command prints, or nothing if it is not there."""
    try:
        return subprocess.run(command, capture_output=True, text=True, timeout=30, check=True).stdout.strip()
    except (OSError, subprocess.SubprocessError):
        return ""


def machine() -> dict[str, object]:
    """The machine and the versions behind a result."""
    processor = re.search(r"model name\s*:\s*(.*)", Path("/proc/cpuinfo").read_text())
    query = "--query-gpu=name,driver_version,memory.total"
    nvcc = re.search(r"release ([\d.]+)", output_of(["nvcc", "--version"]))
    each = pes_per_gpu()
    shared = {"pes_per_gpu": each, "gpu_sharing": os.environ.get("STARLING_GPU_SHARING") or "auto"} if each > 1 else {}
    return {
        "date": datetime.date.today().isoformat(),
        "commit": os.environ.get("STARLING_COMMIT")
        or output_of(["git", "-C", str(ROOT), "rev-parse", "--short", "HEAD"]),
        "gpus": [line for line in output_of(["nvidia-smi", query, "--format=csv,noheader"]).splitlines() if line],
        "processor": processor.group(1) if processor else platform.machine(),
        "cores": os.cpu_count(),
        "compiler": output_of(["c++", "--version"]).splitlines()[:1],
        "nvcc": nvcc.group(1) if nvcc else "",
        **shared,
    }


def pes_per_gpu() -> int:
    """How many PEs of the programs that are measured share a GPU."""
    text = os.environ.get("STARLING_PES_PER_GPU", "")
    return max(1, int(text)) if text.isdecimal() else 1
