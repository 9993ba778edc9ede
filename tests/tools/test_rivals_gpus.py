"""The rivals on several GPUs: their parts and vectors as NumPy sees them, and their order of work on GPUs that are not
there. These do what streams and events permit in any order, so that a wait that is missing gives wrong ranks."""

from __future__ import annotations

import ctypes
import os
import random
import sys
from collections.abc import Callable
from types import ModuleType, SimpleNamespace
from typing import Any, ClassVar

import numpy as np
import pytest
import rivals_gpus
from scipy import sparse

SIZES = [(1, 1), (5, 2), (7, 4), (33, 1), (97, 3), (203, 4)]  # vertices and parts


def graph(n: int, seed: int = 0) -> Any:
    """With vertices that lead nowhere, and entries that are not ones."""
    rng = np.random.default_rng(seed)
    a = sparse.random_array((n, n), density=min(1, 4 / n), rng=rng, format="lil", data_sampler=rng.standard_normal)
    a[rng.random(n) < 0.3] = 0
    a[n // 2] = 0
    a = sparse.csr_array(a)
    a.eliminate_zeros()
    return a


def expected(a: Any, iterations: int) -> Any:
    """By powers of the matrix, in float64."""
    ones = (a != 0).astype(float)
    out, n = ones.sum(axis=1), ones.shape[0]
    walk = sparse.diags_array(1 / np.maximum(out, 1)) @ ones
    x = np.full(n, 1 / n)
    for _ in range(iterations):
        x = 0.85 * (walk.T @ x) + (0.85 * x[out == 0].sum() + 0.15) / n
    return x


@pytest.mark.parametrize(("n", "parts"), SIZES)
def test_iterations_on_parts(n: int, parts: int) -> None:
    a = graph(n)
    c = rivals_gpus.cut(a, parts)
    vectors = [c.start(), np.full(parts * c.length, np.nan, np.float32)]
    x = np.zeros(n)
    for e in range(3):
        read, write = vectors[e % 2], vectors[(e + 1) % 2]
        for p in range(parts):
            rows = slice(c.first[p], c.first[p + 1])
            x[rows] = 0.85 * (c.block(p) @ read) + (0.85 * read[c.slot].sum() + 0.15) / n
            write[c.place[rows]] = x[rows] * c.inverse[rows]
            write[c.slot[p]] = x[rows][c.inverse[rows] == 0].sum()
    assert x.sum() == pytest.approx(1, abs=1e-6)
    assert np.allclose(x, expected(a, 3), rtol=1e-5, atol=0)
    assert np.allclose(c.powers(3), expected(a, 3), rtol=1e-12, atol=0)


@pytest.mark.parametrize(("n", "parts"), SIZES)
def test_places(n: int, parts: int) -> None:
    c = rivals_gpus.cut(graph(n), parts)
    assert c.length % 32 == 0
    assert 1 <= c.length - np.diff(c.first).max() <= 32
    used = np.concatenate([c.place, c.slot])
    assert len(np.unique(used)) == n + parts
    assert np.array_equal(c.place // c.length, np.repeat(np.arange(parts), np.diff(c.first)))
    assert np.array_equal(c.slot // c.length, np.arange(parts))
    assert np.array_equal(c.slot, c.place[c.first[1:] - 1] + 1)
    assert all(c.block(p).indices.dtype == np.int32 for p in range(parts))
    for p in range(parts):
        rows = c.block(p).toarray()
        assert np.array_equal(rows[:, c.place], (graph(n).toarray() != 0).T[c.first[p] : c.first[p + 1]])
        assert rows.sum() == rows[:, c.place].sum()


@pytest.mark.parametrize("parts", [1, 2, 3, 4, 7])
@pytest.mark.parametrize(
    "entries", [[0] * 7, [9, 0, 0, 0, 0, 0, 0], [0, 0, 0, 0, 0, 0, 9], [0, 0, 0, 90, 0, 1, 0], [3, 1, 4, 1, 5, 9, 2]]
)
def test_every_part_has_a_row(entries: list[int], parts: int) -> None:
    first = rivals_gpus.boundaries(np.cumsum([0, *entries]), parts)
    assert (first[0], first[-1], len(first)) == (0, 7, parts + 1)
    assert np.all(np.diff(first) >= 1)


def test_parts_have_about_as_many_entries() -> None:
    entries = np.random.default_rng(1).integers(0, 50, 1001)
    start = np.concatenate([[0], np.cumsum(entries)]).astype(np.int32)
    for parts in (2, 3, 4, 8):
        own = np.diff(start[rivals_gpus.boundaries(start, parts)])
        assert np.abs(own - start[-1] / parts).max() <= 50


@pytest.mark.parametrize("parts", [0, 4])
def test_fewer_rows_than_parts(parts: int) -> None:
    with pytest.raises(ValueError, match=f"{parts} parts of 3 rows"):
        rivals_gpus.cut(graph(3), parts)


class Work:
    """A piece of work on a GPU, and what must be done before it."""

    def __init__(self, run: Callable[[], object], after: set[Work]) -> None:
        self.run, self.after, self.ended = run, after, False

    @staticmethod
    def do(works: list[Work], wanted: set[Work]) -> None:
        """Does some in any order that is permitted, until those that are wanted have ended."""
        for work in works:
            work.ended = False
        while not all(work.ended for work in wanted):
            ready = [w for w in works if not w.ended and all(b.ended for b in w.after)]
            work = random.choice(ready)
            work.run()
            work.ended = True


class Device:
    current: ClassVar[list[int]] = [0]

    def __init__(self, number: int) -> None:
        self.number = number

    def __enter__(self) -> None:
        Device.current.append(self.number)

    def __exit__(self, *_: object) -> None:
        Device.current.pop()

    def synchronize(self) -> None:
        Stream.end(set(Stream.waiting))


class Event:
    def __init__(self, disable_timing: bool) -> None:
        self.device, self.after, self.recording = Device.current[-1], set(), None

    def record(self, stream: Stream) -> None:
        assert self.device == stream.device
        self.after, self.recording = set(stream.after), stream.recording


class Stream:
    waiting: ClassVar[list[Work]] = []
    made: ClassVar[list[Stream]] = []
    current: ClassVar[list[Stream]] = []

    def __init__(self, non_blocking: bool) -> None:
        self.device, self.ptr, self.after, self.before = Device.current[-1], len(Stream.made), set(), set()
        self.recording: list[Work] | None = None
        Stream.made.append(self)

    def __enter__(self) -> None:
        assert self.device == Device.current[-1]
        Stream.current.append(self)

    def __exit__(self, *_: object) -> None:
        Stream.current.pop()

    @staticmethod
    def launch(run: Callable[[], object], *streams: Stream) -> None:
        work = Work(run, {before for stream in streams for before in stream.after})
        (Stream.waiting if streams[0].recording is None else streams[0].recording).append(work)
        for stream in streams:
            stream.after = {work}

    @staticmethod
    def end(wanted: set[Work]) -> None:
        Work.do(Stream.waiting, wanted)
        Stream.waiting[:] = [work for work in Stream.waiting if not work.ended]

    def synchronize(self) -> None:
        assert self.recording is None
        Stream.end(self.after & set(Stream.waiting))

    def wait_event(self, event: Event) -> None:
        if self.recording is None and event.recording is not None:
            self.recording, self.before, self.after = event.recording, self.after, set()
        assert self.recording is event.recording, "a wait across the bounds of a recording"
        self.after |= event.after

    def begin_capture(self) -> None:
        self.recording, self.before, self.after = [], self.after, set()

    def end_capture(self) -> SimpleNamespace:
        works, joined = self.recording, set(self.after)
        for work in reversed(works):
            joined |= work.after if work in joined else set()
        assert joined == set(works), "work that the first stream does not wait for"
        for stream in Stream.made:
            if stream.recording is works:
                stream.recording, stream.after = None, stream.before
        return SimpleNamespace(launch=lambda s: Stream.launch(lambda: Work.do(works, set(works)), s))


class Array(np.ndarray):
    @property
    def data(self) -> SimpleNamespace:
        return SimpleNamespace(ptr=self.__array_interface__["data"][0])


def at(address: int, size: int) -> Any:
    return np.ctypeslib.as_array((ctypes.c_float * size).from_address(address))


class Kernel:
    def __init__(self, given: str, made: str, text: str, name: str) -> None:
        assert [word.split()[-1] for word in f"{given}, {made}".split(", ")] == [
            "summed", "inverse", "old", "slot", "parts", "alpha", "vertices", "x", "scaled",
        ]  # fmt: skip

    def __call__(self, summed, inverse, old, slot, parts, alpha, vertices, x, scaled) -> None:
        def run() -> None:
            x[...] = summed + (alpha * old[slot[:parts]].sum() + 1 - alpha) / vertices
            scaled[...] = x * inverse

        Stream.launch(run, Stream.current[-1])


class Product:
    def __init__(self, cp: Any, a: Any, x: Any, y: Any) -> None:
        self.a, self.x, self.y, self.lib = a, x, y, self

    def call(self, function: str, vector: Any, address: ctypes.c_void_p) -> None:
        assert (function, vector is self.x) == ("cusparseDnVecSetValues", True)
        self.read = at(address.value, self.a.shape[1])

    def use(self, stream: Stream) -> None:
        self.stream = stream

    def __call__(self) -> None:
        read = self.read
        assert self.stream is Stream.current[-1]
        Stream.launch(lambda: np.copyto(self.y, 0.85 * (self.a @ read)), self.stream)


class Dot:
    def __init__(self, cp: Any, x: Any, y: Any, result: Any) -> None:
        self.x, self.y, self.result = x, y, result

    def use(self, stream: Stream) -> None:
        self.stream = stream

    def __call__(self) -> None:
        result = self.result
        Stream.launch(lambda: np.copyto(result, self.x @ self.y), self.stream)


class Refused(RuntimeError):
    status = 704


class Runtime:
    CUDARuntimeError, memcpyDefault = Refused, 4  # noqa: N815, as CuPy names it

    def deviceEnablePeerAccess(self, other: int) -> None:  # noqa: N802
        assert other != Device.current[-1]
        raise Refused

    def memcpyAsync(self, to: int, source: int, size: int, kind: int, stream: int) -> None:  # noqa: N802
        Stream.launch(lambda: ctypes.memmove(to, source, size), Stream.made[stream])


class Nccl(ModuleType):
    NCCL_FLOAT32 = 7

    def initAll(self, devices: list[int]) -> list[Any]:  # noqa: N802
        assert os.environ["NCCL_NVLS_ENABLE"] == "0"
        return [SimpleNamespace(allGather=lambda *of, k=k: self.calls.append((k, *of))) for k in devices]

    def groupStart(self) -> None:  # noqa: N802
        self.calls: list[Any] = []

    def groupEnd(self) -> None:  # noqa: N802
        calls = self.calls
        assert all(own == to + 4 * k * count for k, own, to, count, _, _ in calls), "not in place"

        def run() -> None:
            for k, own, _, count, _, _ in calls:
                for _, _, to, _, _, _ in calls:
                    ctypes.memmove(to + 4 * k * count, own, 4 * count)

        Stream.launch(run, *[Stream.made[stream] for *_, stream in calls])


@pytest.fixture
def nccl(monkeypatch: pytest.MonkeyPatch) -> Nccl:
    """CuPy's NCCL, with the rest of CuPy in place too."""
    cupy, cuda, nccl = ModuleType("cupy"), ModuleType("cupy.cuda"), Nccl("cupy.cuda.nccl")
    nccl.NcclCommunicator = nccl
    vars(cupy).update(
        cuda=cuda, float32=np.float32, int8=np.int8, ElementwiseKernel=Kernel, asnumpy=np.array,
        asarray=lambda a: np.array(a).view(Array), empty=lambda n, t: np.full(n, np.nan, t).view(Array),
    )  # fmt: skip
    vars(cuda).update(nccl=nccl, Device=Device, Stream=Stream, Event=Event, runtime=Runtime())
    for module in (cupy, cuda, nccl):
        monkeypatch.setitem(sys.modules, module.__name__, module)
    monkeypatch.setattr(rivals_gpus, "Product", Product)
    monkeypatch.setattr(rivals_gpus, "Dot", Dot)
    monkeypatch.delenv("NCCL_NVLS_ENABLE", raising=False)
    for kept in (Stream.waiting, Stream.made, Stream.current):
        kept.clear()
    random.seed(7)
    return nccl


@pytest.mark.parametrize("devices", [1, 2, 3, 4])
def test_every_way_gives_the_ranks(nccl: Nccl, devices: int) -> None:
    told: list[Any] = []
    done = rivals_gpus.pagerank(graph(97), 10, 3, devices, told.append)
    assert [rival.name for rival in done] == list(rivals_gpus.WAYS)
    assert all(len(rival.us) == 3 and min(rival.us) > 0 for rival in done)
    assert told == done


@pytest.mark.parametrize(("of", "missing"), [(Stream, "wait_event"), (Event, "record")])
def test_missing_waits_are_noticed(nccl: Nccl, monkeypatch: pytest.MonkeyPatch, of: type, missing: str) -> None:
    monkeypatch.setattr(of, missing, lambda *_: None)
    done = {rival.name.split(":")[0]: rival for rival in rivals_gpus.pagerank(graph(97), 10, 3, 4)}
    assert done["copies one after another"].us
    assert "the ranks of the rival" in done["copies on streams"].name


def test_missing_copies_are_noticed(nccl: Nccl, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Runtime, "memcpyAsync", lambda *_: None)
    done = rivals_gpus.pagerank(graph(97), 10, 3, 2)
    assert [rival.name for rival in done if rival.us] == ["no copies", "NCCL all-gather"]
    assert all("differ" in rival.name for rival in done if not rival.us)


def test_what_is_refused_is_said(nccl: Nccl, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuses(*_: object) -> None:
        raise NotImplementedError("not here\nat all")

    monkeypatch.setattr(Stream, "begin_capture", refuses)
    monkeypatch.setattr(Nccl, "initAll", refuses)
    done = rivals_gpus.pagerank(graph(97), 10, 3, 2)
    assert [rival.name for rival in done[2:]] == [
        "copies in a CUDA graph, capture refused, on streams: not here",
        "no copies, capture refused, on streams: not here",
        "NCCL all-gather: not here",
    ]
    assert [len(rival.us) for rival in done] == [3, 3, 3, 3, 0]


@pytest.mark.parametrize("iterations", [0, 3])
def test_odd_numbers_of_iterations(iterations: int) -> None:
    with pytest.raises(ValueError, match="must be even"):
        rivals_gpus.pagerank(graph(9), iterations, 1, 2)


def test_no_cupy_no_rivals(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "cupy", None)
    assert rivals_gpus.pagerank(graph(9), 2, 1, 2) == []
