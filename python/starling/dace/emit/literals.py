"""Literals and conversions of numbers in C++."""

from __future__ import annotations

import math

import numpy as np

__all__ = ["CPP", "converted", "literal"]

CPP = {"bool": "bool", "int32": "std::int32_t", "int64": "std::int64_t", "float32": "float", "float64": "double"}


def literal(value: bool | int | float, kind: str) -> str:
    """A number of Python as one of an element type.

    >>> literal(1, "float64"), literal(-2, "int64"), literal(1e300, "float32")
    ('1.0', '-2l', 'std::numeric_limits<float>::infinity()')
    """
    if kind == "bool":
        return "true" if value else "false"
    if kind.startswith("int"):
        return _whole(int(value), kind)
    number = float(value)
    if kind == "float32" and math.isfinite(number):
        with np.errstate(over="ignore"):
            if math.isfinite(np.float32(number)):
                return f"static_cast<float>({number!r})"
        number = math.copysign(math.inf, number)
    if math.isinf(number):
        return f"{'-' if number < 0 else ''}std::numeric_limits<{CPP[kind]}>::infinity()"
    if math.isnan(number):
        return f"std::numeric_limits<{CPP[kind]}>::quiet_NaN()"
    return f"({number!r})" if number < 0 else repr(number)


def _whole(value: int, kind: str) -> str:
    if value == np.iinfo(kind).min:  # C++ has no literal for it
        return f"std::numeric_limits<{CPP[kind]}>::lowest()"
    return str(value) if kind == "int32" else f"{value}l"


def converted(text: str, have: str, want: str) -> str:
    """A value as another element type, as NumPy converts it."""
    if have == want:
        return text
    if have.startswith("float") and want.startswith("int"):
        return f"sg::as_whole<{CPP[want]}>({text})"
    return f"static_cast<{CPP[want]}>({text})"
