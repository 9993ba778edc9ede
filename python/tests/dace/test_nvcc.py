"""The code of programs for GPUs: what nvcc makes of it, and how it is found. Whether it is right, the other tests say
on machines with GPUs."""

from __future__ import annotations

import os
import re
import subprocess
from pathlib import Path
from typing import Any

import pytest

pytest.importorskip("starling.dace", reason="DaCe is missing: pip install 'starling[dace]'", exc_type=ImportError)

import dace_grid_programs
import dace_programs as programs
from starling.dace.build import cache, nvcc
from starling.dace.emit.communication import packet_channels
from starling.dace.emit.kernel import USUAL_THREADS
from starling.errors import Unsupported

COMPLETE = os.environ.get("STARLING_TEST_COMPLETE") == "1"
CAPABILITY = 90


@pytest.fixture
def compiler() -> nvcc.Nvcc:
    try:
        return nvcc.nvcc(CAPABILITY)
    except Unsupported:
        pytest.skip("no nvcc here")


# Programs and how many bytes of registers they may spill.
SPARING = ((programs.jacobi_1d, 0), (programs.jacobi_2d, 0), (programs.adi, 0), (dace_grid_programs.jacobi_2d, 16))
GRID = (dace_grid_programs.nine_points, dace_grid_programs.last_axes)


@pytest.mark.parametrize("program", (*programs.WHOLE, *GRID) if COMPLETE else (), ids=lambda p: p.__name__)
def test_every_program_compiles(program: Any, compiler: nvcc.Nvcc) -> None:
    whole = program.compiled()
    for packets in {frozenset[int](), frozenset(packet_channels(whole.program))}:
        assert cache.built(whole.source_for(USUAL_THREADS, packets), compiler).stat().st_size > 0


@pytest.mark.skipif(not COMPLETE, reason="calls nvcc: STARLING_TEST_COMPLETE=1 runs it")
@pytest.mark.parametrize("packets", [False, True])
@pytest.mark.parametrize(("program", "most"), SPARING)
def test_registers_that_are_spilled(
    program: Any, most: int, packets: bool, compiler: nvcc.Nvcc, tmp_path: Path
) -> None:
    whole = program.compiled()
    source = tmp_path / "program.cpp"
    source.write_text(whole.source_for(USUAL_THREADS, frozenset(packet_channels(whole.program) if packets else ())))
    words = [
        compiler.command,
        *nvcc.FLAGS,
        f"-arch=sm_{CAPABILITY}",
        f"-I{compiler.folder}",
        "-Xptxas",
        "-v",
        "-x",
        "cu",
    ]
    told = subprocess.run(
        [*words, str(source), "-o", str(tmp_path / "cubin")], capture_output=True, text=True, check=True
    )
    spilled = re.findall(
        r"starling_program_gpu$\n.*?(\d+) bytes spill stores, (\d+) bytes spill loads", told.stderr, re.M
    )
    assert len(spilled) == 1, told.stderr
    assert max(map(int, spilled[0])) <= most, told.stderr


def test_without_nvcc(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("starling._compilers.shutil.which", lambda *_, **__: None)
    with pytest.raises(Unsupported, match=r"need nvcc .*CUDA toolkit.*machine\.host"):
        nvcc.nvcc(CAPABILITY)


def test_capabilities_and_headers_are_part_of_the_name(monkeypatch: pytest.MonkeyPatch, compiler: nvcc.Nvcc) -> None:
    names = {nvcc.nvcc(c).key("source") for c in (80, CAPABILITY)}
    monkeypatch.setattr("starling.dace.build.sources._headers_hash", lambda: "others")
    names.add(compiler.key("source"))
    assert len(names) == 3


def test_a_source_that_does_not_compile(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, compiler: nvcc.Nvcc) -> None:
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path))
    with pytest.raises(Unsupported, match=r"nvcc .*error.*nothing"):
        cache.built("nothing here\n", compiler)
