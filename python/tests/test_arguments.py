"""Every argument that is not allowed gives a typed error that holds the value and a next step, and changes nothing."""

from __future__ import annotations

import numpy as np
import pytest

from starling import errors, machine, stencil
from starling.errors import ArgumentError, ElementTypeError, LaunchError, OutOfMemory

U = np.ones((6, 8), dtype="float32")
CUBE = np.ones((3, 4, 5))
JACOBI = [0.0, 0.25, 0.25, 0.25, 0.25]


def read_only(u):
    u = u.copy()
    u.flags.writeable = False
    return u


# What is called, the error, and what its message must hold: the value and what to do.
WRONG_ARRAYS = {
    "list": (lambda: stencil.jacobi([[1.0, 2.0]], 1), ElementTypeError, ["list", "numpy.asarray"]),
    "none": (lambda: stencil.jacobi(None, 1), ElementTypeError, ["NoneType", "numpy.asarray"]),
    "integers": (lambda: stencil.jacobi(np.ones((4, 4), int), 1), ElementTypeError, ["int64", "u.astype('float32')"]),
    "half": (lambda: stencil.jacobi(U.astype("f2"), 1), ElementTypeError, ["float16", "u.astype('float32')"]),
    "bool": (lambda: stencil.jacobi(U > 0, 1), ElementTypeError, ["bool", "u.astype('float32')"]),
    "complex": (lambda: stencil.jacobi(U + 1j, 1), ElementTypeError, ["complex64", "u.real and u.imag"]),
    "objects": (lambda: stencil.jacobi(U.astype(object), 1), ElementTypeError, ["object", "u.astype('float32')"]),
    "masked": (lambda: stencil.jacobi(np.ma.masked_less(U, 0), 1), ElementTypeError, ["masked", "u.filled"]),
    "scalar": (lambda: stencil.jacobi(np.ones(()), 1), ArgumentError, ["0 dimensions", "2 or 3"]),
    "one dimension": (lambda: stencil.jacobi(np.ones(4), 1), ArgumentError, ["(4,)", "2 or 3"]),
    "four dimensions": (lambda: stencil.jacobi(np.ones((2, 2, 2, 2)), 1), ArgumentError, ["4 dimensions", "2 or 3"]),
    "no cells": (lambda: stencil.jacobi(np.ones((0, 5)), 1), ArgumentError, ["(0, 5)", "at least 1"]),
    "out shape": (lambda: stencil.jacobi(U, 1, out=U.T.copy()), ArgumentError, ["out", "(8, 6)", "(6, 8)"]),
    "out type": (lambda: stencil.jacobi(U, 1, out=U.astype("f8")), ElementTypeError, ["out", "float64", "float32"]),
    "out read-only": (lambda: stencil.jacobi(U, 1, out=read_only(U)), ArgumentError, ["out", "read-only", "written"]),
    "out list": (lambda: stencil.jacobi(U, 1, out=[1]), ElementTypeError, ["out", "list", "pass an array"]),
}
WRONG_PROBLEMS = {
    "few coefficients": (lambda: stencil.run(U, 1, [0.25] * 4), ArgumentError, ["4 coefficients", "must be 5"]),
    "many coefficients": (lambda: stencil.run(U, 1, [0.25] * 7), ArgumentError, ["7 coefficients", "must be 5"]),
    "for three": (lambda: stencil.run(CUBE, 1, JACOBI), ArgumentError, ["5 coefficients", "must be 7"]),
    "coefficient NaN": (
        lambda: stencil.run(U, 1, [0, np.nan, 0, 0, 0]),
        ArgumentError,
        ["coefficients[1]", "nan", "finite"],
    ),
    "coefficient inf": (lambda: stencil.run(U, 1, [np.inf] * 5), ArgumentError, ["coefficients[0]", "inf", "finite"]),
    "beyond float32": (lambda: stencil.run(U, 1, [0, 0, 0, 1e300, 0]), ArgumentError, ["inf", "finite"]),
    "coefficient text": (lambda: stencil.run(U, 1, ["x"] * 5), ElementTypeError, ["coefficients[0]", "'x'", "number"]),
    "coefficients number": (lambda: stencil.run(U, 1, 0.25), ElementTypeError, ["0.25", "5 numbers"]),
    "ratio large": (lambda: stencil.heat(U, 1, 0.3), ArgumentError, ["ratio", "0.3", "0.25"]),
    "ratio large in 3D": (lambda: stencil.heat(CUBE, 1, 0.2), ArgumentError, ["ratio", "0.2", "0.166667"]),
    "ratio zero": (lambda: stencil.heat(U, 1, 0), ArgumentError, ["ratio", "0", "above 0"]),
    "ratio NaN": (lambda: stencil.heat(U, 1, np.nan), ArgumentError, ["ratio", "nan", "finite"]),
    "boundary": (lambda: stencil.jacobi(U, 1, boundary="open"), ArgumentError, ["'open'", "'fixed' or 'periodic'"]),
    "boundary one of two": (
        lambda: stencil.jacobi(U, 1, boundary=["fixed", "open"]),
        ArgumentError,
        ["'open'", "'fixed' or 'periodic'"],
    ),
    "boundary none": (
        lambda: stencil.jacobi(U, 1, boundary=None),
        ElementTypeError,
        ["boundary = None is a NoneType", "'fixed' or 'periodic'"],
    ),
    "boundary number": (
        lambda: stencil.jacobi(U, 1, boundary=5),
        ElementTypeError,
        ["boundary = 5 is a int", "'fixed' or 'periodic'"],
    ),
    "boundary three": (
        lambda: stencil.jacobi(U, 1, boundary=["fixed"] * 3),
        ArgumentError,
        ["boundary", "one per axis"],
    ),
}
WRONG_RUNS = {
    "steps zero": (lambda: stencil.jacobi(U, 0), ArgumentError, ["steps = 0", "at least 1"]),
    "steps negative": (lambda: stencil.jacobi(U, -3), ArgumentError, ["steps = -3", "at least 1"]),
    "steps huge": (lambda: stencil.jacobi(U, 10**30), ArgumentError, ["steps = 1000", "at most"]),
    "steps fraction": (lambda: stencil.jacobi(U, 1.5), ElementTypeError, ["steps = 1.5", "whole number"]),
    "steps text": (lambda: stencil.jacobi(U, "5"), ElementTypeError, ["steps = '5'", "whole number"]),
    "variant": (
        lambda: stencil.jacobi(U, 1, variant="magic"),
        ArgumentError,
        ["'magic'", "resident, temporal, cpu_free", "p2p, overlap, copy or auto"],
    ),
    "depth zero": (
        lambda: stencil.jacobi(U, 1, variant="temporal", depth=0),
        ArgumentError,
        ["depth = 0", "at least 1"],
    ),
    "depth large": (
        lambda: stencil.jacobi(U, 1, variant="temporal", depth=17),
        ArgumentError,
        ["depth = 17", "at most"],
    ),
    "depth of another variant": (
        lambda: stencil.jacobi(U, 1, variant="resident", depth=2),
        ArgumentError,
        ["depth = 2", "choose the variant temporal"],
    ),
    "depth of a variant without it": (
        lambda: stencil.jacobi(U, 1, variant="cpu_free", depth=2),
        ArgumentError,
        ["depth = 2", "the variant cpu_free", "choose the variant temporal"],
    ),
    "progress no function": (
        lambda: stencil.jacobi(U, 1, progress=3),
        ElementTypeError,
        ["progress = 3 is a int", "pass a function"],
    ),
    "tol negative": (lambda: stencil.jacobi(U, 1, tol=-1), ArgumentError, ["tol = -1", "at least 0"]),
    "tol NaN": (lambda: stencil.jacobi(U, 1, tol=np.nan), ArgumentError, ["tol = nan", "finite"]),
    "tol text": (lambda: stencil.jacobi(U, 1, tol="small"), ElementTypeError, ["tol = 'small'", "number"]),
    "check_every zero": (lambda: stencil.jacobi(U, 1, check_every=0), ArgumentError, ["check_every = 0", "at least 1"]),
    "packet_bytes negative": (
        lambda: stencil.Stencil((4, 4)).march(1, packet_bytes=-1),
        ArgumentError,
        ["packet_bytes = -1", "at least 0"],
    ),
    "blocks zero": (lambda: stencil.jacobi(U, 1, blocks=0), ArgumentError, ["blocks = 0", "at least 1"]),
    "blocks huge": (lambda: stencil.jacobi(U, 1, blocks=2**31), ArgumentError, ["blocks = 2147483648", "at most"]),
    "blocks many": (lambda: stencil.jacobi(U, 1, blocks=10**6), LaunchError, ["1000000", "fit", "fewer"]),
}
WRONG_MACHINES = {
    "devices zero": (lambda: stencil.jacobi(U, 1, devices=0), ArgumentError, ["devices = 0", "at least 1"]),
    "devices many": (lambda: machine.host(1000), ArgumentError, ["devices = 1000", "at most 256"]),
    "devices fraction": (lambda: machine.host(1.5), ElementTypeError, ["devices = 1.5", "whole number"]),
    "more devices than rows": (
        lambda: stencil.jacobi(U, 1, machine="host", devices=7),
        ArgumentError,
        ["6 layers of axis 0", "7", "fewer devices"],
    ),
    "machine name": (lambda: stencil.jacobi(U, 1, machine="tpu"), ArgumentError, ["'tpu'", "'host', 'cuda', 'auto'"]),
    "machine type": (lambda: stencil.jacobi(U, 1, machine=3), ElementTypeError, ["int", "'host', 'cuda', 'auto'"]),
    "machine and devices": (
        lambda: stencil.jacobi(U, 1, machine=machine.host(2), devices=3),
        ArgumentError,
        ["devices = 3", "has 2", "leave devices out"],
    ),
    "split and devices": (
        lambda: stencil.jacobi(U, 1, machine="host", devices=3, split=(2, 2)),
        ArgumentError,
        ["(2, 2)", "4 parts", "3 PEs"],
    ),
    "split length": (lambda: stencil.jacobi(U, 1, split=(2,)), ArgumentError, ["(2,)", "per axis"]),
    "split zero": (lambda: stencil.jacobi(U, 1, split=(0, 2)), ArgumentError, ["split = 0", "at least 1"]),
    "split number": (lambda: stencil.jacobi(U, 1, split=4), ElementTypeError, ["split = 4", "(2, 2)"]),
    "split beyond cells": (
        lambda: stencil.jacobi(U, 1, machine="host", split=(1, 9)),
        ArgumentError,
        ["(1, 9)", "8 layers of axis 1", "fewer devices"],
    ),
    "memory text": (lambda: machine.host(1, memory="lots"), ArgumentError, ["memory", '"lots"', "K, M or G"]),
    "memory zero": (lambda: machine.host(1, memory=0), ArgumentError, ["memory = 0", "at least 1"]),
    "max_blocks zero": (lambda: machine.host(1, max_blocks=0), ArgumentError, ["max_blocks = 0", "at least 1"]),
    "hosts few": (lambda: machine.host(4, hosts=[0, 1]), ArgumentError, ["hosts has 2", "4 devices", "each device"]),
    "hosts number": (lambda: machine.host(2, hosts=2), ElementTypeError, ["hosts = 2", "[0, 0, 1, 1]"]),
    "hosts text": (lambda: machine.host(2, hosts="01"), ElementTypeError, ["hosts = '01'", "[0, 0, 1, 1]"]),
    "hosts negative": (lambda: machine.host(2, hosts=[0, -1]), ArgumentError, ["hosts[1] = -1", "at least 0"]),
    "hosts large": (lambda: machine.host(2, hosts=[2, 0]), ArgumentError, ["hosts[0] = 2", "at most 1"]),
    "hosts fraction": (lambda: machine.host(2, hosts=[0, 0.5]), ElementTypeError, ["hosts[1] = 0.5", "whole number"]),
    "card unknown": (lambda: machine.host(2, card="proxy"), ArgumentError, ["card = 'proxy'", "'model'"]),
    "card kind": (lambda: machine.host(2, card=1), ElementTypeError, ["card = 1", "'model'"]),
    "card of GPUs": (lambda: machine.cuda(card="ib"), ArgumentError, ["card = 'ib'", "'model'", "'proxy'"]),
    "hosts of GPUs": (lambda: machine.cuda([0, 0], hosts=[0, -1]), ArgumentError, ["hosts[1] = -1"]),
    "queue_depth odd": (
        lambda: machine.host(2, queue_depth=6),
        ArgumentError,
        ["queue_depth = 6", "power of two", "4"],
    ),
    "queue_depth one": (lambda: machine.host(2, queue_depth=1), ArgumentError, ["queue_depth = 1", "at least 2"]),
    "queue_depth large": (lambda: machine.host(2, queue_depth=65536), ArgumentError, ["65536", "at most 32768"]),
    "queue_depth kind": (
        lambda: machine.host(2, queue_depth="4"),
        ElementTypeError,
        ["queue_depth = '4'", "whole number"],
    ),
    "sharing number": (lambda: machine.cuda(sharing=3), ElementTypeError, ["sharing = 3", "'partitions' or 'plain'"]),
    "answer text": (lambda: machine.cuda(answer="x"), ElementTypeError, ["answer = 'x'", "True or False"]),
    "trace_to number": (
        lambda: machine.host(1).trace_to(3),
        ElementTypeError,
        ["path = 3 is a int", "a text or a pathlib.Path"],
    ),
    "trace_to none": (lambda: machine.host(1).trace_to(None), ElementTypeError, ["path = None", "pathlib.Path"]),
    "trace_to records": (
        lambda: machine.host(1).trace_to("never_written", records="many"),
        ElementTypeError,
        ["records = 'many'", "whole number"],
    ),
    "link text": (lambda: machine.host(2).link("a", 0), ElementTypeError, ["from_pe = 'a'", "whole number"]),
    "link none": (lambda: machine.host(2).link(0, None), ElementTypeError, ["to_pe = None", "whole number"]),
    "host_of text": (lambda: machine.host(2).host_of("a"), ElementTypeError, ["pe = 'a'", "whole number"]),
    "agree text": (lambda: machine.host(2).agree("x"), ElementTypeError, ["mine = 'x' is a str", "pass a number"]),
    "agree none": (lambda: machine.host(2).agree(None), ElementTypeError, ["mine = None", "pass a number"]),
    "ids empty": (lambda: machine.cuda([]), ArgumentError, ["ids", "all"]),
    "ids number": (lambda: machine.cuda(0), ElementTypeError, ["ids = 0", "[0, 1]"]),
    "ids negative": (lambda: machine.cuda([-1]), ArgumentError, ["ids = -1", "at least 0"]),
    "too large": (
        lambda: stencil.jacobi(np.ones((600, 600)), 1, machine=machine.host(1, memory="1M")),
        OutOfMemory,
        ["1 MiB", "more devices", "STARLING_HOST_MEMORY"],
    ),
    "no such addresses": (
        lambda: machine.host(256, memory="1048576G"),
        OutOfMemory,
        ["addresses", "STARLING_HOST_MEMORY"],
    ),
}
WRONG_SOLVERS = {
    "shape": (lambda: stencil.Stencil((4,)), ArgumentError, ["(4,)", "2 or 3"]),
    "shape number": (lambda: stencil.Stencil(4), ElementTypeError, ["shape = 4", "(512, 512)"]),
    "shape fraction": (lambda: stencil.Stencil((4, 4.5)), ElementTypeError, ["4.5", "whole number"]),
    "shape huge": (lambda: stencil.Stencil((2**30,) * 3), ArgumentError, ["cells", "at most 2^48"]),
    "shape large": (
        lambda: stencil.Stencil((2**24, 2**24), machine="host", devices=1),
        OutOfMemory,
        ["1024 TiB", "STARLING_HOST_MEMORY"],
    ),
    "dtype": (lambda: stencil.Stencil((4, 4), "int32"), ElementTypeError, ["'int32'", "'float32' or 'float64'"]),
    "dtype nonsense": (lambda: stencil.Stencil((4, 4), "nonsense"), ElementTypeError, ["'nonsense'", "'float32'"]),
    "advance first": (
        lambda: stencil.Stencil((4, 4)).advance(1),
        ArgumentError,
        ["nothing to advance", "load() first"],
    ),
    "store first": (lambda: stencil.Stencil((4, 4)).store(), ArgumentError, ["nothing to store", "load() first"]),
    "load shape": (lambda: stencil.Stencil((4, 4)).load(U), ArgumentError, ["(6, 8)", "(4, 4)"]),
    "load type": (lambda: stencil.Stencil((6, 8)).load(U.astype("f8")), ElementTypeError, ["float64", "float32"]),
    "deadline": (
        lambda: stencil.Stencil((4, 4)).advance(1, deadline=0),
        ArgumentError,
        ["deadline = 0", "more than 0"],
    ),
    "stop_every": (
        lambda: stencil.Stencil((4, 4)).march(1, stop_every=0),
        ArgumentError,
        ["stop_every = 0", "at least 1"],
    ),
    "dimensions": (lambda: stencil.jacobi_coefficients(4), ArgumentError, ["dimensions = 4", "at most 3"]),
}
TABLE = {**WRONG_ARRAYS, **WRONG_PROBLEMS, **WRONG_RUNS, **WRONG_MACHINES, **WRONG_SOLVERS}


@pytest.mark.parametrize("case", TABLE)
def test_wrong(case):
    call, error, texts = TABLE[case]
    before = U.copy()
    with pytest.raises(error) as caught:
        call()
    assert type(caught.value) is error
    for text in texts:
        assert text in str(caught.value)
    assert "::" not in str(caught.value)  # names are Python's
    assert np.array_equal(U, before)


def test_unknown_environment_value(monkeypatch):
    monkeypatch.setenv("STARLING_DEVICES", "many")
    with pytest.raises(ArgumentError, match=r'STARLING_DEVICES="many".*unset'):
        machine.best()


@pytest.mark.parametrize(
    ("error", "builtin"),
    [
        (errors.ArgumentError, ValueError),
        (errors.ElementTypeError, TypeError),
        (errors.RangeError, IndexError),
        (errors.OutOfMemory, MemoryError),
        (errors.LaunchError, ValueError),
        (errors.Unsupported, RuntimeError),
        (errors.DeviceError, RuntimeError),
        (errors.FaultError, RuntimeError),
        (errors.NetworkError, RuntimeError),
        (errors.RegionError, RuntimeError),
        (errors.StallError, TimeoutError),
    ],
)
def test_errors_are_also_of_python(error, builtin):
    assert issubclass(error, errors.Error)
    assert issubclass(error, builtin)
