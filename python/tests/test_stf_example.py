"""The example of task flow."""

from __future__ import annotations

import re

import pytest

from stf_marks import computes_in_bodies
from test_process import ROOT, python

EXAMPLE = ROOT / "examples/stf_blocked_product.py"
pytestmark = pytest.mark.skipif(not EXAMPLE.exists(), reason="not in the source tree")


@computes_in_bodies
@pytest.mark.parametrize("options", [[], ["--devices", "1"], ["--device-memory", "128K"]])
def test_the_example(options):
    result = python(str(EXAMPLE), "--size", "192", "--block", "48", *options)
    assert result.returncode == 0, result.stderr
    assert result.stdout.count("as NumPy has it") == 2
    moved = re.search(r"64 tasks, .* (\d+) blocks moved", result.stdout)
    assert moved
    assert (int(moved[1]) > 0) == ("--device-memory" in options)


def test_the_example_says_what_is_wrong():
    result = python(str(EXAMPLE), "--size", "100")
    assert result.returncode == 1
    assert result.stderr.startswith("stf_blocked_product: --size 100 and --block 64")
