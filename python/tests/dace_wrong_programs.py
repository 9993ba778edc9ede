"""Programs outside of the subset, each with the node that the error must name, and words that it must say."""

from __future__ import annotations

from typing import Any

import numpy as np

import dace
from starling import dace as sd
from starling.dace import nvshmem

K, M, N = sd.symbols("K M N")
f32, f64, i64 = sd.float32, sd.float64, sd.int64
CASES: list[tuple[Any, str, str]] = []


def wrong(node: str, words: str) -> Any:
    def keep(function: Any) -> Any:
        CASES.append((sd.program(function), node, words))
        return function

    return keep


@wrong("print", "call of Python")
def calls_back(A: sd.split(f64[N])):
    print(A[0])


@wrong("svd", "call of Python")
def calls_svd(A: f64[N, N], B: f64[N]):
    B[:] = np.linalg.svd(A)[1]


@wrong("A", "no fixed distance")
def transposed(A: sd.split(f64[N, N]), B: sd.split(f64[N, N])):
    B[:] = A.T


@wrong("A", "no fixed distance")
def reversed_axis(A: sd.split(f64[N]), B: sd.split(f64[N])):
    B[:] = A[::-1]


@wrong("B", "reduce")
def product_over_the_split_axis(A: f64[M, K], B: sd.split(f64[K, N]), C: f64[M, N]):
    C[:] = A @ B


@wrong("A", "whole on every PE")
def column_sums(A: sd.split(f64[M, N]), s: f64[N]):
    s[:] = np.sum(A, axis=0)


@wrong("A", "no fixed distance")
def one_element(A: sd.split(f64[N]), B: sd.split(f64[N])):
    c = A[3]
    B[:] = c * B + c * c


@wrong("A", "single elements")
def seidel(A: sd.split(f64[N, N])):
    for i in range(1, N - 1):
        for j in range(1, N - 1):
            A[i, j] = (A[i - 1, j] + A[i, j - 1] + A[i, j]) / 3.0


@wrong("B", "same length")
def two_lengths(A: sd.split(f64[M]), B: sd.split(f64[N])):
    A[:] = A + 1.0
    B[:] = B + 1.0


@wrong("s", "is split along 1 axes, A along 2")
def one_axis_and_two(A: sd.split(f64[M, N], (0, 1)), s: sd.split(f64[M], 0)):
    s[:] = np.sum(A, axis=1)


@wrong("A", "(split along axis 0 and 1)")
def row_sums_of_two(A: sd.split(f64[M, N], (0, 1)), s: f64[M]):
    s[:] = np.sum(A, axis=1)


@wrong("B", "same length")
def two_lengths_along_the_second_axis(A: sd.split(f64[M, N], (0, 1)), B: sd.split(f64[M, K], (0, 1))):
    A[:] = A + 1.0
    B[:] = B + 1.0


@wrong("A", "no stride")
def diagonal(A: sd.split(f64[N, N], (0, 1))):
    for i in dace.map[0:N]:
        A[i, i] = 1.0


@wrong("A", "no fixed distance")
def transposed_on_a_grid(A: sd.split(f64[N, N], (0, 1)), B: sd.split(f64[N, N], (0, 1))):
    B[:] = A.T


@wrong("neighbour", "the axis must be 0 or 1")
def neighbour_along_a_third_axis(A: f64[N]):
    flags = nvshmem.flags(1)
    nvshmem.PutmemSignal(A[0], A[1], flags[0], 1, sd.neighbour(1, axis=2))
    nvshmem.SignalWait(flags[0], 1)


@wrong("SignalWait", "at distance (0, 1)")
def other_axis(A: f64[N]):
    flags = nvshmem.flags(1)
    nvshmem.PutmemSignal(A[0], A[1], flags[0], 1, sd.neighbour(1, axis=0))
    nvshmem.SignalWait(flags[0], 1, sd.neighbour(1, axis=1))


@wrong("SignalWait", "no put raises")
def wait_without_a_put(A: f64[N]):
    flags = nvshmem.flags(1)
    nvshmem.SignalWait(flags[0], 1)
    A[:] = A + 1.0


@wrong("PutmemSignal", "nobody waits")
def put_without_a_wait(A: f64[N]):
    flags = nvshmem.flags(1)
    nvshmem.PutmemSignal(A[0], A[1], flags[0], 1, sd.neighbour(1))


@wrong("flags[0]", "is raised at")
def two_puts_on_one_flag(A: f64[N]):
    flags = nvshmem.flags(1)
    nvshmem.PutmemSignal(A[0], A[1], flags[0], 1, sd.neighbour(1))
    nvshmem.PutmemSignal(A[2], A[3], flags[0], 1, sd.neighbour(-1))
    nvshmem.SignalWait(flags[0], 1)


@wrong("SignalWait", "another value")
def other_value(A: f64[N], steps: i64):
    flags = nvshmem.flags(1)
    for t in range(steps):
        nvshmem.PutmemSignal(A[0], A[1], flags[0], t, sd.neighbour(1))
        nvshmem.SignalWait(flags[0], t + 1)


@wrong("SignalWait", "at distance")
def other_pe(A: f64[N]):
    flags = nvshmem.flags(1)
    nvshmem.PutmemSignal(A[0], A[1], flags[0], 1, sd.neighbour(1))
    nvshmem.SignalWait(flags[0], 1, sd.neighbour(1))


@wrong("SignalWait", "before the put")
def wait_first(A: f64[N]):
    flags = nvshmem.flags(1)
    nvshmem.SignalWait(flags[0], 1, sd.neighbour(-1))
    nvshmem.PutmemSignal(A[0], A[1], flags[0], 1, sd.neighbour(1))


@wrong("PutmemSignal", "shape")
def other_shape(A: f64[N]):
    flags = nvshmem.flags(1)
    nvshmem.PutmemSignal(A[0:2], A[1], flags[0], 1, sd.neighbour(1))
    nvshmem.SignalWait(flags[0], 1)


@wrong("PutmemSignal", "flag 3 of 1")
def no_such_flag(A: f64[N]):
    flags = nvshmem.flags(1)
    nvshmem.PutmemSignal(A[0], A[1], flags[3], 1, sd.neighbour(1))
    nvshmem.SignalWait(flags[0], 1)


@wrong("PutmemSignal", "not constant")
def flag_by_variable(A: f64[N], steps: i64):
    flags = nvshmem.flags(4)
    for t in range(steps):
        nvshmem.PutmemSignal(A[0], A[1], flags[t], 1, sd.neighbour(1))
        nvshmem.SignalWait(flags[t], 1)


@wrong("PutmemSignal", "no neighbour")
def any_pe(A: f64[N], k: i64):
    flags = nvshmem.flags(1)
    nvshmem.PutmemSignal(A[0], A[1], flags[0], 1, k)
    nvshmem.SignalWait(flags[0], 1)


@wrong("Barrier", "differ between PEs")
def barrier_of_some(A: f64[N]):
    if sd.my_pe() > 0:
        nvshmem.Barrier()
    A[:] = A + 1.0


@wrong("SumReduce", "differ between PEs")
def reduction_of_some(A: f64[N], r: f64[1]):
    if A[0] > 0.5:
        nvshmem.SumReduce(r[0], A[1])


@wrong("PutmemSignal", "communication is inserted")
def put_of_a_split_array(A: sd.split(f64[N])):
    flags = nvshmem.flags(1)
    nvshmem.PutmemSignal(A[0], A[1], flags[0], 1, sd.neighbour(1))
    nvshmem.SignalWait(flags[0], 1)


@wrong("Getmem", "communication is inserted")
def get_of_a_split_array(A: sd.split(f64[N]), B: f64[N]):
    nvshmem.Getmem(B[0:2], A[0:2], 1)


@wrong("SumReduce", "communication is inserted")
def reduction_of_a_split_array(A: sd.split(f64[N]), r: f64[1]):
    nvshmem.SumReduce(r[0], A[1])


@wrong("A", "has no type")
def no_type(A, B: f64[N]):
    B[:] = A


@wrong("B", "numpy.float64")
def other_type(A: sd.float64[N], B: np.float64):
    A[:] = A + 1.0


@wrong("A", "one element of a split array")
def condition_on_an_element(A: sd.split(f64[N])):
    while A[0] > 0.5:
        A[:] = A * 0.5


@wrong("0:i", "depends on another loop")
def triangle(A: f64[N, N]):
    for i in dace.map[0:N]:
        for j in dace.map[0:i]:
            A[i, j] = 0.0


@wrong("s", "several places")
def histogram(A: f64[N, M], s: f64[N]):
    for i, j in dace.map[0:N, 0:M]:
        s[i] += A[i, j]


@wrong("flags", "at least 1")
def no_flags(A: f64[N]):
    flags = nvshmem.flags(0)
    nvshmem.SignalWait(flags[0], 1)
    A[:] = A + 1.0


@wrong("neighbour", "constant")
def neighbour_by_variable(A: f64[N], k: i64):
    flags = nvshmem.flags(1)
    nvshmem.PutmemSignal(A[0], A[1], flags[0], 1, sd.neighbour(k))
    nvshmem.SignalWait(flags[0], 1)


@wrong("A", "iterations of a parallel loop")
def map_that_depends(A: f64[N], B: f64[N]):
    for i in dace.map[1:N]:
        A[i] = A[i - 1] + B[i]


@wrong("A[1:-1] = B[1:]", "could not broadcast")
def other_length(A: sd.split(f64[N]), B: sd.split(f64[N])):
    A[1:-1] = B[1:]


@wrong("return np.sum(A)", "gives a value, which a program cannot; write it into an argument")
def returns_a_number(A: f64[N]):
    return np.sum(A)


@wrong("return B + 1.0", "write it into an argument")
def returns_an_array_early(A: f64[N], B: f64[N], k: i64):
    if k > 3:
        return B + 1.0
    A[:] = B
    return None


@wrong("np.cumsum", "call of Python")
def running_sums(A: f64[N], B: f64[N]):
    B[:] = np.cumsum(A)
