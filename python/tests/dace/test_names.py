"""Names of a program in C++, and in messages."""

from __future__ import annotations

import re

import pytest

pytest.importorskip("starling.dace", reason="DaCe is missing: pip install 'starling[dace]'", exc_type=ImportError)

from starling.dace.emit.names import cpp_name, data_name

PLAIN = {"A": "A", "x_1": "x_1", "i0'": "i0_", "before_A'": "before_A_", "x.2": "x_v2", "NX": "NX", "int": "py_int_"}
NAMES = [
    "A",
    "a_",
    "_a",
    "__a",
    "a__b",
    "a_b",
    "int",
    "int_",
    "py_int",
    "x.2",
    "x_v2",
    "x_2",
    "x.2'",
    "x_2'",
    "before_x.2'",
    "before_x_v2'",
    "lanes",
    "lanes'",
    "row_0",
    "row_0'",
    "owner_0",
    "data_A",
    "given_x",
    "NAN",
    "M_PI",
    "EOF",
    "errno",
    "b",
    "st",
    "stopped",
    "α",
    "β",
    "été",
    "Z",
    "ZZ",
    "aZ5fZ",
    "a_Z5fZ",
    "end_0",
    "sent_1",
    "f_kernel",
    "this",
    "std",
    "part'",
    "i0'",
    "i0_",
    "i0",
    "A_data",
    "turn_A'",
    "turn_A",
    "data_turn_A",
]
TAKEN = [
    "int",
    "b",
    "st",
    "std",
    "NAN",
    "EOF",
    "errno",
    "this",
    "lanes_",
    "row_0_",
    "part_",
    "owner_0",
    "data_A",
    "given_x",
    "end_0",
    "sent_1",
    "stopped",
    "M_PI",
    "f_kernel",
]


def test_readable_names() -> None:
    for name, want in PLAIN.items():
        assert cpp_name(name) == want


def test_no_two_names_are_one() -> None:
    made = [cpp_name(n) for n in NAMES]
    assert len(set(made)) == len(NAMES)
    for n in made:
        assert re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", n)
        assert "__" not in n
    assert not set(made) & set(TAKEN)
    assert not set(made) & {data_name(n) for n in NAMES}
