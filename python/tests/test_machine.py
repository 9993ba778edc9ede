"""Machines: what they say of themselves, and which one is taken."""

from __future__ import annotations

import os

import pytest

import starling
from starling import machine
from starling._native import native
from starling.cli._options import require_gpus, share_gpus
from starling.errors import ArgumentError, ElementTypeError, RangeError, Unsupported


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
        each = int(os.environ["STARLING_PES_PER_GPU"])
        assert (m.kind, m.size) == ("cuda", status.devices * each)
        assert m.summary in m.choice
        assert m.devices[0].compute_capability >= 50
        with pytest.raises(starling.Error, match=f"no device {m.size}"):
            machine.cuda([m.size])


def test_under_test(devices, kind):
    m = devices(1)
    assert m.kind == kind
    assert m.devices[0].memory_bytes > 0


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"pes_per_gpu": 0}, "pes_per_gpu"),
        ({"pes_per_gpu": -3}, "pes_per_gpu"),
        ({"sharing": "halves"}, "'auto', 'partitions' or 'plain'"),
        ({"ids": [0, 0], "pes_per_gpu": 2}, "one of the two"),
        ({"ids": [], "pes_per_gpu": 2}, "ids is empty"),
    ],
)
def test_sharing_that_makes_no_sense(arguments, said):
    with pytest.raises(ArgumentError, match=said):
        machine.cuda(**arguments)


def test_a_number_of_pes_that_is_none():
    with pytest.raises(ElementTypeError, match="pes_per_gpu"):
        machine.cuda(pes_per_gpu="4")


def test_variables_that_make_no_sense(monkeypatch):
    monkeypatch.setenv("STARLING_PES_PER_GPU", "0")
    with pytest.raises(ArgumentError, match="STARLING_PES_PER_GPU"):
        machine.cuda()


def test_virtual_devices_share_no_gpu():
    m = machine.host(2)
    assert m.summary == "2 virtual devices"
    assert [(d.gpu, d.pes_on_gpu, d.partitioned) for d in m.devices] == [(-1, 1, False)] * 2


def test_commands_name_the_next_step(monkeypatch):
    monkeypatch.delenv("STARLING_PES_PER_GPU", raising=False)
    with pytest.raises(ArgumentError, match=r"--devices 4: this machine has 1 GPU; .* --pes-per-gpu 4"):
        require_gpus(1, 4)
    with pytest.raises(ArgumentError, match=r"has 2 GPUs; .* --pes-per-gpu 3"):
        require_gpus(2, 5)
    require_gpus(0, 4)
    require_gpus(4, 4)
    monkeypatch.setenv("STARLING_PES_PER_GPU", "4")
    require_gpus(1, 4)
    with pytest.raises(ArgumentError, match="--pes-per-gpu 5"):
        require_gpus(1, 5)


def test_commands_let_devices_share(monkeypatch):
    monkeypatch.setenv("STARLING_PES_PER_GPU", "1")
    share_gpus(3, None, "auto")
    assert os.environ["STARLING_PES_PER_GPU"] == "3"
    with pytest.raises(ArgumentError, match="pes-per-gpu"):
        share_gpus(0, None, "auto")


@pytest.mark.skipif(native.probe_cuda().devices == 0, reason="no GPU")
def test_a_shared_gpu_says_so(noise):
    m = machine.cuda([0, 0])
    assert repr(m) == "<starling.Machine: 2 PEs on 1 GPU>"
    assert "2 PEs on 1 GPU" in m.choice
    assert m.link(0, 1) == "same_device"
    assert {d.pes_on_gpu for d in m.devices} == {2}
    _, report = starling.stencil.jacobi(noise((16, 16)), 3, machine=m, report=True)
    assert report.shared == "2 PEs on 1 GPU"
    assert "2 PEs on 1 GPU" in repr(report)
