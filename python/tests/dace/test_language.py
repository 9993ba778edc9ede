"""The language's table in docs/dace.md, row by row: what it says is taken gives NumPy's values, what it says is refused
is refused in those words."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest

pytest.importorskip("starling.dace", reason="DaCe is missing: pip install 'starling[dace]'", exc_type=ImportError)

from dace_language import ROWS
from dace_language.row import inputs_of
from starling.dace import ProgramError
from starling.machine import Machine
from test_process import ROOT

COMPLETE = os.environ.get("STARLING_TEST_COMPLETE") == "1"
Devices = Callable[[int], Machine]
TAKEN = [(program, arguments) for row in ROWS for program, arguments in row.taken]
REFUSED = [case for row in ROWS for case in row.refused]
INSIDE = re.compile(
    r"SDFG|__sym|\bt\d+'|\bi\d+'|\bk\d+'|total\d|expr_times|CShift|\bMod\(|the rhs|Min\(|Max\(|memlet|tasklet|nvshmem\."
)


def name_of(x: Any) -> str:
    return getattr(x, "__name__", "")


def table() -> dict[str, str]:
    """The rows of the page: what they refuse, by title."""
    page = (ROOT / "docs/dace.md").read_text(encoding="utf-8")
    text = page.split("<!-- language:begin -->")[1].split("<!-- language:end -->")[0]
    rows = [
        re.split(r"(?<!\\) \| ", line.strip().strip("|").strip()) for line in text.splitlines() if line.startswith("| ")
    ]
    return {title.strip(): refused for title, _, refused in (r if len(r) == 3 else [*r, ""] for r in rows[1:])}


def outcome(call: Callable[..., Any], arguments: list[Any]) -> str:
    try:
        call(*arguments)
    except Exception as problem:
        return f"{type(problem).__name__}: {problem}"
    return ""


def test_the_page_has_these_rows() -> None:
    assert set(table()) == {row.title for row in ROWS}
    assert all(row.taken or row.title in ("arrays as indices", "everything else") for row in ROWS)


def test_each_refusal_of_the_page_is_tested() -> None:
    rows = {row.title: row for row in ROWS}
    for title, refused in table().items():
        for words in re.findall(r'"([^"]+)"', refused):
            parts = [part.strip() for part in words.split("...") if part.strip()]
            tested = [w for _, _, w in rows[title].refused]
            assert any(all(p in w or w in p for p in parts[-1:]) for w in tested), f"{title}: {words}"


@pytest.mark.parametrize(("program", "arguments"), TAKEN if COMPLETE else TAKEN[::6], ids=name_of)
def test_taken(program: Any, arguments: tuple[Any, ...], devices: Devices) -> None:
    want = inputs_of(arguments)
    raised = outcome(program.function, want)
    for pes, blocks in ((1, 2), (2, 1), (3, 2)):
        have = inputs_of(arguments)
        assert outcome(lambda *a: program(*a, machine=devices(pes), blocks=blocks), have) == raised  # noqa: B023
        for a, b in zip(have, want, strict=True):
            np.testing.assert_array_equal(a, b)


@pytest.mark.parametrize(("program", "arguments", "words"), REFUSED, ids=name_of)
def test_refused(program: Any, arguments: tuple[Any, ...], words: str, devices: Devices) -> None:
    call = (lambda: program(*inputs_of(arguments), machine=devices(1))) if arguments else program.explain
    with pytest.raises(ProgramError) as found:
        call()
    message = str(found.value)
    assert words in message
    first = program.function.__code__.co_firstlineno
    assert first <= found.value.line <= first + 12 or "calls.py" in message
    assert not INSIDE.search(message.replace(words, "")), message
