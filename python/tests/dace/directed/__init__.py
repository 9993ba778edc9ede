"""Programs of the kinds that authors write and compilers get wrong, written from the table of the language alone.

Each is its own oracle under NumPy, whose values are kept in ``values.json``, one record a line:
``python -m directed`` in ``python/tests/dace`` writes them anew.
"""

import importlib

from .registry import PROGRAMS, Directed, arrays_of, bits

__all__ = ["PROGRAMS", "Directed", "arrays_of", "bits"]

for name in (
    "borders",
    "buffers",
    "calls",
    "calls_more",
    "filters",
    "guards",
    "indices",
    "iterations",
    "kinds",
    "limits",
    "matrices",
    "numbers",
    "raised",
    "refused",
    "refused_statements",
    "scalars",
    "schemes",
    "scopes",
    "short",
    "strict",
    "strides",
    "swaps",
    "sweeps",
    "views",
):
    importlib.import_module(f".{name}", __name__)
