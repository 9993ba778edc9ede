"""Machines: what they say of themselves, and which one is taken."""

from __future__ import annotations

import pytest

import starling
from starling import machine
from starling._native import native
from starling.errors import RangeError, Unsupported


def test_host():
    m = machine.host(3, memory="64M", max_blocks=5)
    assert (m.kind, m.size, len(m)) == ("host", 3, 3)
    assert [d.name for d in m.devices] == [f"virtual device {i}" for i in range(3)]
    assert m.devices[2].id == 2
    assert m.devices[0].memory_bytes == m.memory.capacity == 64 << 20
    assert m.memory.in_use == 0
    assert m.memory.largest_free == 64 << 20
    assert (m.link(0, 0), m.link(0, 2)) == ("self", "direct")
    assert "3 virtual devices" in m.choice
    assert repr(m) == "<starling.Machine: 3 virtual devices>"
    with pytest.raises(RangeError, match="PE 3"):
        m.link(0, 3)


def test_blocks_of_a_machine(noise):
    with pytest.raises(starling.errors.LaunchError, match="only 5"):
        starling.stencil.jacobi(noise((8, 8)), 1, machine=machine.host(1, max_blocks=5), blocks=6)


def test_memory_in_bytes():
    assert machine.host(1, memory=4096).memory.capacity == 4096


def test_best_follows_the_environment(monkeypatch):
    monkeypatch.setenv("STARLING_MACHINE", "host")
    monkeypatch.setenv("STARLING_DEVICES", "3")
    m = machine.best()
    assert m.size == 3
    assert "STARLING_MACHINE=host" in m.choice
    assert machine.best(2).size == 2
    monkeypatch.setenv("STARLING_HOST_MEMORY", "32M")
    assert machine.host(1).memory.capacity == 32 << 20


def test_default_shrinks_to_the_domain(noise, kind):
    _, report = starling.stencil.jacobi(noise((2, 50)), 1, machine=kind, report=True)
    assert report.devices <= 2


def test_devices_follow_from_the_split(noise):
    _, report = starling.stencil.jacobi(noise((8, 8)), 1, machine="host", split=(3, 2), report=True)
    assert report.devices == 6


def test_gpus_or_the_reason():
    status = native.probe_cuda()
    if status.problem:
        assert status.remedy
        assert "::" not in status.remedy
        with pytest.raises(Unsupported) as caught:
            machine.cuda()
        assert status.problem in str(caught.value)
    else:
        m = machine.cuda()
        assert (m.kind, m.size) == ("cuda", status.devices)
        assert m.devices[0].compute_capability >= 50
        with pytest.raises(starling.Error, match=str(status.devices)):
            machine.cuda([status.devices])


def test_under_test(devices, kind):
    m = devices(1)
    assert m.kind == kind
    assert m.devices[0].memory_bytes > 0
