"""The kernels of npbench that docs/dace.md tells of: those that run against NumPy, and those that are refused."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starling.dace", reason="DaCe is missing: pip install 'starling[dace]'", exc_type=ImportError)

import dace_npbench as npbench
from starling.dace import ProgramError
from starling.machine import Machine
from test_process import ROOT

COMPLETE = os.environ.get("STARLING_TEST_COMPLETE") == "1"
Devices = Callable[[int], Machine]
QUICK = ("hdiff",)
# Their sums, and functions of the C library, are rounded otherwise than NumPy's.
ROUNDED = ("arc_distance", "gemm", "k2mm", "k3mm", "gesummv", "mlp", "softmax")


@pytest.mark.parametrize(
    ("program", "inputs"),
    [case for case in npbench.RUNS if COMPLETE or case[0].__name__ in QUICK],
    ids=lambda c: getattr(c, "__name__", ""),
)
def test_runs(program: Any, inputs: npbench.Inputs, rng: np.random.Generator, devices: Devices) -> None:
    for pes, blocks in ((1, 2), (2, 3), (3, 1), (4, 2)):
        arguments = inputs(rng)
        want = [a.copy() if isinstance(a, np.ndarray) else a for a in arguments]
        program.function(*want)
        program(*arguments, machine=devices(pes), blocks=blocks)
        for have, wanted in zip(arguments, want, strict=True):
            if program.__name__ in ROUNDED:
                np.testing.assert_allclose(have, wanted, rtol=1e-12, atol=0)
            else:
                np.testing.assert_array_equal(have, wanted)


@pytest.mark.skipif(not COMPLETE, reason="parses many programs: STARLING_TEST_COMPLETE=1 runs it")
@pytest.mark.parametrize(("program", "words"), npbench.REFUSED, ids=lambda c: getattr(c, "__name__", ""))
def test_refused(program: Any, words: str) -> None:
    with pytest.raises(ProgramError, match=re.escape(words)):
        program.explain()


def test_the_page_tells_the_same() -> None:
    page = (ROOT / "docs/dace.md").read_text()
    table = page.split("<!-- npbench:begin -->")[1].split("<!-- npbench:end -->")[0]
    told: dict[str, bool] = {}
    for names, verdict in re.findall(r"^\| (.+?) \| (runs|refused)", table, re.M):
        told.update(dict.fromkeys(re.findall(r"`(\w+)`", names), verdict == "runs"))
    tested = {p.__name__: True for p, _ in npbench.RUNS} | {p.__name__: False for p, _ in npbench.REFUSED}
    assert {name: told.get(name) for name in tested} == tested
    assert {name for name, ran in told.items() if ran} == {p.__name__ for p, _ in npbench.RUNS}
