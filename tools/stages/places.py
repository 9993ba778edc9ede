"""Where things are, and how many commands run at once."""

from __future__ import annotations

import os
from pathlib import Path

__all__ = ["BUILD", "CORES", "LOGS", "PYTHON", "ROOT"]

ROOT = Path(__file__).resolve().parent.parent.parent
BUILD = ROOT / "build"
LOGS = BUILD / "logs"
PYTHON = ROOT / ".venv/bin/python"
CORES = os.cpu_count() or 1
