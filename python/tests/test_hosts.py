"""Machines whose devices are on several hosts: the same results by way of network cards as without."""

from __future__ import annotations

import pickle

import numpy as np
import pytest

import starling
from starling import faults, machine, shmem, stencil
from starling.errors import NetworkError, RangeError

LAYOUTS = [[0, 0, 1, 1], [0, 1, 2, 3], [1, 0, 1, 0]]


@pytest.fixture
def u():
    return np.random.default_rng(7).random((24, 40))


def test_links():
    m = machine.host(4, hosts=[0, 0, 1, 1], card="model", queue_depth=2)
    assert [m.link(1, pe) for pe in range(4)] == ["direct", "self", "card", "card"]
    assert machine.host(4, hosts=(0, 0, 0, 0)).link(0, 3) == "direct"


def test_hosts_by_the_environment(monkeypatch):
    monkeypatch.setenv("STARLING_HOSTS", "2")
    assert machine.host(4).link(1, 2) == "card"
    assert machine.host(4, hosts=np.zeros(4, int)).link(1, 2) == "direct"


@pytest.mark.parametrize("hosts", LAYOUTS, ids=str)
def test_a_world_on_several_hosts(hosts):
    random = np.random.default_rng(3)
    with shmem.World(machine.host(4, hosts=hosts)) as w:
        a, s = w.zeros((5, 6)), w.signals()
        wanted = random.random((4, 5, 6))
        for pe in range(4):
            w.put_signal(a, wanted[pe], s, pe + 1, pe=pe)
        w.put(a[::2, 1], wanted[3, ::2, 1], pe=0)
        wanted[0, ::2, 1] = wanted[3, ::2, 1]
        for pe in range(4):
            assert np.array_equal(w.get(a, pe=pe), wanted[pe])
            assert np.array_equal(w.get(a[1:, ::2], pe=pe), wanted[pe, 1:, ::2])
            assert w.signal_fetch(s, pe=pe) == pe + 1
        with pytest.raises(RangeError, match="pe = 4"):
            w.get(a, pe=4)


@pytest.mark.parametrize("hosts", LAYOUTS, ids=str)
@pytest.mark.parametrize("depth", [2, 64])
def test_halos_by_way_of_a_card(u, hosts, depth):
    m = machine.host(4, hosts=hosts, queue_depth=depth)
    wanted = u.copy()
    for _ in range(6):
        inner = (wanted[:-2, 1:-1] + wanted[2:, 1:-1] + wanted[1:-1, :-2] + wanted[1:-1, 2:]) / 4
        wanted[1:-1, 1:-1] = inner
    got = stencil.jacobi(u, 6, machine=m)
    assert np.array_equal(got, stencil.jacobi(u, 6, machine=machine.host(4)))
    assert np.allclose(got, wanted)


def test_a_lost_link(u):
    m = machine.host(4, hosts=[0, 0, 1, 1], faults=[faults.lose_link(pe=1, nth=3)])
    with pytest.raises(NetworkError) as caught:
        stencil.jacobi(u, 20, machine=m)
    assert isinstance(caught.value, starling.Error)
    for text in ["PE 1", "PE 2", "retry count exceeded", "injected fault"]:
        assert text in str(caught.value)
    assert "::" not in str(caught.value)
    copy = pickle.loads(pickle.dumps(caught.value))
    assert (type(copy), str(copy)) == (NetworkError, str(caught.value))
    (fired,) = m.faults_fired()
    assert (fired.kind, fired.pe) == ("lose_link", 1)
    m.inject([])
    assert np.array_equal(stencil.jacobi(u, 20, machine=m), stencil.jacobi(u, 20, machine=machine.host(4)))
