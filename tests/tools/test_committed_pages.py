"""The pages of results, and the tables of others, are what their generators make of the committed results."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[2]
PAGES = {
    "bench/results_page.py": ("docs/results.md",),
    "bench/cpu_free_stencil/stencil_page.py": ("docs/stencil_results.md",),
    "bench/cpu_free_cg/page.py": ("docs/cg_results.md",),
    "bench/stf/stf_page.py": ("docs/tasks_results.md",),
    "bench/communication/comm_page.py": ("docs/communication_results.md",),
    "bench/proact/page.py": ("docs/regions_results.md",),
    "bench/processes/page.py": ("docs/processes.md",),
    "bench/scale/scale_page.py": ("docs/scale.md",),
    "bench/check/page.py": ("docs/check.md",),
    "bench/dace/page.py": ("docs/dace.md",),
    "bench/readme_figures.py": ("README.md",),
}


@pytest.fixture(scope="module")
def copy(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What the generators read and write, where they can do no harm."""
    folder = tmp_path_factory.mktemp("pages")
    shutil.copytree(ROOT / "bench", folder / "bench", ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copytree(ROOT / "docs", folder / "docs")
    shutil.copy(ROOT / "README.md", folder)
    return folder


@pytest.mark.parametrize("generator", PAGES)
def test_page(copy: Path, generator: str) -> None:
    subprocess.run([sys.executable, str(copy / generator)], check=True, capture_output=True, text=True, timeout=120)
    for page in PAGES[generator]:
        assert (copy / page).read_text() == (ROOT / page).read_text(), f"{page}: run `python {generator}`"
