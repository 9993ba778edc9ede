"""Starling in a process of its own: it is silent, and nothing is left or lost at the end."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from PIL import Image

ROOT = Path(__file__).resolve().parents[2]


def python(*arguments, **environment):
    return subprocess.run(
        [sys.executable, *arguments],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(sys.path), **environment},
        capture_output=True,
        text=True,
        timeout=120,
        check=False,
    )


@pytest.mark.parametrize(
    "program",
    [
        "import starling",
        "import starling.cli",
        "import starling; m = starling.machine.host(2)",
        "import numpy as np, starling; starling.stencil.jacobi(np.ones((9, 9)), 3)",
        "import numpy as np, starling; starling.linalg.cg(np.eye(9), np.ones(9), callback=lambda x: None)",
        # An error that is still held, and a march that has not come to its end.
        """
import numpy as np, starling
s = starling.stencil.Stencil((9, 9))
s.load(np.ones((9, 9), 'f4'))
march = s.march(100, stop_every=10)
next(march)
try:
    s.store(np.ones((9, 8), 'f4'))
except starling.Error as error:
    kept = error
""",
        "import sys, numpy as np, starling; s = starling.stencil.Stencil((9, 9)); sys.exit(0)",
    ],
)
def test_is_silent(program):
    result = python("-X", "dev", "-c", program)
    assert (result.returncode, result.stdout, result.stderr) == (0, "", "")


def test_uncaught_error():
    result = python("-c", "import numpy as np, starling; starling.stencil.jacobi(np.ones((3, 3)), 0)")
    assert result.returncode == 1
    assert "starling.errors.ArgumentError: steps = 0" in result.stderr
    assert "leak" not in result.stderr


DEMO = ROOT / "examples/diffuse_photograph.py"
SOLVE = ROOT / "examples/solve_matrix.py"
in_the_source_tree = pytest.mark.skipif(not DEMO.exists(), reason="not in the source tree")


@in_the_source_tree
def test_the_demo(tmp_path):
    pytest.importorskip("skimage")
    result = python(str(DEMO), "--steps", "5", "--out", str(tmp_path / "demo"))
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("yes, every bit") == 3
    before, after, both = (tmp_path / "demo" / f"{name}.png" for name in ("before", "after", "side_by_side"))
    with Image.open(before) as a, Image.open(after) as b, Image.open(both) as c:
        assert a.size == b.size == (512, 512)
        assert c.size[0] > 1000
        assert not np.array_equal(np.asarray(a), np.asarray(b))


@in_the_source_tree
def test_the_demo_says_what_is_wrong():
    pytest.importorskip("skimage")
    result = python(str(DEMO), "--devices", "1000")
    assert result.returncode == 1
    assert result.stderr.startswith("diffuse_photograph: devices = 1000")


@in_the_source_tree
def test_the_demo_of_linear_systems(tmp_path):
    result = python(str(SOLVE), "--points", "0", "--devices", "1", "--out", str(tmp_path / "demo"))
    assert result.returncode == 0, result.stderr
    for name in ("SciPy", "standard", "fused", "pipelined", "chebyshev"):
        assert name in result.stdout
    assert sorted(p.name for p in (tmp_path / "demo").iterdir()) == ["bar.mtx", "bar_residuals.png"]
    # And with a file of one's own.
    own = str(tmp_path / "demo/bar.mtx")
    result = python(str(SOLVE), own, "--points", "0", "--devices", "1", "--out", str(tmp_path))
    assert result.returncode == 0, result.stderr


@in_the_source_tree
def test_the_demo_of_linear_systems_says_what_is_wrong(tmp_path):
    result = python(str(SOLVE), str(tmp_path / "nowhere.mtx"))
    assert result.returncode == 1
    assert result.stderr.startswith(f"solve_matrix: {tmp_path / 'nowhere.mtx'}: no such file")
