"""The rows of the language's table in docs/dace.md: programs that are taken and programs that are refused."""

from __future__ import annotations

from dace_language.arrays import ARRAYS
from dace_language.calls import CALLS
from dace_language.flow import FLOW
from dace_language.names import NAMES
from dace_language.row import Row

__all__ = ["ROWS", "Row"]

ROWS: tuple[Row, ...] = (*NAMES, *ARRAYS, *FLOW, *CALLS)
