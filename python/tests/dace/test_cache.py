"""The folder of compiled programs."""

from __future__ import annotations

import ctypes
import threading
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starling.dace", reason="DaCe is missing: pip install 'starling[dace]'", exc_type=ImportError)

from starling.dace.build import cache
from starling.dace.build.compiler import Compiler, compiler
from starling.errors import Unsupported

ONE = 'extern "C" __attribute__((visibility("default"))) int number() { return 1; }\n'
TWO = ONE.replace("1", "2")


@pytest.fixture
def compilations(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """An empty cache; the sources that were compiled for it."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    made: list[str] = []
    compile_as_ever = Compiler.compile

    def counted(self: Compiler, source: Path, to: Path) -> None:
        made.append(source.read_text())
        compile_as_ever(self, source, to)

    monkeypatch.setattr(Compiler, "compile", counted)
    return made


def number_of(path: Path) -> int:
    return int(ctypes.CDLL(str(path)).number())


def test_a_source_is_compiled_once(compilations: list[str], tmp_path: Path) -> None:
    first = cache.built(ONE, compiler(False))
    assert first.is_relative_to(tmp_path / "starling/programs")
    assert (cache.built(ONE, compiler(False)), number_of(first)) == (first, 1)
    second = cache.built(TWO, compiler(False))
    assert second != first
    assert number_of(second) == 2
    assert compilations == [ONE, TWO]


@pytest.mark.parametrize("damage", ["cut", "empty", "no sum", "no object", "another sum"])
def test_what_is_not_whole_is_made_again(compilations: list[str], damage: str) -> None:
    path = cache.built(ONE, compiler(False))
    total = path.with_name(cache.SUM)
    if damage == "cut":
        path.write_bytes(path.read_bytes()[:100])
    elif damage == "empty":
        path.write_bytes(b"")
    elif damage == "another sum":
        total.write_text("0" * 64)
    else:
        (total if damage == "no sum" else path).unlink()
    assert cache.built(ONE, compiler(False)) == path
    assert cache.built(ONE, compiler(False)) == path
    assert number_of(path) == 1
    assert len(compilations) == 2


def test_many_at_once_compile_once(compilations: list[str]) -> None:
    found: list[Path] = []
    threads = [threading.Thread(target=lambda: found.append(cache.built(ONE, compiler(False)))) for _ in range(8)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert len(found) == 8
    assert len(set(found)) == 1
    assert len(compilations) == 1


def test_other_options_are_another_program(compilations: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    from starling.dace.build import compiler as options

    first = cache.built(ONE, compiler(False))
    monkeypatch.setattr(options, "FLAGS", (*options.FLAGS, "-DOTHER"))
    assert cache.built(ONE, compiler(False)) != first


def test_a_source_that_does_not_compile_leaves_nothing(compilations: list[str], tmp_path: Path) -> None:
    with pytest.raises(Unsupported, match=r"error: .*nothing"):
        cache.built("nothing here\n", compiler(False))
    left: list[Any] = [p for p in (tmp_path / "starling/programs").iterdir() if p.suffix != ".lock"]
    assert left == []
