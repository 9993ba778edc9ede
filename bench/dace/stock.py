"""DaCe alone: its own code for one GPU, of the programs of cases.py without `split`.

    python bench/dace/stock.py

compiles all of it into DaCe's build folder, for a machine on which there is no time for that; with
DACE_default_build_folder=FOLDER and DACE_compiler_use_cache=1 run.py takes it from there.

The maps of a sweep are fused into one kernel (auto_optimize), which the host launches for each sweep. A kernel has
blocks of 256 threads, and not of 32, which DaCe takes by default.
"""

from __future__ import annotations

import sys
import types
from collections.abc import Callable
from functools import cache
from typing import Any

import cases
from dace.transformation.auto.auto_optimize import auto_optimize

import dace

BLOCKS = {1: "256,1,1", 2: "32,8,1", 3: "32,8,1"}
"""Shapes of the blocks, by axes of the domain."""


def function(axes: int) -> Callable[..., Any]:
    """The function of a program as DaCe alone takes it."""
    whole = cases.PROGRAMS[axes].function
    plain = types.FunctionType(whole.__code__, whole.__globals__, whole.__name__)
    plain.__annotations__ = {n: getattr(t, "array", t) for n, t in whole.__annotations__.items()}
    return plain


@cache
def compiled(axes: int) -> Any:
    """For arrays in the memory of the GPU."""
    block = BLOCKS[axes]
    sdfg = dace.program(function(axes)).to_sdfg(simplify=True)
    sdfg.name += "_in_blocks_of_" + block.replace(",", "_")
    for array in sdfg.arrays.values():
        if not array.transient and isinstance(array, dace.data.Array):
            array.storage = dace.StorageType.GPU_Global
    with dace.config.set_temporary("compiler", "cuda", "default_block_size", value=block):
        auto_optimize(sdfg, dace.DeviceType.GPU)
        return sdfg.compile()


if __name__ == "__main__":
    for number in BLOCKS:
        compiled(number)
    sys.exit(0)
