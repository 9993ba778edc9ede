"""Random programs of the compiler's subset, as text: what compilers of Python get wrong, in small pieces (`features`)
of which each program draws a handful, over arrays that PEs share along one axis or two, or have whole, or both.

Only sums of numbers with a point differ from NumPy's, by rounding. Where no such sum is used again, all else has
NumPy's bits.
"""

from __future__ import annotations

from dace_random.generate import random_program
from dace_random.maker import features
from dace_random.program import RandomProgram

__all__ = ["RandomProgram", "features", "random_program"]
