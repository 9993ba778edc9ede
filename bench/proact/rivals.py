"""What PageRank is compared with: cuSPARSE's product, cuBLAS's sum and the updates, recorded as one CUDA graph.

CuPy has the arrays, the kernel of the updates and the graph. Its own calls of the two libraries refuse to be recorded,
so these are called directly, with memory and descriptions that are there before. What cannot be recorded all the same
runs call after call on a stream, and the result says why.
"""

from __future__ import annotations

import contextlib
import ctypes
import re
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

GRAPH = "cuSPARSE in a CUDA graph"
STREAM = "cuSPARSE on a stream, capture refused"
ALPHA = 0.85

# Constants of cuSPARSE and cuBLAS.
REAL_F32, INDEX_I32, BASE_ZERO, AS_IT_IS, ALGORITHM = 0, 2, 0, 0, 0
POINTERS_ON_DEVICE = 1
WORKSPACE = 4 << 20  # of cuBLAS, so that it takes no memory while it is recorded


@dataclass(frozen=True)
class Rival:
    """How it ran, and the microseconds of an iteration by repetition."""

    name: str
    us: list[float]


def pagerank(a: Any, iterations: int, repetitions: int) -> Rival | None:
    """In float32 on one GPU; None where there is no CuPy."""
    try:
        import cupy as cp
    except ImportError:
        return None
    try:
        rank = Ranks(cp, a, Product, Dot)
    except (OSError, AttributeError, RuntimeError):  # the libraries are elsewhere, or of another version
        rank = Ranks(cp, a, ProductOfCupy, DotOfCupy)
    cp.cuda.Device().synchronize()
    done = timed(cp.cuda.Stream, rank.use, rank.step, iterations, repetitions)
    total = float(cp.asnumpy(rank.x).sum(dtype="f8"))
    if abs(total - 1) > 1e-2:
        raise RuntimeError(f"the ranks of the rival add up to {total}")
    return done


def timed(
    new_stream: Callable[..., Any],
    use: Callable[[Any], None],
    step: Callable[[], None],
    iterations: int,
    repetitions: int,
) -> Rival:
    """Times steps as launches of their graph, or, where they cannot be recorded, as they are."""
    name, stream = GRAPH, new_stream(non_blocking=True)
    with stream:
        use(stream)
        step()  # loads kernels
        stream.synchronize()
        try:
            graph = recorded(stream, step)
            graph.launch(stream)
            stream.synchronize()
        except Exception as refused:  # whichever library it is that refuses
            name = f"{STREAM}: {str(refused).splitlines()[0] if str(refused) else type(refused).__name__}"
            stream = new_stream(non_blocking=True)
    with stream:
        use(stream)
        launch: Callable[[], object] = step if name != GRAPH else lambda: graph.launch(stream)
        us = []
        for _ in range(repetitions):
            stream.synchronize()
            start = time.perf_counter()
            for _ in range(iterations):
                launch()
            stream.synchronize()
            us.append(1e6 * (time.perf_counter() - start) / iterations)
    return Rival(name, us)


def recorded(stream: Any, step: Callable[[], None]) -> Any:
    """The graph of a step; however it fails, the stream records no more."""
    stream.begin_capture()
    try:
        step()
    except BaseException:
        with contextlib.suppress(Exception):
            stream.end_capture()
        raise
    return stream.end_capture()


class Ranks:
    """One iteration: the sum over dangling vertices, the product, and the update of both vectors in one kernel."""

    def __init__(self, cp: Any, a: Any, product: Callable[..., Any], dot: Callable[..., Any]) -> None:
        import numpy as np
        from scipy import sparse

        rows = sparse.csr_array(a)
        n = rows.shape[0]
        out = np.diff(rows.indptr).astype(np.float32)
        ones = sparse.csr_array((np.ones(rows.nnz, np.float32), rows.indices, rows.indptr), shape=rows.shape)
        pull = sparse.csr_array(ones.T)
        self.n = n
        self.inverse = cp.asarray(np.divide(1, out, out=np.zeros(n, np.float32), where=out > 0))
        self.loose = cp.asarray((out == 0).astype(np.float32))
        self.x = cp.full(n, 1 / n, cp.float32)
        self.scaled, self.summed = self.x * self.inverse, cp.empty(n, cp.float32)
        self.dangling = cp.zeros(1, cp.float32)
        self.update = cp.ElementwiseKernel(
            "float32 summed, float32 inverse, raw float32 dangling, float32 alpha, float32 n",
            "float32 x, float32 scaled",
            "x = summed + (alpha * dangling[0] + 1 - alpha) / n; scaled = x * inverse",
            "rival_update",
        )
        self.product = product(cp, pull, self.scaled, self.summed)
        self.sum = dot(cp, self.loose, self.x, self.dangling)

    def use(self, stream: Any) -> None:
        self.product.use(stream)
        self.sum.use(stream)

    def step(self) -> None:
        self.sum()
        self.product()
        self.update(self.summed, self.inverse, self.dangling, ALPHA, float(self.n), self.x, self.scaled)


class Library:
    """A library of CUDA that this process has loaded, and a handle of our own."""

    def __init__(self, name: str, create: str) -> None:
        self.name = name
        self.calls = ctypes.CDLL(loaded(name))
        self.handle = ctypes.c_void_p()
        self.call(create, ctypes.byref(self.handle))

    def call(self, function: str, *arguments: Any) -> None:
        status = getattr(self.calls, function)(*arguments)
        if status != 0:
            raise RuntimeError(f"{self.name}: {function} gave status {status}")

    def has(self, function: str) -> bool:
        return hasattr(self.calls, function)


def loaded(name: str, maps: str | None = None) -> str:
    """The path of a library that is loaded, wherever CuPy found it; `maps` is as /proc/self/maps."""
    text = Path("/proc/self/maps").read_text() if maps is None else maps
    found = re.search(rf"\s(/\S*/lib{name}\.so\S*)$", text, re.MULTILINE)
    if found is None:
        raise OSError(f"lib{name} is not loaded")
    return found.group(1)


def address(array: Any) -> ctypes.c_void_p:
    return ctypes.c_void_p(array.data.ptr)


class Product:
    """y = alpha * A x, by cuSPARSE; its plan is made and its buffer taken before."""

    def __init__(self, cp: Any, a: Any, x: Any, y: Any) -> None:
        start, column = cp.asarray(a.indptr.astype("i4")), cp.asarray(a.indices.astype("i4"))
        value = cp.asarray(a.data)
        cp.cuda.Device().cusparse_handle  # noqa: B018, loads the library
        self.lib = Library("cusparse", "cusparseCreate")
        self.alpha, self.beta = ctypes.c_float(ALPHA), ctypes.c_float(0)
        self.a, self.x, self.y = ctypes.c_void_p(), ctypes.c_void_p(), ctypes.c_void_p()
        size = ctypes.c_int64
        self.lib.call(
            "cusparseCreateCsr", ctypes.byref(self.a), size(y.size), size(x.size), size(value.size), address(start),
            address(column), address(value), INDEX_I32, INDEX_I32, BASE_ZERO, REAL_F32,
        )  # fmt: skip
        self.lib.call("cusparseCreateDnVec", ctypes.byref(self.x), size(x.size), address(x), REAL_F32)
        self.lib.call("cusparseCreateDnVec", ctypes.byref(self.y), size(y.size), address(y), REAL_F32)
        needed = ctypes.c_size_t()
        self.lib.call("cusparseSpMV_bufferSize", *self.operands(), ctypes.byref(needed))
        self.buffer = cp.empty(max(needed.value, 1), cp.int8)
        if self.lib.has("cusparseSpMV_preprocess"):
            self.lib.call("cusparseSpMV_preprocess", *self.operands(), address(self.buffer))
        self.kept = (start, column, value, x, y)

    def operands(self) -> tuple[Any, ...]:
        return (
            self.lib.handle, AS_IT_IS, ctypes.byref(self.alpha), self.a, self.x, ctypes.byref(self.beta), self.y,
            REAL_F32, ALGORITHM,
        )  # fmt: skip

    def use(self, stream: Any) -> None:
        self.lib.call("cusparseSetStream", self.lib.handle, ctypes.c_void_p(stream.ptr))

    def __call__(self) -> None:
        self.lib.call("cusparseSpMV", *self.operands(), address(self.buffer))


class Dot:
    """result = x . y by cuBLAS, the result on the device."""

    def __init__(self, cp: Any, x: Any, y: Any, result: Any) -> None:
        cp.cuda.Device().cublas_handle  # noqa: B018, loads the library
        self.lib = Library("cublas", "cublasCreate_v2")
        self.lib.call("cublasSetPointerMode_v2", self.lib.handle, POINTERS_ON_DEVICE)
        self.workspace = cp.empty(WORKSPACE, cp.int8)
        self.x, self.y, self.result = x, y, result

    def use(self, stream: Any) -> None:
        self.lib.call("cublasSetStream_v2", self.lib.handle, ctypes.c_void_p(stream.ptr))  # forgets the workspace
        size = ctypes.c_size_t(WORKSPACE)
        self.lib.call("cublasSetWorkspace_v2", self.lib.handle, address(self.workspace), size)

    def __call__(self) -> None:
        self.lib.call(
            "cublasSdot_v2", self.lib.handle, self.x.size, address(self.x), 1, address(self.y), 1, address(self.result)
        )


class ProductOfCupy:
    """The same by CuPy's own call, which cannot be recorded."""

    def __init__(self, cp: Any, a: Any, x: Any, y: Any) -> None:
        from cupyx import cusparse
        from cupyx.scipy import sparse
        from scipy.sparse import csr_matrix

        self.spmv, self.a, self.x, self.y = cusparse.spmv, sparse.csr_matrix(csr_matrix(a)), x, y

    def use(self, stream: Any) -> None:
        """CuPy takes the current stream."""

    def __call__(self) -> None:
        self.spmv(self.a, self.x, self.y, alpha=ALPHA, beta=0)


class DotOfCupy:
    """The same by CuPy's own call, which cannot be recorded."""

    def __init__(self, cp: Any, x: Any, y: Any, result: Any) -> None:
        self.dot, self.x, self.y, self.result = cp.dot, x, y, result

    def use(self, stream: Any) -> None:
        """CuPy takes the current stream."""

    def __call__(self) -> None:
        self.result[...] = self.dot(self.x, self.y)
