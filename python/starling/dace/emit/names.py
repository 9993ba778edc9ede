"""Names of a program in C++.

No two names become the same one, and none becomes a name of C++ or of the kernel. Plain names of the user stay as they
are; `i0'`, which is made, becomes `i0_`; version 2 of x, `x.2`, becomes `x_v2`; all others get `py_` before them and an
underscore behind: `int` becomes `py_int_`.
"""

from __future__ import annotations

import re

from starling.dace.ir import Program
from starling.dace.ir.names import QUOTE

__all__ = ["cpp_name", "data_name", "struct_name"]

PLAIN = re.compile(r"[A-Za-z][A-Za-z0-9]*(_[A-Za-z0-9]+)*")
VERSION = re.compile(r"(.*)\.(\d+)")
# Names of the kernel that are numbered, or made from other names.
NUMBERED = re.compile(r"(owner|packets|pitch|row|sent|end)_\d+|(py|data|given)_.*|.*_(v\d+|kernel|host|data|phase_\d+)")
# Macros of headers, and what looks like one.
MACRO = re.compile(
    r"[A-Z][A-Z0-9_]{2,}|(M|L|SYS|HUGE)_\w+|cuda\w+|P_tmpdir|assert|errno|offsetof|std(in|out|err)|alloca"
)
OF_KERNEL = """
b st sg std pes signals slots packets turns round stopped grid_columns max_threads least_blocks to from
linux unix"""
OF_CPP = """
alignas alignof and and_eq asm auto bitand bitor bool break case catch char char8_t char16_t char32_t class
compl concept const const_cast consteval constexpr constinit continue co_await co_return co_yield decltype
default delete do double dynamic_cast else enum explicit export extern false float for friend goto if inline int
long mutable namespace new noexcept not not_eq nullptr operator or or_eq private protected public register
reinterpret_cast requires return short signed sizeof static static_assert static_cast struct switch template
this thread_local throw true try typedef typeid typename typeof union unsigned using virtual void volatile
wchar_t while xor xor_eq"""
TAKEN = frozenset((OF_KERNEL + OF_CPP).split())
WITH_UNDERSCORE = frozenset(["lane", "lanes", "value", "range", "part", "told"])  # of the kernel with one behind


def cpp_name(name: str) -> str:
    """A name of the program as C++ has it.

    >>> [cpp_name(n) for n in ("A", "i0'", "x.2", "int", "_a", "x_v2")]
    ['A', 'i0_', 'x_v2', 'py_int_', 'py_Z5fZa_', 'py_x_v2_']
    """
    base = name.removesuffix(QUOTE)
    if (versioned := VERSION.fullmatch(base)) and _is_plain(versioned[1]):
        base = f"{versioned[1]}_v{versioned[2]}"
    elif not _is_plain(base):
        return f"py_{_spelled(name)}_"
    if not name.endswith(QUOTE):
        return base
    return f"py_{_spelled(name)}_" if base in WITH_UNDERSCORE else f"{base}_"


def _is_plain(name: str) -> bool:
    return (
        PLAIN.fullmatch(name) is not None
        and name not in TAKEN
        and NUMBERED.fullmatch(name) is None
        and MACRO.fullmatch(name) is None
    )


def _spelled(name: str) -> str:
    """Letters, digits and single underscores between them stay; Z is doubled, all others are numbers between Z."""

    def letter(k: int) -> str:
        c = name[k]
        inner = c == "_" and name[k - 1 : k].isalnum() and name[k + 1 : k + 2].isalnum()
        if c == "Z":
            return "ZZ"
        return c if inner or (c.isascii() and c.isalnum()) else f"Z{ord(c):x}Z"

    return "".join(map(letter, range(len(name))))


def data_name(name: str) -> str:
    """The memory of an array.

    >>> data_name("A")
    'data_A'
    """
    return f"data_{cpp_name(name)}"


def struct_name(p: Program, what: str) -> str:
    """The type of something that a program has: its kernel, its data, one of its phases."""
    return f"{cpp_name(p.name).removesuffix('_')}_{what}"
