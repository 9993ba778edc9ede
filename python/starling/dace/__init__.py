"""NumPy-style Python as persistent programs: one kernel on every PE, time loop and communication included.

Needs the extra ``starling[dace]`` and a C++ compiler. See ``docs/dace.md``.

Types are DaCe's: ``float64[M, N]``, ``int64``; :func:`split` says along which axis, or which two, PEs share an array.
"""

from __future__ import annotations

import keyword
from typing import Any, NoReturn

try:
    import dace as _dace
    from dace import float32, float64, int32, int64
except ImportError as problem:
    raise ImportError(
        f"starling.dace needs DaCe ({problem}); install it with `pip install 'starling[dace]'`"
    ) from problem

from starling.dace import nvshmem
from starling.dace.decorator import Program, Report, Run, program
from starling.dace.explain import Explanation
from starling.dace.frontend.types import split
from starling.dace.program_error import ProgramError
from starling.errors import ArgumentError, ElementTypeError

NOBODY = -1

__all__ = [
    "NOBODY",
    "Explanation",
    "Program",
    "ProgramError",
    "Report",
    "Run",
    "float32",
    "float64",
    "int32",
    "int64",
    "my_pe",
    "n_pes",
    "neighbour",
    "nvshmem",
    "program",
    "split",
    "symbols",
]


def symbols(names: str) -> Any:
    """Sizes of arrays, by name: one symbol, or a tuple of them where several names are given.

    Raises:
        ArgumentError: A name is none of Python's.
        ElementTypeError: `names` is no text.

    >>> M, N = symbols("M N")
    >>> str(M * N)
    'M*N'
    """
    if not isinstance(names, str):
        raise ElementTypeError(f'names = {names!r} is a {type(names).__name__}; pass text such as "M N"')
    found = names.replace(",", " ").split()
    wrong = [n for n in found if not n.isidentifier() or keyword.iskeyword(n)]
    if wrong or not found:
        raise ArgumentError(f'names = {names!r}; {wrong[0] if wrong else "it"} is no name, pass such as "M N"')
    made = tuple(_dace.symbol(n) for n in found)
    return made[0] if len(made) == 1 else made


def _refuse(name: str) -> NoReturn:
    raise ProgramError(f"{name}: can be called only in a function that starling.dace.program compiles", node=name)


def my_pe() -> int:
    """The number of this PE, from 0."""
    _refuse("my_pe")


def n_pes() -> int:
    """How many PEs there are."""
    _refuse("n_pes")


def neighbour(step: int, axis: int = 0, ring: bool = False) -> int:
    """The PE that is `step` further along, ``NOBODY`` beyond the ends; with `ring` the first follows the last.

    `axis`: of the grid of PEs; 0: rows further down, 1: columns further right.
    """
    _refuse("neighbour")
