"""Faults on purpose: each ends a run with a typed error that names it, and the machine can run again."""

from __future__ import annotations

import os
import pickle
import time

import numpy as np
import pytest

import starling
from starling import faults, machine, stencil
from starling.errors import ArgumentError, ElementTypeError, FaultError, OutOfMemory, StallError, Unsupported

STEPS = 40


@pytest.fixture
def u():
    return np.random.default_rng().random((24, 40), dtype="float32")


def threads():
    return len(os.listdir("/proc/self/task"))


def no_more_threads_than(before):
    """The system shows a thread for a moment after it was joined."""
    for _ in range(1000):
        if threads() <= before:
            return True
        time.sleep(0.01)
    return False


def advanced(m, u, deadline=30.0):
    s = stencil.Stencil(u.shape, "float32", machine=m)
    s.load(u)
    s.advance(STEPS, deadline=deadline, packet_bytes=2**18)
    return s.store()


@pytest.mark.parametrize(
    ("fault", "error", "deadline", "texts"),
    [
        (faults.drop_signal(pe=1, nth=9), StallError, 0.1, ["drop_signal: PE 1 block 0", "cpu_free_kernels.cpp"]),
        (faults.delay_signal(3000, pe=0, nth=9), StallError, 0.1, ["delay_signal: PE 0 block 0"]),
        (faults.corrupt_epoch(pe=2, nth=5), StallError, 0.1, ["corrupt_epoch: PE 2", "wanted"]),
        (faults.kill_block(pe=3, block=0, nth=40), FaultError, 30, ["kill_block ended PE 3 block 0"]),
        (faults.slow_pe(0.3, pe=2), StallError, 0.1, ["slow_pe: PE 2"]),
        (faults.fail_allocation(3), OutOfMemory, 30, ["asked for", "fail_allocation"]),
    ],
    ids=lambda value: value.kind if isinstance(value, faults.Fault) else "",
)
def test_each_kind(u, fault, error, deadline, texts):
    m = machine.host(4)
    wanted = advanced(m, u)
    in_use, running = m.memory.in_use, threads()
    m.inject([fault])
    assert m.faults_fired() == []
    with pytest.raises(error) as caught:
        advanced(m, u, deadline)
    assert type(caught.value) is error
    for text in ["injected fault", "Machine.inject([])", *texts]:
        assert text in str(caught.value)
    assert "::" not in str(caught.value)
    if error is StallError:
        assert len(caught.value.injected) == 1
        copy = pickle.loads(pickle.dumps(caught.value))
        assert (str(copy), copy.injected) == (str(caught.value), caught.value.injected)

    (fired,) = m.faults_fired()
    assert (fired.index, fired.kind) == (0, fault.kind)
    assert fired.times >= 1
    assert str(fired).startswith(f"{fault.kind}:")
    assert (fired.pe is None) == (error is OutOfMemory)

    del caught
    m.inject([])
    assert m.faults_fired() == []
    assert m.memory.in_use == in_use
    assert no_more_threads_than(running)
    assert np.array_equal(advanced(m, u), wanted)


def test_a_delay_within_the_deadline_does_no_harm(u):
    m = machine.host(4, faults=[faults.delay_signal(0.01, pe=0, nth=5, times=3), faults.slow_pe(0.0001, pe=1)])
    assert np.array_equal(advanced(m, u), advanced(machine.host(1), u))
    delayed, slow = m.faults_fired()
    assert (delayed.kind, delayed.pe, delayed.times, delayed.operation) == ("delay_signal", 0, 3, "put")
    assert slow.times > 3


def test_faults_for_ever(u):
    m = machine.host(2, faults=[faults.fail_allocation(2, times=None)])
    for _ in range(3):
        with pytest.raises(OutOfMemory):
            advanced(m, u)
    assert m.faults_fired()[0].times >= 3


@pytest.mark.parametrize(
    ("fault", "text"),
    [
        (faults.drop_signal(), "drop_signal()"),
        (faults.kill_block(1, block=2, nth=3, times=None, calls="all"),
         "kill_block(pe=1, block=2, nth=3, times=None, calls='all')"),
        (faults.delay_signal(0.5, times=4), "delay_signal(times=4, seconds=0.5)"),
        (faults.corrupt_epoch(), "corrupt_epoch(flip=0x8000000000000000)"),
        (faults.fail_allocation(7), "fail_allocation(nth=7)"),
    ],
)  # fmt: skip
def test_shown_as_the_call_that_makes_it(fault, text):
    assert repr(fault) == text


WRONG = {
    "pe": (lambda: faults.drop_signal(-1), ArgumentError, ["pe = -1", "at least 0"]),
    "pe type": (lambda: faults.drop_signal("1"), ElementTypeError, ["pe = '1'", "whole number"]),
    "pe of the machine": (
        lambda: machine.host(2, faults=[faults.kill_block(0), faults.kill_block(2)]),
        ArgumentError,
        ["fault 1 (kill_block)", "pe = 2", "from 0 to 1, or None"],
    ),
    "block": (lambda: faults.kill_block(block=-1), ArgumentError, ["block = -1", "at least 0"]),
    "nth": (lambda: faults.kill_block(nth=0), ArgumentError, ["nth = 0", "at least 1"]),
    "nth fraction": (lambda: faults.kill_block(nth=1.5), ElementTypeError, ["nth = 1.5", "whole number"]),
    "times": (lambda: faults.drop_signal(times=0), ArgumentError, ["times = 0", "at least 1"]),
    "calls": (lambda: faults.drop_signal(calls="some"), ArgumentError, ["calls = 'some'", "'control'"]),
    "calls type": (lambda: faults.drop_signal(calls=3), ArgumentError, ["calls = 3", "'control'"]),
    "seconds": (lambda: faults.slow_pe(0), ArgumentError, ["seconds = 0", "more than 0"]),
    "seconds NaN": (lambda: faults.slow_pe(float("nan")), ArgumentError, ["seconds = nan", "finite"]),
    "seconds long": (lambda: faults.delay_signal(1e6), ArgumentError, ["seconds = 1000000", "at most 3600"]),
    "seconds text": (lambda: faults.delay_signal("long"), ElementTypeError, ["seconds = 'long'", "number"]),
    "flip": (lambda: faults.corrupt_epoch(flip=0), ArgumentError, ["flip = 0", "at least 1"]),
    "flip large": (lambda: faults.corrupt_epoch(flip=2**64), ArgumentError, ["flip = 18446744073709551616", "at most"]),
    "no list": (lambda: machine.host(2, faults=faults.drop_signal()), ElementTypeError, ["drop_signal()", "list"]),
    "no faults": (lambda: machine.host(2, faults=["drop_signal"]), ElementTypeError, ["element 0", "str"]),
    "injected none": (
        lambda: machine.host(2).inject(None),
        ElementTypeError,
        ["faults = None", "list of faults", "[]"],
    ),
    "injected text": (
        lambda: machine.host(2).inject([faults.drop_signal(), 3]),
        ElementTypeError,
        ["element 1", "int"],
    ),
}


@pytest.mark.parametrize("case", WRONG)
def test_wrong(case):
    call, error, texts = WRONG[case]
    with pytest.raises(error) as caught:
        call()
    assert type(caught.value) is error
    for text in texts:
        assert text in str(caught.value)
    assert "::" not in str(caught.value)


def test_a_plan_that_is_refused_changes_nothing(u):
    m = machine.host(2, faults=[faults.fail_allocation()])
    with pytest.raises(ArgumentError):
        m.inject([faults.drop_signal(5)])
    with pytest.raises(OutOfMemory):
        advanced(m, u)


def test_gpus_have_no_faults(kind, devices):
    if kind != "cuda":
        pytest.skip("no GPUs")
    m = devices(1)
    with pytest.raises(Unsupported, match="virtual devices only"):
        m.inject([faults.kill_block()])
    m.inject([])
    assert m.faults_fired() == []


def test_exported():
    assert starling.faults is faults
