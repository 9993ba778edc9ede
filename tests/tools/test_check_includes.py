"""Plants one violation at a time in a small house and looks whether the include checker finds it."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

import check_includes
import device_scopes

CLEAN = {
    "include/starling/base/error.hpp": "#pragma once\n#include <string>\n",
    "include/starling/device/target/pass.hpp": "#pragma once\n#ifdef __CUDACC__\n#include <cuda_runtime.h>\n#endif\n",
    "include/starling/device/block.hpp": '#pragma once\n#include <cuda/atomic>\n#include "starling/base/error.hpp"\n',
    "include/starling/machine/machine.hpp": '#pragma once\n#include "starling/device/block.hpp"\n',
    "include/starling/stf/task.hpp": '#pragma once\n#include "starling/machine/machine.hpp"\n',
    "include/starling/region/tasks.hpp": '#pragma once\n#include "starling/stf/task.hpp"\n',
    "include/starling/trace/line.hpp": '#pragma once\n#include "starling/machine/machine.hpp"\n',
    "include/starling/starling.hpp": '#pragma once\n#include "starling/stf/task.hpp"\n',
    "src/machine/cuda/device.cpp": "#include <cuda_runtime.h>\n",
    "src/machine/host/engine.hpp": "#pragma once\n",
    "src/machine/host/engine.cpp": '#include "engine.hpp"\n#include "machine/host/engine.hpp"\n',
    "apps/stencil/jacobi.hpp": '#pragma once\n#include "starling/starling.hpp"\n',
    "apps/stencil/jacobi.cpp": '#include "jacobi.hpp"\n#include "stencil/jacobi.hpp"\n',
    "python/bindings/module.cpp": '#include <nanobind/nanobind.h>\n#include "stencil/jacobi.hpp"\n',
    "tests/unit/any.cpp": '#include "stencil/jacobi.hpp"\n#include "machine/host/engine.hpp"\n',
    "examples/01_first.cpp": '#include "starling/starling.hpp"\n',
    "bench/speed/steps.cpp": '#include "stencil/jacobi.hpp"\n',
    "bench/speed/rivals_other.hpp": "#pragma once\n#include <cuda_runtime.h>\n#include <nccl.h>\n",
}


def house(root: Path, extra: dict[str, str] | None = None) -> check_includes.House:
    for name, text in {**CLEAN, **(extra or {})}.items():
        path = root / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return check_includes.House(root)


def test_a_clean_house_has_no_violations(tmp_path: Path) -> None:
    assert house(tmp_path).violations() == []


@pytest.mark.parametrize(
    ("path", "text", "said"),
    [
        ("include/starling/base/up.hpp", '#include "starling/device/block.hpp"\n', "base includes"),
        ("include/starling/device/up.hpp", '#include "starling/machine/machine.hpp"\n', "it may include base"),
        ("include/starling/machine/up.hpp", '#include "starling/stf/task.hpp"\n', "machine includes"),
        ("include/starling/stf/side.hpp", '#include "starling/trace/line.hpp"\n', "stf includes"),
        ("include/starling/region/side.hpp", '#include "starling/stf/task.hpp"\n', "region includes"),
        ("src/region/tasks.cpp", '#include "starling/stf/task.hpp"\n', "region includes"),
        ("include/starling/machine/all.hpp", '#include "starling/starling.hpp"\n', "machine includes"),
        ("src/machine/host/up.cpp", '#include "stencil/jacobi.hpp"\n', "machine includes"),
        ("src/machine/network/card.cpp", '#include "machine/host/engine.hpp"\n', "a card includes"),
        ("src/machine/network/card.cpp", '#include "starling/device/block.hpp"\n', "a card includes"),
        ("src/machine/nvshmem/puts.cpp", '#include "machine/host/engine.hpp"\n', "an engine includes"),
        ("src/machine/nvshmem/puts.cpp", "#include <nvshmemx.h>\n", "CUDA's headers"),
        ("include/starling/machine/leak.hpp", '#include "../../../src/machine/host/engine.hpp"\n', "private"),
        ("apps/stencil/up.cpp", '#include "../../python/bindings/module.cpp"\n', "apps includes"),
        ("apps/stencil/gpu.cpp", "#include <cuda_runtime_api.h>\n", "CUDA's headers"),
        ("src/machine/host/gpu.cpp", "  #  include <cuda.h>\n", "CUDA's headers"),
        ("include/starling/device/gpu.hpp", "#include <cooperative_groups.h>\n", "CUDA's headers"),
        ("tests/unit/gpu.cpp", '#include "cuda_runtime.h"\n', "CUDA's headers"),
        ("bench/speed/gpu.cpp", "#include <cusparse.h>\n", "CUDA's headers"),
        ("apps/stencil/rivals.cpp", "#include <nccl.h>\n", "CUDA's headers"),
        ("include/starling/device/pass.hpp", "#if defined(__CUDA_ARCH__)\n#endif\n", "mentions __CUDA_ARCH__"),
        ("examples/02_pass.cpp", "#ifdef __CUDACC__\n#endif\n", "mentions __CUDACC__"),
        ("src/machine/host/py.cpp", "#include <nanobind/nanobind.h>\n", "python/bindings"),
        ("examples/03_gone.cpp", '#include "starling/machine/gone.hpp"\n', "does not exist"),
        ("include/starling/attic/box.hpp", "#pragma once\n", "no room of the house"),
        (
            "include/starling/device/raise.hpp",
            "inline void raise(int& x) { gpu::device_atomic(x).store(1); }\n",
            "device_atomic in raise orders memory for one GPU alone",
        ),
        ("apps/stencil/tell.hpp", "void tell() { if (true) { __threadfence(); } }\n", "__threadfence in tell"),
        ("src/stf/word.hpp", "using word = cuda::atomic_ref<int, cuda::thread_scope_block>;\n", "thread_scope_block"),
        ("examples/04_asm.cpp", 'void f() { asm("fence.acq_rel.gpu;"); }\n', "fence.acq_rel.gpu in f"),
    ],
)
def test_a_planted_violation_is_found(tmp_path: Path, path: str, text: str, said: str) -> None:
    problems = house(tmp_path, {path: "// A source.\n" + text}).violations()
    assert len(problems) == 1
    line = 1 if "attic" in path else 2
    assert problems[0].startswith(f"{path}:{line}: ")
    assert said in problems[0]


def test_narrow_scopes_with_a_reason_may_be(tmp_path: Path) -> None:
    text = "struct b { void arrive(int at) { g(); if (at) device_atomic(at).store(1); } };\n"
    sources = {"include/starling/device/block.hpp": "#pragma once\n" + text, "tests/unit/any.cpp": text}
    assert house(tmp_path, sources).violations() == []


def test_every_reason_is_of_a_function_that_is_there() -> None:
    root = Path(__file__).resolve().parent.parent.parent
    for path, functions in device_scopes.ON_PURPOSE.items():
        text = check_includes.without_comments((root / path).read_text())
        found = {
            device_scopes.function_around(text, m.start()) or device_scopes.defined_at(text, m.start())
            for m in device_scopes.NARROW.finditer(text)
        }
        assert set(functions) == found, path
        assert all(functions.values())


def test_comments_do_not_count(tmp_path: Path) -> None:
    text = '// __CUDA_ARCH__\n/* #include <cuda.h>\n__CUDACC__ */\nconst char* url = "http://x"; // <cuda.h>\n'
    assert house(tmp_path, {"include/starling/device/said.hpp": text}).violations() == []


@pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler")
def test_a_header_that_does_not_compile_alone_is_found_once_and_again(tmp_path: Path) -> None:
    broken = {"apps/stencil/lacks.hpp": "#pragma once\ninline std::string name() { return {}; }\n"}
    whole = {"apps/stencil/lacks.hpp": "#pragma once\n#include <string>\ninline std::string name() { return {}; }\n"}
    cache = tmp_path / "build/cache.json"
    for _ in range(2):  # a failure is never remembered as a success
        problems = check_includes.uncompilable_headers(house(tmp_path, broken), cache)
        assert [problem.split(":")[0] for problem in problems] == ["apps/stencil/lacks.hpp"]
    assert check_includes.uncompilable_headers(house(tmp_path, whole), cache) == []


@pytest.mark.skipif(shutil.which("c++") is None, reason="needs a C++ compiler")
def test_a_change_in_an_included_header_is_noticed(tmp_path: Path) -> None:
    cache = tmp_path / "build/cache.json"
    assert check_includes.uncompilable_headers(house(tmp_path), cache) == []
    broken = {"include/starling/base/error.hpp": "#pragma once\n#error planted\n"}
    problems = check_includes.uncompilable_headers(house(tmp_path, broken), cache)
    assert any(problem.startswith("apps/stencil/jacobi.hpp") for problem in problems)
