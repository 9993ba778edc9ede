"""What PageRank on several GPUs of one host is compared with: cuSPARSE on each, and copies of each part to all others.

    python bench/proact/rivals_gpus.py --scale 22 --devices 4 [--iterations 100] [--repetitions 3]

One process drives all GPUs. Each multiplies its rows, updates their ranks and sums those of dangling vertices; then its
part of the vector is copied to all others. There are two vectors, one to read and one to write, so that no copy
overwrites what another GPU still reads. Where no graph is recorded, the time that Python takes to launch counts too.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import partial
from itertools import permutations
from typing import Any

import numpy as np
from numpy.typing import NDArray
from rivals import ALPHA, Dot, Product, Rival, address, recorded
from scipy import sparse

LINE = 32  # elements of 4 bytes, which are 128 bytes
PEER_ACCESS_ALREADY_ENABLED = 704  # of cudaError; CuPy has no name for it
GIVEN = "float32 summed, float32 inverse, raw float32 old, raw int32 slot, int32 parts, float32 alpha, float32 vertices"
UPDATE = """float dangling = 0;
for (int k = 0; k < parts; ++k) dangling += old[slot[k]];
x = summed + (alpha * dangling + 1 - alpha) / vertices; scaled = x * inverse;"""


@dataclass(frozen=True)
class Cut:
    """A graph and its parts. In the vector that is copied every part has `length` elements: one for each of its rows,
    one for the sum of the ranks of its dangling vertices, and unused ones."""

    pull: Any  # in row v a one for each entry of the graph that leads to v
    inverse: NDArray[np.float64]  # one over the entries that lead out of a vertex; zero of dangling ones
    first: NDArray[np.int64]  # the first row of every part, then the number of rows
    length: int
    place: NDArray[np.int64]  # of a vertex in the vector
    slot: NDArray[np.int32]  # of the sum of a part in the vector

    def block(self, part: int) -> Any:
        """The rows of a part, whose columns are places in the vector."""
        rows = self.pull[self.first[part] : self.first[part + 1]]
        entries = (rows.data, self.place[rows.indices].astype(np.int32), rows.indptr)
        return sparse.csr_array(entries, shape=(rows.shape[0], len(self.slot) * self.length))

    def start(self) -> NDArray[np.float32]:
        """The vector before the first iteration."""
        vector = np.zeros(len(self.slot) * self.length, np.float32)
        vector[self.place] = self.inverse / len(self.inverse)
        vector[self.slot] = np.add.reduceat(self.inverse == 0, self.first[:-1], dtype=float) / len(self.inverse)
        return vector

    def powers(self, iterations: int) -> NDArray[np.float64]:
        """The ranks after some iterations, by SciPy in float64."""
        x = np.full(len(self.inverse), 1 / len(self.inverse))
        for _ in range(iterations):
            dangling = x[self.inverse == 0].sum()
            x = ALPHA * (self.pull @ (x * self.inverse)) + (ALPHA * dangling + 1 - ALPHA) / len(x)
        return x


def cut(a: Any, parts: int) -> Cut:
    rows = sparse.csr_array(a)
    ones = sparse.csr_array((np.ones(rows.nnz, np.float32), rows.indices, rows.indptr), shape=rows.shape)
    pull, out = sparse.csr_array(ones.T), np.diff(rows.indptr)
    first = boundaries(pull.indptr, parts)
    own = np.diff(first)
    length = -(-(int(own.max()) + 1) // LINE) * LINE
    begin = np.arange(parts) * length
    place = np.arange(len(out)) + np.repeat(begin - first[:-1], own)
    inverse = np.divide(1, out, out=np.zeros(len(out)), where=out > 0)
    return Cut(pull, inverse, first, length, place, (begin + own).astype(np.int32))


def boundaries(start: NDArray[Any], parts: int) -> NDArray[np.int64]:
    """`first` of parts with about as many entries, and at least one row; row r has those from start[r] on."""
    n = len(start) - 1
    if not 1 <= parts <= n:
        raise ValueError(f"{parts} parts of {n} rows: each must have one")
    k = np.arange(1, parts)
    goal = k * (int(start[-1]) / parts)
    above = np.searchsorted(start, goal)
    near = above - (goal - start[above - 1] < start[above] - goal)
    more = np.clip(np.maximum.accumulate(near - k), 0, n - parts)  # rows beyond one for each part before
    return np.concatenate([[0], more + k, [n]]).astype(np.int64)


class Part:
    """What a GPU owns, and what it computes in an iteration."""

    def __init__(self, cp: Any, c: Cut, part: int) -> None:
        inverse = c.inverse[c.first[part] : c.first[part + 1]].astype(np.float32)
        self.device, self.n = cp.cuda.Device(part), float(len(c.inverse))
        with self.device:
            self.start, self.slot = cp.asarray(c.start()), cp.asarray(c.slot)
            self.inverse, self.loose = cp.asarray(inverse), cp.asarray((inverse == 0).astype(np.float32))
            self.x, self.summed = cp.empty(inverse.size, cp.float32), cp.empty(inverse.size, cp.float32)
            self.vectors = [cp.empty(self.start.size, cp.float32) for _ in range(2)]
            self.pieces = [[v[k * c.length : int(s) + 1] for k, s in enumerate(c.slot)] for v in self.vectors]
            self.own = [pieces[part] for pieces in self.pieces]
            self.update = cp.ElementwiseKernel(GIVEN, "float32 x, float32 scaled", UPDATE, "rival_update_part")
            self.product = Product(cp, c.block(part), self.vectors[0], self.summed)
            self.dot = Dot(cp, self.loose, self.x, self.own[0][-1:])

    def compute(self, old: int, stream: Any) -> None:
        read, write = self.vectors[old], self.own[1 - old]
        with self.device, stream:
            self.product.lib.call("cusparseDnVecSetValues", self.product.x, address(read))  # cuSPARSE's plan permits it
            self.product()
            self.update(self.summed, self.inverse, read, self.slot, self.slot.size, ALPHA, self.n, self.x, write[:-1])
            self.dot.result = write[-1:]
            self.dot()


class Streams:
    """Streams and events of all GPUs, and iterations on them: always two, the first of which reads vector 0. Every
    way makes new ones, since a recording that fails may leave some unusable."""

    def __init__(self, cp: Any, parts: list[Part]) -> None:
        self.cp, self.parts = cp, parts
        self.main, self.done, self.link = [], [], {}
        for k in range(len(parts)):
            for source, part in enumerate(parts):
                with part.device:
                    stream, event = cp.cuda.Stream(non_blocking=True), cp.cuda.Event(disable_timing=True)
                    if k == 0:
                        self.main.append(stream)
                        self.done.append(event)
                        part.product.use(stream)
                        part.dot.use(stream)
                    else:
                        self.link[source, (source + k) % len(parts)] = stream, event

    def synchronise(self) -> None:
        for stream in self.main:
            stream.synchronize()

    def compute(self, old: int) -> None:
        for part, stream, done in zip(self.parts, self.main, self.done, strict=True):
            part.compute(old, stream)
            done.record(stream)

    def copy(self, new: int, source: int, target: int, stream: Any) -> None:
        have, want = self.parts[source].pieces[new][source], self.parts[target].pieces[new][source]
        runtime = self.cp.cuda.runtime
        runtime.memcpyAsync(want.data.ptr, have.data.ptr, have.nbytes, runtime.memcpyDefault, stream.ptr)

    def one_after_another(self) -> None:
        """The host waits for all GPUs and then for all copies; a GPU does its copies one after another."""
        for old in (0, 1):
            self.compute(old)
            self.synchronise()
            for source, target in self.link:
                self.copy(1 - old, source, target, self.main[source])
            self.synchronise()

    def by_events(self, copies: bool = True) -> None:
        """Every copy has a stream, and a GPU goes on when the parts of all others have arrived."""
        for old in (0, 1):
            self.compute(old)
            for (source, target), (stream, arrived) in self.link.items():
                stream.wait_event(self.done[source])
                if copies:
                    self.copy(1 - old, source, target, stream)
                arrived.record(stream)
                self.main[target].wait_event(arrived)

    def branched(self, copies: bool) -> None:
        """The same from the first stream and back to it, as a graph must be."""
        self.done[0].record(self.main[0])
        for stream in self.main[1:]:
            stream.wait_event(self.done[0])
        self.by_events(copies)
        for done, stream in zip(self.done[1:], self.main[1:], strict=True):
            done.record(stream)
            self.main[0].wait_event(done)

    def ranks(self) -> NDArray[np.float64]:
        return np.concatenate([self.cp.asnumpy(part.x) for part in self.parts]).astype(np.float64)


Way = tuple[Streams, Callable[[], object], str]  # the call launches two iterations; the text belongs to the name


def in_a_graph(s: Streams, copies: bool = True) -> Way:
    s.by_events(copies)  # loads kernels
    s.synchronise()
    try:
        with s.parts[0].device:
            graph = recorded(s.main[0], partial(s.branched, copies))
            graph.launch(s.main[0])
            s.synchronise()
    except Exception as refused:  # whichever library it is that refuses
        s = Streams(s.cp, s.parts)
        return s, partial(s.by_events, copies), ", capture refused, on streams: " + str(refused).split("\n")[0]
    return s, partial(graph.launch, s.main[0]), ""


def by_nccl(s: Streams) -> Way:
    from cupy.cuda import nccl

    communicators = nccl.NcclCommunicator.initAll(list(range(len(s.parts))))

    def launch() -> None:
        for old in (0, 1):
            s.compute(old)
            nccl.groupStart()
            for part, communicator, stream in zip(s.parts, communicators, s.main, strict=True):
                own, to, length = part.own[1 - old], part.vectors[1 - old], part.start.size // len(s.parts)
                communicator.allGather(own.data.ptr, to.data.ptr, length, nccl.NCCL_FLOAT32, stream.ptr)
            nccl.groupEnd()

    return s, launch, ""


WAYS: dict[str, Callable[[Streams], Way]] = {
    "copies one after another": lambda s: (s, s.one_after_another, ""),
    "copies on streams": lambda s: (s, s.by_events, ""),
    "copies in a CUDA graph": in_a_graph,
    "no copies": partial(in_a_graph, copies=False),
    "NCCL all-gather": by_nccl,
}


def pagerank(
    a: Any, iterations: int, repetitions: int, devices: int, tell: Callable[[Rival], object] = lambda _: None
) -> list[Rival]:
    """In float32 on the first GPUs: a result for each way to copy, told of at once; none where there is no CuPy."""
    if iterations < 2 or iterations % 2 != 0:
        raise ValueError(f"{iterations} iterations: the number must be even, since all ways do two at a time")
    os.environ.setdefault("NCCL_NVLS_ENABLE", "0")  # before NCCL is loaded
    try:
        import cupy as cp
    except ImportError:
        return []
    for device, other in permutations(range(devices), 2):
        try:
            with cp.cuda.Device(device):
                cp.cuda.runtime.deviceEnablePeerAccess(other)
        except cp.cuda.runtime.CUDARuntimeError as problem:
            if problem.status != PEER_ACCESS_ALREADY_ENABLED:
                raise
    c = cut(a, devices)
    parts, expected, results = [Part(cp, c, part) for part in range(devices)], c.powers(2), []
    for name, way in WAYS.items():
        try:
            s, launch, note = way(Streams(cp, parts))
            us = timed(s, launch, iterations, repetitions, None if name == "no copies" else expected)
            results.append(Rival(name + note, us))
        except Exception as problem:  # of libraries that are not ours; the other ways stay
            results.append(Rival(f"{name}: " + (str(problem) or repr(problem)).split("\n")[0], []))
        tell(results[-1])
    return results


def timed(s: Streams, launch: Callable[[], object], iterations: int, repetitions: int, expected: Any) -> list[float]:
    """The microseconds of an iteration by repetition. Ranks are checked before and after where they are expected."""
    for part in s.parts:
        with part.device:
            part.device.synchronize()
            part.vectors[0][...], part.vectors[1][...] = part.start, -part.start  # the second must be overwritten
            part.device.synchronize()
    launch()
    s.synchronise()
    if expected is not None and not (error := np.max(np.abs(s.ranks() / expected - 1))) <= 1e-3:
        raise RuntimeError(f"the ranks of the rival differ by {error:.2g} of theirs after 2 iterations")
    us = []
    for _ in range(repetitions):
        begin = time.perf_counter()
        for _ in range(iterations // 2):
            launch()
        s.synchronise()
        us.append(1e6 * (time.perf_counter() - begin) / iterations)
    if expected is not None and not abs((total := s.ranks().sum()) - 1) <= 1e-2:
        raise RuntimeError(f"the ranks of the rival add up to {total}")
    return us


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    for name, usual in (("scale", 22), ("devices", 4), ("iterations", 100), ("repetitions", 3)):
        parser.add_argument(f"--{name}", type=int, default=usual)
    o = parser.parse_args()
    from starling.graph import generators

    a = generators.rmat(o.scale, edges_per_vertex=16, seed=1)
    told = pagerank(a, o.iterations, o.repetitions, o.devices, lambda r: print(json.dumps(asdict(r)), flush=True))
    return 0 if told else 1


if __name__ == "__main__":
    sys.exit(main())
