"""OpenSHMEM on the host: arrays that every device of a machine has, written and read by the number of the device.

The host is none of the devices (PEs): a call names the PE whose memory it is for, which may be one of another process
(``machine.distributed``); :meth:`World.zeros` and :meth:`World.barrier_all` are collective then.

>>> import numpy as np
>>> from starling import machine, shmem
>>> w = shmem.World(machine.host(4))
>>> a = w.zeros((2, 3))  # on every PE
>>> w.put(a, np.arange(6.0).reshape(2, 3), pe=1)
>>> w.get(a[1], pe=1)
array([3., 4., 5.])
>>> w.p(a[0, 2], 7, pe=2)
>>> w.g(a[0, 2], pe=2), w.g(a[0, 2], pe=3)
(np.float64(7.0), np.float64(0.0))

Every call is done when it returns. Kernels in C++ have the calls of the device: see ``docs/openshmem.md``.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from types import EllipsisType, TracebackType
from typing import Any, Literal, SupportsIndex

import numpy as np
from numpy.typing import ArrayLike, DTypeLike, NDArray

from starling import _device_arrays
from starling._arguments import whole_number
from starling._element_types import known_type
from starling._native import native
from starling.errors import ArgumentError, ElementTypeError, RangeError
from starling.machine import Machine

__all__ = ["SymmetricArray", "World"]

Shape = SupportsIndex | Sequence[SupportsIndex]
Key = SupportsIndex | slice | EllipsisType | None

MOST_BYTES = 2**62
MOST_SIGNAL = 2**64 - 1
LEGACY_STREAM = 1  # CUDA's name for the stream that others call 0


class SymmetricArray:
    """An array with the same shape and type on every PE, or a part of one. Made by :meth:`World.zeros`.

    It has no values of its own: :meth:`World.get` reads those of a PE. ``a[1]``, ``a[2:8]``, ``a[::3, 1]`` are parts,
    by whole numbers and slices that go forwards, as with NumPy. A part lives on when the whole is gone, not when it is
    freed.
    """

    def __init__(self, store: _Store, seen: NDArray[Any]) -> None:
        self._store = store
        self._seen = seen  # where the elements would be on PE 0; never read

    @property
    def shape(self) -> tuple[int, ...]:
        """How many elements along each axis."""
        return self._seen.shape

    @property
    def dtype(self) -> np.dtype[Any]:
        """The type of the elements."""
        return self._seen.dtype

    @property
    def size(self) -> int:
        """How many elements there are on each PE."""
        return self._seen.size

    @property
    def nbytes(self) -> int:
        """Their bytes on each PE."""
        return self._seen.nbytes

    @property
    def offset(self) -> int:
        """Bytes from the start of the whole array to the first element."""
        start: int = self._seen.__array_interface__["data"][0]
        return start - self._store.start

    def __len__(self) -> int:
        return len(self._seen)

    def __getitem__(self, key: Key | tuple[Key, ...]) -> SymmetricArray:
        keys = key if isinstance(key, tuple) else (key,)
        for one in keys:
            if isinstance(one, slice):
                if one.step is not None and whole_number("step", one.step, -(2**62), 2**62) < 1:
                    raise ArgumentError(f"step = {one.step} of a slice; symmetric arrays have parts that go forwards")
            elif not (one is None or one is Ellipsis):
                whole_number("index", one, -(2**62), 2**62)
        try:
            part = self._seen[keys if Ellipsis in keys else (*keys, Ellipsis)]
        except IndexError as problem:
            raise RangeError(f"{problem}; the array has shape {self.shape}") from None
        return SymmetricArray(self._store, part)

    def __repr__(self) -> str:
        state = "" if self._store.memory is not None else ", freed"
        return f"<starling SymmetricArray: shape {self.shape}, {self.dtype} on {self._store.n_pes} PEs{state}>"


class _Store:
    """What whole arrays and their parts have in common."""

    def __init__(self, m: Machine, n_bytes: int) -> None:
        self.memory: native.SymmetricMemory | None = native.SymmetricMemory(m, n_bytes)
        self.n_pes = m.size
        self.start = self.memory.address(0)

    def open(self) -> native.SymmetricMemory:
        if self.memory is None:
            raise ArgumentError("this symmetric array was freed; make another one")
        return self.memory


class World:
    """All PEs of a machine, and the symmetric arrays on it.

    ``with World(m) as w:`` closes it at the end, which frees its arrays.

    Args:
        m: The machine.

    Raises:
        ElementTypeError: ``m`` is no machine.
    """

    def __init__(self, m: Machine) -> None:
        if not isinstance(m, Machine):
            raise ElementTypeError(f"m = {m!r} is a {type(m).__name__}; pass a machine, such as machine.host(4)")
        self._open: Machine | None = m.shared()
        self._stores: list[_Store] = []

    @property
    def machine(self) -> Machine:
        """The machine, as long as the world is open."""
        if self._open is None:
            raise ArgumentError("this world was closed; make another one")
        return self._open

    @property
    def n_pes(self) -> int:
        """How many PEs there are, numbered from 0."""
        return self.machine.size

    # ---- memory ----

    def zeros(self, shape: Shape, dtype: DTypeLike = np.float64) -> SymmetricArray:
        """A new array of zeros on every PE.

        Args:
            shape: Elements along each axis, or their number.
            dtype: Their type: any of NumPy's but objects.

        Raises:
            ArgumentError: A length is negative, or there are more bytes than any memory has.
            ElementTypeError: ``dtype`` holds objects, or an argument is of another kind.
            OutOfMemory: It does not fit.
        """
        kind = known_type(dtype)
        if kind.hasobject or kind.itemsize == 0:
            raise ElementTypeError(f"dtype = {kind}; symmetric memory holds plain types, of 1 byte or more")
        given = shape if isinstance(shape, Sequence) else (shape,)
        lengths = tuple(whole_number("shape", n, 0, MOST_BYTES) for n in given)
        n_bytes = math.prod(lengths) * kind.itemsize
        if n_bytes > MOST_BYTES:
            raise ArgumentError(f"shape = {lengths} of {kind}: {n_bytes} bytes; no memory has as many")
        store = _Store(self.machine, n_bytes)
        self._stores = [s for s in self._stores if s.memory is not None]
        self._stores.append(store)
        seen = _device_arrays.on_host(store.start, lengths, kind, writable=False, keep=None)
        return SymmetricArray(store, seen)

    def signals(self, n: SupportsIndex = 1) -> SymmetricArray:
        """n signals on every PE, at 0: 64-bit counters that tell when data has arrived."""
        return self.zeros(whole_number("n", n, 0, MOST_BYTES), np.uint64)

    def free(self, a: SymmetricArray) -> None:
        """Gives the memory of an array back on every PE; it and its parts are refused from now on. A second time is
        nothing. Arrays of NumPy that :meth:`ptr` has made keep the memory as long as they live."""
        _checked("a", a)._store.memory = None

    # ---- put and get ----

    def put(self, a: SymmetricArray, x: ArrayLike, *, pe: SupportsIndex) -> None:
        """Writes values into the array, or the part of one, of a PE.

        Args:
            a: Where to; all of it.
            x: As many values, in the same shape, that its type can hold.
            pe: The PE.

        Raises:
            ArgumentError: The shapes differ, there is no such PE, or the array was freed.
            ElementTypeError: The type of ``a`` cannot hold the values.
        """
        self._move(_checked("a", a), self._values(a, x), pe, out=True)

    def get(self, a: SymmetricArray, *, pe: SupportsIndex) -> NDArray[Any]:
        """A new NumPy array: what a PE has."""
        values = np.empty(_checked("a", a).shape, a.dtype)
        self._move(a, values, pe, out=False)
        return values

    def p(self, a: SymmetricArray, value: Any, *, pe: SupportsIndex) -> None:
        """Writes one element of a PE."""
        self._move(a, self._scalar(_single("a", a), value), pe, out=True)

    def g(self, a: SymmetricArray, *, pe: SupportsIndex) -> Any:
        """One element of a PE, as a NumPy scalar."""
        return self.get(_single("a", a), pe=pe).reshape(())[()]

    def ptr(self, a: SymmetricArray, *, pe: SupportsIndex) -> Any:
        """What a PE has, in place: an array that reads and writes its memory.

        NumPy's on virtual devices; on GPUs CuPy's, or without CuPy an object with ``__cuda_array_interface__``. Not to
        be touched while kernels run on the same elements.
        """
        which = self._pe(pe)
        store = _checked("a", a)._store
        memory = store.open()
        if not a._seen.flags.c_contiguous:
            raise ArgumentError("a is a part with gaps; take ptr of the whole array, and the part of what that is")
        address = memory.address(which) + a.offset
        if self.machine.kind == "host":
            return _device_arrays.on_host(address, a.shape, a.dtype, writable=True, keep=memory)
        return _device_arrays.on_gpu(
            address,
            a.shape,
            a.dtype,
            writable=True,
            stream=LEGACY_STREAM,
            device=self.machine.devices[which].id,
            keep=memory,
        )

    # ---- signals ----

    def put_signal(
        self,
        a: SymmetricArray,
        x: ArrayLike,
        signal: SymmetricArray,
        value: SupportsIndex,
        *,
        pe: SupportsIndex,
        add: bool = False,
    ) -> None:
        """:meth:`put`, then the signal of the same PE is set, or raised by ``value``.

        Args:
            a: Where to.
            x: The values.
            signal: One element of :meth:`signals`.
            value: What it is set to; with ``add``, what is added.
            pe: The PE.
            add: Whether to add.
        """
        _word(signal)
        number = whole_number("value", value, 0, MOST_SIGNAL)
        self.put(a, x, pe=pe)
        if add:
            self.signal_add(signal, number, pe=pe)
        else:
            self.signal_set(signal, number, pe=pe)

    def signal_set(self, signal: SymmetricArray, value: SupportsIndex, *, pe: SupportsIndex) -> None:
        """Sets a signal of a PE."""
        self.p(_word(signal), np.uint64(whole_number("value", value, 0, MOST_SIGNAL)), pe=pe)

    def signal_add(self, signal: SymmetricArray, value: SupportsIndex, *, pe: SupportsIndex) -> None:
        """Adds to a signal of a PE, modulo 2^64. No kernel and no other process may raise the same signal meanwhile."""
        number = whole_number("value", value, 0, MOST_SIGNAL)
        self.signal_set(signal, (self.signal_fetch(signal, pe=pe) + number) % 2**64, pe=pe)

    def signal_fetch(self, signal: SymmetricArray, *, pe: SupportsIndex) -> int:
        """The value of a signal of a PE now."""
        return int(self.g(_word(signal), pe=pe))

    def barrier_all(self) -> None:
        """Returns when every process has come here: what any of them has put before is there on every PE.

        In one process there is nothing to wait for, since every call is done when it returns.
        """
        self.machine.meet()

    # ---- the end ----

    def close(self) -> None:
        """Frees the arrays. A second time is nothing."""
        for store in self._stores:
            store.memory = None
        self._stores = []
        self._open = None

    def __enter__(self) -> World:
        _ = self.machine
        return self

    def __exit__(
        self, kind: type[BaseException] | None, value: BaseException | None, traceback: TracebackType | None
    ) -> Literal[False]:
        self.close()
        return False

    def __repr__(self) -> str:
        return f"<starling World: {'closed' if self._open is None else self._open.summary}>"

    # ---- inside ----

    def _pe(self, pe: SupportsIndex) -> int:
        number = whole_number("pe", pe, -(2**31), 2**31)
        if not 0 <= number < self.n_pes:
            raise RangeError(
                f"pe = {number} of a machine with {self.n_pes}; PEs are numbered from 0 to {self.n_pes - 1}"
            )
        return number

    def _values(self, a: SymmetricArray, x: ArrayLike) -> NDArray[Any]:
        given = np.asarray(x)
        if given.shape != a.shape:
            raise ArgumentError(f"x has shape {given.shape}, a has {a.shape}; they must be the same")
        if given.ndim == 0:
            return self._scalar(a, x)
        if not np.can_cast(given.dtype, a.dtype, "same_kind"):
            raise ElementTypeError(f"x holds {given.dtype}, a {a.dtype}; pass astype('{a.dtype}')")
        return np.ascontiguousarray(given, a.dtype)

    def _scalar(self, a: SymmetricArray, value: Any) -> NDArray[Any]:
        given = np.asarray(value)
        if given.size != 1:
            raise ArgumentError(f"value has shape {given.shape}; must be one value")
        if given.dtype != a.dtype and not np.can_cast(np.min_scalar_type(given.reshape(())[()]), a.dtype, "same_kind"):
            raise ElementTypeError(f"value = {value!r} is no {a.dtype}, which the array holds")
        try:
            return np.array(value, a.dtype).reshape(a.shape)
        except OverflowError:
            raise ArgumentError(f"value = {value!r} is not one of {a.dtype}, which the array holds") from None

    def _move(self, a: SymmetricArray, values: NDArray[Any], pe: SupportsIndex, *, out: bool) -> None:
        """Between an array and values that lie one after the other, in pieces as large as the gaps allow."""
        which = self._pe(pe)
        memory = a._store.open()
        if a.size == 0:
            return
        call = memory.put if out else memory.get
        item = a.dtype.itemsize
        near = values.ctypes.data
        if a._seen.flags.c_contiguous:
            call(which, a.offset, 0, near, 0, a.nbytes, 1)
            return
        # The last axis whose elements follow each other is one piece, those of the axis before it are copied together.
        shape, pitches = a.shape, a._seen.strides
        axes = a._seen.ndim
        piece, rows = item, axes - 1
        while rows > 0 and (shape[rows] == 1 or pitches[rows] == piece):
            piece *= shape[rows]
            rows -= 1
        for outer in np.ndindex(shape[:rows]):
            far = a.offset + sum(i * p for i, p in zip(outer, pitches, strict=False))
            call(which, far, pitches[rows], near, piece, piece, shape[rows])
            near += piece * shape[rows]


def _checked(name: str, a: SymmetricArray) -> SymmetricArray:
    if not isinstance(a, SymmetricArray):
        raise ElementTypeError(f"{name} is a {type(a).__name__}; pass a symmetric array, such as World.zeros(10)")
    return a


def _single(name: str, a: SymmetricArray) -> SymmetricArray:
    if _checked(name, a).size != 1:
        raise ArgumentError(f"{name} has shape {a.shape}; must be one element, such as a[0]")
    return a


def _word(signal: SymmetricArray) -> SymmetricArray:
    if _single("signal", signal).dtype != np.uint64:
        raise ElementTypeError(f"signal holds {signal.dtype}; signals are uint64, as World.signals() makes them")
    return signal
