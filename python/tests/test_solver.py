"""The solver object: long runs, interruptions, stalls, threads."""

from __future__ import annotations

import pickle
import threading
import time

import numpy as np
import pytest

from starling import machine, stencil
from starling.errors import ArgumentError, StallError

JACOBI = [0, 0.25, 0.25, 0.25, 0.25]


def test_goes_on_from_where_it_is(devices, noise, reference):
    u = noise((15, 14), "float64")
    s = stencil.Stencil(u.shape, u.dtype, machine=devices(2))
    s.load(u)
    for variant in stencil.VARIANTS:
        assert s.advance(5, variant=variant).steps == 5
    assert np.array_equal(s.store(), reference(u, 5 * len(stencil.VARIANTS), JACOBI))
    out = np.empty_like(u)
    assert s.store(out) is out
    assert np.array_equal(out, s.store())
    s.load(u)
    assert np.array_equal(s.store(), u)
    assert (s.shape, s.dtype, s.machine.size) == ((15, 14), "float64", 2)
    assert "float64 (15, 14)" in repr(s)


def test_without_computing_the_cells_stay(devices, noise):
    u = noise((15, 14))
    s = stencil.Stencil(u.shape, machine=devices(2))
    s.load(u)
    s.advance(5, compute=False)
    assert np.array_equal(s.store(), u)


def test_ctrl_c_between_chunks(devices, noise, reference):
    u = noise((32, 32))
    s = stencil.Stencil(u.shape, machine=devices(2))
    s.load(u)
    seen = []

    def interrupt(at):
        seen.append(at.done)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        s.advance(10**9, progress=interrupt)
    s.advance(3)
    assert np.array_equal(s.store(), reference(u, seen[0] + 3, JACOBI))


@pytest.fixture
def stall(kind):
    if kind == "cuda":
        pytest.skip("a deadline of a nanosecond is a matter of luck on a GPU")
    s = stencil.Stencil((64, 64), machine=machine.host(2))
    for _ in range(20):
        s.load(np.zeros((64, 64), dtype="float32"))
        try:
            s.advance(20_000, deadline=1e-9, blocks=8)
        except StallError as error:
            return s, error
    pytest.fail("no wait was ever late")


def test_stall(stall):
    s, error = stall
    assert isinstance(error, TimeoutError)
    assert "deadline of 1e-09 s" in str(error)
    assert [(r["pe"], r["block"]) for r in error.reports] == [(pe, b) for pe in range(2) for b in range(8)]
    late = [r for r in error.reports if r["state"] == "expired"]
    assert late
    assert late[0]["operation"] in ("wait", "sync_pe")
    assert late[0]["file"].endswith(("cpu_free_kernels.cpp", "halo_exchange.hpp"))
    assert late[0]["line"] > 0
    assert late[0]["wanted"] > late[0]["seen"]
    assert all(len(block) == 2 for block in error.cycle)
    with pytest.raises(ArgumentError, match=r"load\(\) first"):
        s.advance(1)
    with pytest.raises(ArgumentError, match=r"load\(\) first"):
        s.store()
    u = np.ones((64, 64), dtype="float32")
    s.load(u)
    s.advance(10)
    assert np.array_equal(s.store(), u)


def test_stall_survives_pickling(stall):
    _, error = stall
    copy = pickle.loads(pickle.dumps(error))
    assert (str(copy), copy.reports, copy.cycle) == (str(error), error.reports, error.cycle)


def test_other_threads_run_meanwhile(devices, noise):
    s = stencil.Stencil((256, 256), machine=devices(1))
    s.load(noise((256, 256)))
    ticks = []
    stop = threading.Event()

    def tick():
        while not stop.wait(0.001):
            ticks.append(time.perf_counter())

    thread = threading.Thread(target=tick)
    thread.start()
    start = time.perf_counter()
    while len(ticks) < 50 and time.perf_counter() - start < 30:
        s.advance(2000)
    stop.set()
    thread.join()
    assert len(ticks) >= 50


def test_threads_take_turns(devices, noise, reference):
    u = noise((20, 20))
    m = devices(2)
    shared = stencil.Stencil(u.shape, machine=m)
    shared.load(u)
    results = []

    def work():
        shared.advance(10)
        results.append(stencil.jacobi(u, 10, machine=m))

    threads = [threading.Thread(target=work) for _ in range(4)]
    for t in threads:
        t.start()
    for t in threads:
        t.join()
    assert np.array_equal(shared.store(), reference(u, 40, JACOBI))
    assert len(results) == 4
    assert all(np.array_equal(r, reference(u, 10, JACOBI)) for r in results)


def test_memory_is_given_back(noise):
    m = machine.host(2, memory="16M")
    for _ in range(20):
        stencil.jacobi(noise((700, 700)), 1, machine=m)
    assert m.memory.in_use == 0
