"""Machines and stencils that are closed: by `with`, by close(), twice, and used afterwards."""

from __future__ import annotations

import threading

import numpy as np
import pytest

from starling import communication, linalg, machine, stencil, stf
from starling.errors import ArgumentError

U = np.random.default_rng(4).random((12, 10), dtype="f4")


def closed_machine():
    m = machine.host(2)
    m.close()
    return m


USES_OF_A_MACHINE = {
    "size": lambda m: m.size,
    "len": len,
    "kind": lambda m: m.kind,
    "devices": lambda m: m.devices,
    "memory": lambda m: m.memory,
    "choice": lambda m: m.choice,
    "link": lambda m: m.link(0, 1),
    "inject": lambda m: m.inject([]),
    "faults_fired": lambda m: m.faults_fired(),
    "trace_to": lambda m: m.trace_to("never_written"),
    "end_trace": lambda m: m.end_trace(),
    "trace_path": lambda m: m.trace_path,
    "with": lambda m: m.__enter__(),
    "jacobi": lambda m: stencil.jacobi(U, 2, machine=m),
    "auto": lambda m: stencil.jacobi(U, 2, machine=m, variant="auto"),
    "choose": lambda m: stencil.choose((8, 8), machine=m),
    "tune": lambda m: stencil.tune(machine=m),
    "Stencil": lambda m: stencil.Stencil((8, 8), machine=m),
    "cg": lambda m: linalg.cg(np.eye(4), np.ones(4), machine=m),
    "context": lambda m: stf.context(m),
    "communication": lambda m: communication.measure(machine=m),
}


@pytest.mark.parametrize("use", USES_OF_A_MACHINE)
def test_a_closed_machine_is_refused(use):
    with pytest.raises(ArgumentError, match="machine was closed; make another one"):
        USES_OF_A_MACHINE[use](closed_machine())


def test_a_machine_is_closed_at_the_end_of_a_block():
    with machine.host(2) as m:
        expected = stencil.jacobi(U, 3, machine=m)
        assert repr(m) == "<starling.Machine: 2 virtual devices>"
    assert repr(m) == "<starling.Machine: closed>"
    m.close()
    with pytest.raises(ZeroDivisionError), machine.host(1) as m:
        raise ZeroDivisionError
    assert repr(m) == "<starling.Machine: closed>"
    assert np.array_equal(stencil.jacobi(U, 3, machine="host", devices=2), expected)


def test_what_was_made_on_a_machine_goes_on_when_it_is_closed():
    with machine.host(2) as m:
        s = stencil.Stencil(U.shape, machine=m)
        a = linalg.DistributedMatrix(linalg.matrices.grid_2d(6, 6), machine=m)
        ctx = stf.context(m)
    s.load(U)
    s.advance(3)
    assert np.array_equal(s.store(), stencil.jacobi(U, 3, machine="host", devices=2))
    x, info = a.solve(a.matvec(np.ones(36)), rtol=1e-10)
    assert info == 0
    assert np.allclose(x, 1)
    total = np.zeros(1)
    with ctx:
        y = ctx.logical_data(total)
        ctx.host_launch(lambda v: v.fill(3), y.write())
    assert total[0] == 3


def test_the_memory_of_a_closed_stencil_is_free_again(devices):
    m = devices(2)
    before = m.memory.in_use
    with stencil.Stencil((64, 64), machine=m) as s:
        s.load(np.zeros((64, 64), "f4"))
        assert m.memory.in_use > before
    assert m.memory.in_use == before
    s.close()
    assert repr(s) == "<starling.stencil.Stencil: float32 (64, 64) closed>"
    assert (s.shape, s.dtype) == ((64, 64), "float32")


USES_OF_A_STENCIL = {
    "load": lambda s: s.load(U),
    "store": lambda s: s.store(),
    "store out": lambda s: s.store(np.zeros_like(U)),
    "advance": lambda s: s.advance(2),
    "march": lambda s: s.march(2),
    "machine": lambda s: s.machine,
    "with": lambda s: s.__enter__(),
}


@pytest.mark.parametrize("use", USES_OF_A_STENCIL)
def test_a_closed_stencil_is_refused(devices, use):
    s = stencil.Stencil(U.shape, machine=devices(1))
    s.load(U)
    s.close()
    with pytest.raises(ArgumentError, match=r"Stencil was closed.*make another one"):
        USES_OF_A_STENCIL[use](s)


def test_a_stencil_that_is_closed_during_a_march(devices):
    s = stencil.Stencil(U.shape, machine=devices(1))
    s.load(U)
    march = s.march(30, stop_every=10)
    assert next(march).done == 10
    s.close()
    with pytest.raises(ArgumentError, match="closed"):
        next(march)


def test_a_stencil_that_another_thread_closes():
    with stencil.Stencil(U.shape, machine="host", devices=1) as s:
        s.load(U)
        closer = threading.Timer(0.05, s.close)
        closer.start()
        with pytest.raises(ArgumentError, match="this Stencil was closed"):
            s.advance(10**9)
        closer.join()


USES_OF_A_MATRIX = {
    "machine": lambda a: a.machine,
    "facts": lambda a: a.facts,
    "product": lambda a: a @ np.ones(36),
    "products": lambda a: a @ np.ones((36, 2)),
    "solve": lambda a: a.solve(np.ones(36)),
    "cg": lambda a: linalg.cg(a, np.ones(36)),
    "with": lambda a: a.__enter__(),
}


@pytest.mark.parametrize("use", USES_OF_A_MATRIX)
def test_a_closed_matrix_is_refused(devices, use):
    a = linalg.DistributedMatrix(linalg.matrices.grid_2d(6, 6), machine=devices(1))
    a.close()
    with pytest.raises(ArgumentError, match=r"DistributedMatrix was closed.*make another one"):
        USES_OF_A_MATRIX[use](a)


def test_the_memory_of_a_closed_matrix_is_free_again(devices):
    m = devices(2)
    before = m.memory.in_use
    with linalg.DistributedMatrix(linalg.matrices.grid_2d(6, 6), machine=m) as a:
        assert m.memory.in_use > before
        assert np.allclose(a @ np.ones(36), linalg.matrices.grid_2d(6, 6) @ np.ones(36))
    assert m.memory.in_use == before
    a.close()
    assert repr(a) == "<starling.linalg.DistributedMatrix: float64 (36, 36) closed>"
    assert a._repr_html_() == "a matrix that was closed"
