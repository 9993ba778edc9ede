"""The calls of a context that make, cut and move data."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, SupportsIndex, overload

from starling._arguments import whole_number
from starling._native import native
from starling.errors import ArgumentError, ElementTypeError
from starling.stf._access import Access
from starling.stf._adopt import adopt, element_type, extents
from starling.stf._context_core import ContextCore
from starling.stf._data import LogicalData
from starling.stf._frozen import Frozen
from starling.stf._functions import refuse_within_function
from starling.stf._parts import Parts, counts_of


class DataCalls(ContextCore):
    """Logical data, its parts, and data outside of tasks."""

    @overload
    def logical_data(
        self, array: Any, *, name: str | None = None, write_back: bool = True, secret: bool = False
    ) -> LogicalData: ...
    @overload
    def logical_data(
        self,
        *,
        shape: SupportsIndex | Sequence[SupportsIndex],
        dtype: Any = "float64",
        name: str | None = None,
        secret: bool = False,
    ) -> LogicalData: ...
    def logical_data(
        self,
        array: Any = None,
        *,
        shape: SupportsIndex | Sequence[SupportsIndex] | None = None,
        dtype: Any = None,
        name: str | None = None,
        write_back: bool = True,
        secret: bool = False,
    ) -> LogicalData:
        """Data that tasks use: an array, or a shape without a value until a task writes it.

        Args:
            array: Of NumPy with 1 to 4 dimensions, or of CuPy on a device of the machine. C-contiguous, or
                two-dimensional with rows that are. The context works on it in place and keeps it: read it after
                ``finalize()``, or with :meth:`wait`. Where other logical data has had it that is gone, this waits until
                it has the value of that.
            shape: Instead of an array, 1 to 4 numbers.
            dtype: Its element type; float64 when it is left out.
            name: For errors and drawings.
            write_back: Whether the array has to have the value in the end. False saves the copy: the context may still
                use the array until it ends, which then holds some value that the data has had, or parts of several.
            secret: Memory of the context in which copies have been is filled with zeros after its last use, and no copy
                is made to make room on a full device. The array is yours to wipe.

        Raises:
            ArgumentError: The layout is another one; the array shares memory with that of other logical data of the
                context, as long as that lives; `write_back` is false for a shape, which has no array.
            ElementTypeError: It is no array, or holds no numbers.

        >>> import numpy as np
        >>> from starling import stf
        >>> ctx = stf.context(2)
        >>> ctx.logical_data(np.ones((2, 3)), name="x"), ctx.logical_data(shape=5, dtype="f4")
        (<starling.stf.LogicalData 'x': float64, shape (2, 3)>, <starling.stf.LogicalData: float32, shape (5,)>)
        >>> ctx.finalize()
        """
        refuse_within_function("Context.logical_data")
        if array is None:
            if shape is None:
                raise ArgumentError("Context.logical_data: neither an array nor a shape; pass one of them")
            if not write_back:
                raise ArgumentError(
                    "Context.logical_data: write_back=False of a shape, which has no array; leave it out"
                )
            dtype = element_type("float64" if dtype is None else dtype)
            wanted = extents(shape, dtype)
            made = self._bound.new_data(wanted, dtype.itemsize, bool(secret))
            return LogicalData(self._whole, made, wanted, dtype, name)
        if shape is not None or dtype is not None:
            raise ArgumentError("Context.logical_data: an array has its own shape and dtype; leave them out")
        a = adopt(array, self.machine)
        self._functions.sweep()  # what only functions that have run refer to is not in use
        while True:
            with self._adopting:
                gone = self._in_use.check(a)
                if not gone:
                    bound = self._bound.adopt(
                        a.address, a.shape, a.dtype.itemsize, a.pitch, a.place, bool(write_back), bool(secret)
                    )
                    self._arrays.append(array)
                    data = LogicalData(self._whole, bound, a.shape, a.dtype, name, array, a.writable)
                    self._in_use.add(a, data)
                    return data
            self._bring_back()  # not with the lock, which bodies of other threads may need to end
            with self._adopting:
                self._in_use.forget(gone)

    def _bring_back(self) -> None:
        """Returns when arrays have the values of logical data that is gone."""
        self._outside_of_bodies("Context.logical_data of an array that other logical data has had,")
        self._begin(native.exec_place.host(), (), "").finish()  # values go back with work that comes later
        running = self._functions.running()
        self._bound.synchronize()
        self._functions.over(running)

    def token(self, name: str | None = None) -> LogicalData:
        """Data without bytes: orders tasks, carries nothing, and has no view."""
        refuse_within_function("Context.token")
        return LogicalData(self._whole, self._bound.token(), None, None, name)

    def split(
        self,
        data: LogicalData,
        parts: int | Sequence[int],
        *,
        halo: int = 0,
        periodic: bool = False,
        place: native.data_place | None = None,
    ) -> Parts:
        """Data as parts that are logical data of their own: each moves alone, and tasks on different ones do not wait
        for each other. Until :meth:`Parts.join` the whole cannot be used.

        Args:
            data: The whole; no token.
            parts: How many blocks of the first dimension, or how many parts along each dimension.
            halo: Rows of its neighbours with which :meth:`Parts.with_halo` shows a part; only with blocks of the first
                dimension.
            periodic: The first part and the last are neighbours too; `halo` is at most the number of rows.
            place: Where the whole lies meanwhile. None: where its value is, or the host.

        Raises:
            ArgumentError: A number is not allowed; the data is split or frozen already.

        >>> import numpy as np
        >>> from starling import stf
        >>> a = np.zeros(10)
        >>> with stf.context(2) as ctx:
        ...     with ctx.split(ctx.logical_data(a), 2) as halves:
        ...         for i, half in enumerate(halves):
        ...             with ctx.task(half.rw(), where=stf.exec_place.device(i)) as t:
        ...                 (v,) = t.views()
        ...                 v += i + 1
        >>> a
        array([1., 1., 1., 1., 1., 2., 2., 2., 2., 2.])
        """
        refuse_within_function("Context.split")
        self._read("Context.split", data)
        shape, dtype = data.layout
        counts = counts_of(parts, len(shape))
        rows = whole_number("halo", halo, least=0, most=2**62)
        if rows > 0 and any(n != 1 for n in counts[1:]):
            raise ArgumentError(
                f"halo = {rows} for parts = {tuple(counts)}; a halo is for blocks of the first dimension"
            )
        if not isinstance(periodic, bool):
            raise ElementTypeError(f"periodic = {periodic!r} is a {type(periodic).__name__}; pass True or False")
        where = native.data_place.affine() if place is None else place
        if not isinstance(where, native.data_place):
            raise ElementTypeError(f"place = {place!r} is a {type(place).__name__}; pass a starling.stf.data_place")
        bound = self._bound.split(data._bound, list(shape), dtype.itemsize, counts, rows, periodic, where)
        return Parts(self._whole, data, bound)

    def freeze(self, access: Access) -> Frozen:
        """Data outside of tasks, as a ``with`` block, for libraries and code that no task is made of.

        On virtual devices and the host the block waits for the value. With ``backend="graph"`` it ends an epoch.

        >>> import numpy as np
        >>> from starling import stf
        >>> a = np.zeros(3)
        >>> with stf.context(2) as ctx:
        ...     x = ctx.logical_data(a)
        ...     with ctx.freeze(x.rw()) as f:
        ...         v = f.view()
        ...         v += 1
        >>> a
        array([1., 1., 1.])
        """
        refuse_within_function("Context.freeze")
        (found,) = self._own("Context.freeze", (access,))
        if found.data.is_token:
            raise ArgumentError("Context.freeze: a token has no value")
        return Frozen(self._whole, found)

    def prefetch(self, data: LogicalData, place: native.data_place) -> None:
        """Starts to bring the value to a place, for tasks that come later."""
        refuse_within_function("Context.prefetch")
        access = self._read("Context.prefetch", data, place)
        self._bound.prefetch(access.data._bound, access.place)
