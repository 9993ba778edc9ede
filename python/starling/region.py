"""Regions: arrays that every device has whole, of which each writes a part, and that send themselves.

For producers of your own, in NumPy or CuPy: write elements of your part, commit them, go on. Every chunk that is whole
travels to the other devices meanwhile; readers wait for an epoch and read their own copy.

>>> import numpy as np
>>> from starling import machine, region
>>> m = machine.host(2)
>>> x = region.Region(m, 1000, np.float64, chunk="1K")
>>> x.load(np.ones(1000))
>>> for epoch in (1, 2, 3):
...     for pe in range(m.size):
...         old = x.wait(pe, epoch - 1)  # all of it, on this device
...         begin, end = x.part(pe)
...         for a in range(begin, end, 250):
...             b = min(a + 250, end)
...             x.view(pe)[a - begin : b - begin] = 2 * old[a:b]
...             x.commit(pe, a, b)  # leaves while the next piece is computed
>>> x.read(3)[[0, 999]]
array([8., 8.])

Kernels in C++ have more: see ``docs/regions.md``.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import TracebackType
from typing import Any, Literal, SupportsFloat, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from starling import _device_arrays
from starling._arguments import finite_number, members, whole_number
from starling._element_types import known_type
from starling._native import native
from starling._regions import check_size
from starling.errors import ArgumentError, ElementTypeError
from starling.machine import Machine

__all__ = ["Region", "Report"]

ELEMENT_BYTES = (1, 2, 4, 8, 16)
MOST_ELEMENTS = 2**48
CLOSED = "this region was closed; make another one"
LEGACY_STREAM = 1  # CUDA's name for the stream that others call 0


@dataclass(frozen=True)
class Report:
    """What a region has moved."""

    epoch: int
    """The last that every device has committed."""
    chunks: int
    """Of all devices."""
    bytes_sent: tuple[tuple[int, ...], ...]
    """From each device to each, since the region was made."""


class Region:
    """n elements on every device of a machine; each device writes a part of them.

    An epoch is one writing of the whole region; epoch 0 is what :meth:`load` brings. For every epoch from 1 on each
    device first waits for the epoch before, then writes every element of its part (:meth:`view`) and commits it, in as
    many pieces as it likes. Devices may be driven by one thread, epoch by epoch, or by a thread each.

    Args:
        m: The machine.
        n: How many elements.
        dtype: Their type, of 1, 2, 4, 8 or 16 bytes.
        buffers: Copies that epochs take in turn, 2 to 8. A device may read the last ``buffers - 1`` epochs.
        chunk: What is sent at once: bytes, a multiple of 128, or text such as ``"64K"``.
        bounds: Where the parts of devices 1, 2, ... begin, at whole 128 bytes; None: parts of about the same size.
        deadline: Seconds that :meth:`wait` waits for commits of other threads; None: ``STARLING_DEADLINE``.

    Raises:
        ArgumentError: A value is not allowed.
        ElementTypeError: A value is of another kind.
        OutOfMemory: The copies do not fit.
    """

    def __init__(
        self,
        m: Machine,
        n: SupportsIndex,
        dtype: DTypeLike = np.float64,
        *,
        buffers: SupportsIndex = 2,
        chunk: SupportsIndex | str = "1M",
        bounds: Sequence[SupportsIndex] | None = None,
        deadline: SupportsFloat | None = None,
    ) -> None:
        if not isinstance(m, Machine):
            raise ElementTypeError(f"m = {m!r} is a {type(m).__name__}; pass a machine, such as machine.host(4)")
        check_size(m)
        kind = known_type(dtype)
        if kind.hasobject or kind.itemsize not in ELEMENT_BYTES:
            raise ElementTypeError(f"dtype = {kind}; a region holds plain types of 1, 2, 4, 8 or 16 bytes")
        seconds = 0.0 if deadline is None else finite_number("deadline", deadline)
        if deadline is not None and seconds <= 0:
            raise ArgumentError(f"deadline = {deadline} s; must be more than 0")
        self._machine: Machine | None = m.shared()
        self._n_devices = m.size
        self._loaded = False  # until then epoch 0 has no values
        self.size = whole_number("n", n, most=MOST_ELEMENTS)
        self.dtype = kind
        self._open: native.HostRegion | None = native.HostRegion(
            m,
            self.size,
            kind.itemsize,
            buffers=whole_number("buffers", buffers, 2, 8),
            chunk_bytes=native.parse_bytes(chunk, "chunk") if isinstance(chunk, str) else whole_number("chunk", chunk),
            bounds=_bounds(bounds),
            deadline=seconds,
        )

    @property
    def machine(self) -> Machine:
        """The machine, as long as the region is open."""
        if self._machine is None:
            raise ArgumentError(CLOSED)
        return self._machine

    # ---- writing ----

    def load(self, values: ArrayLike) -> None:
        """Epoch 0, on every device, and no other: the next to be written is epoch 1.

        Args:
            values: n elements that ``dtype`` can hold.
        """
        given = np.asarray(values)
        if given.shape != (self.size,):
            raise ArgumentError(f"values has shape {given.shape}; the region has {self.size} elements")
        if not np.can_cast(given.dtype, self.dtype, "same_kind"):
            raise ElementTypeError(f"values holds {given.dtype}, the region {self.dtype}; pass astype('{self.dtype}')")
        kept = np.ascontiguousarray(given, self.dtype)
        self._region.load(kept.ctypes.data)
        self._loaded = True

    def part(self, pe: SupportsIndex) -> tuple[int, int]:
        """The first element that a device writes, and the end."""
        begin, end = self._region.part(self._pe(pe))
        return begin, end

    def view(self, pe: SupportsIndex) -> Any:
        """The part that a device writes next: an array of ``end - begin`` elements, element ``begin`` first.

        NumPy's on virtual devices; on GPUs CuPy's, or without CuPy an object with ``__cuda_array_interface__``. Valid
        until all of the part has been committed; it holds the epoch of ``buffers`` ago.
        """
        pe = self._pe(pe)
        begin, end = self.part(pe)
        return self._array(pe, self._region.committed(pe) + 1, begin, end, writable=True)

    def views(self) -> list[Any]:
        """:meth:`view` of every device."""
        return [self.view(pe) for pe in range(self.machine.size)]

    def commit(
        self,
        pe: SupportsIndex,
        begin: SupportsIndex | None = None,
        end: SupportsIndex | None = None,
        *,
        stream: Any = None,
    ) -> None:
        """Elements ``begin`` to ``end`` of the region have been written for the device's next epoch.

        Args:
            pe: The device whose part they are of.
            begin: The first; None: that of the part.
            end: Behind the last; None: that of the part.
            stream: On GPUs, the stream whose work so far writes them: of CuPy, PyTorch, Numba, or its number; None:
                :meth:`stream`. On virtual devices the values are there when this is called.

        Raises:
            RegionError: Committed twice, or before :meth:`wait` for the epoch before.
            RangeError: Elements of another part.
        """
        pe = self._pe(pe)
        first, last = self.part(pe)
        self._region.commit(
            pe,
            first if begin is None else whole_number("begin", begin, 0, MOST_ELEMENTS),
            last if end is None else whole_number("end", end, 0, MOST_ELEMENTS),
            self._native_stream(stream),
        )

    # ---- reading ----

    def wait(self, pe: SupportsIndex, epoch: SupportsIndex | None = None, *, stream: Any = None) -> Any:
        """Waits until a device has all of an epoch, and returns it: an array of n elements, not to be written.

        On GPUs the host goes on; later work in ``stream`` (None: :meth:`stream`) waits.

        Args:
            pe: The device.
            epoch: None: the last that the device has committed.
            stream: As in :meth:`commit`.

        Raises:
            RegionError: Another device has not committed it when the deadline is over; it says which, and what.
            ArgumentError: The region has that epoch no longer, or it is epoch 0 and nothing was loaded.
        """
        pe = self._pe(pe)
        wanted = self._region.committed(pe) if epoch is None else whole_number("epoch", epoch, 0, 2**63 - 1)
        self._expect_values(wanted)
        of_cuda = self._native_stream(stream)
        if self.machine.kind == "host":
            self._region.wait_on_host(pe, wanted)
        else:
            self._region.wait(pe, wanted, of_cuda)
        return self._array(pe, wanted, 0, self.size, writable=False)

    def read(self, epoch: SupportsIndex | None = None, *, pe: SupportsIndex = 0) -> NDArray[Any]:
        """A new NumPy array: an epoch as a device has it. None: the last that every device has committed."""
        wanted = self.epoch if epoch is None else whole_number("epoch", epoch, 0, 2**63 - 1)
        self._expect_values(wanted)
        values = np.empty(self.size, self.dtype)
        self._region.read(self._pe(pe), wanted, values.ctypes.data)
        return values

    @property
    def epoch(self) -> int:
        """The last that every device has committed."""
        return int(self._region.epoch)

    def report(self) -> Report:
        """How far it is, and what it has moved."""
        sent, pes = self._region.bytes_sent(), self.machine.size
        rows = tuple(tuple(sent[a * pes : (a + 1) * pes]) for a in range(pes))
        return Report(self.epoch, self._region.chunks, rows)

    # ---- streams ----

    def stream(self, pe: SupportsIndex) -> int:
        """The ``cudaStream_t`` of a device, for its work; 0 on virtual devices."""
        return int(self._region.stream(self._pe(pe)))

    @contextmanager
    def on(self, pe: SupportsIndex) -> Iterator[None]:
        """Within the block the device and its stream are CuPy's current ones; nothing on virtual devices."""
        pe = self._pe(pe)
        if self.machine.kind == "host":
            yield
            return
        leave = _device_arrays.make_current(self.machine.devices[pe].id, self.stream(pe))
        try:
            yield
        finally:
            leave()

    def close(self) -> None:
        """Gives the copies back when no array over them is left. A second time is nothing."""
        self._open = self._machine = None

    def __enter__(self) -> Region:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> Literal[False]:
        self.close()
        return False

    def __len__(self) -> int:
        return self.size

    def __repr__(self) -> str:
        still = self._open  # another thread may close it meanwhile
        state = "closed" if still is None else f"epoch {still.epoch}"
        return f"<starling Region: {self.size} elements of {self.dtype} on {self._n_devices} devices, {state}>"

    # ---- inside ----

    @property
    def _region(self) -> native.HostRegion:
        if self._open is None:
            raise ArgumentError(CLOSED)
        return self._open

    def _pe(self, pe: SupportsIndex) -> int:
        return whole_number("pe", pe, 0, self.machine.size - 1)

    def _expect_values(self, epoch: int) -> None:
        if epoch == 0 and not self._loaded:
            raise ArgumentError("epoch 0 has no values yet; call load() first, or read an epoch that was committed")

    def _array(self, pe: int, epoch: int, begin: int, end: int, *, writable: bool) -> Any:
        address = self._region.address(pe, epoch) + begin * self.dtype.itemsize
        if self.machine.kind == "host":
            return _device_arrays.on_host(address, (end - begin,), self.dtype, writable=writable, keep=self._region)
        return _device_arrays.on_gpu(
            address,
            (end - begin,),
            self.dtype,
            writable=writable,
            stream=self.stream(pe),
            device=self.machine.devices[pe].id,
            keep=self._region,
        )

    def _native_stream(self, stream: Any) -> int:
        """0: the region's own."""
        if stream is None:
            return 0
        for name in ("ptr", "cuda_stream", "handle"):  # CuPy, PyTorch, Numba
            stream = getattr(stream, name, stream)
        number = getattr(stream, "value", stream)  # a ctypes pointer; None is the stream 0
        if self.machine.kind == "host":
            raise ArgumentError("stream: virtual devices have no streams of CUDA; leave it out")
        return whole_number("stream", 0 if number is None else number, 0, 2**64 - 1) or LEGACY_STREAM


def _bounds(bounds: Sequence[SupportsIndex] | None) -> list[int]:
    """Where parts begin; empty: wherever they are of about the same size."""
    if bounds is None:
        return []
    begins = members("bounds", bounds, "a list of where the parts of devices 1, 2, ... begin, such as [256], or None")
    return [whole_number(f"bounds[{i}]", begin, 0, MOST_ELEMENTS) for i, begin in enumerate(begins)]
