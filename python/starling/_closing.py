"""What keeps memory on devices until it is closed."""

from __future__ import annotations

from types import TracebackType
from typing import Generic, TypeVar

from starling.errors import ArgumentError

Kept = TypeVar("Kept")
Self = TypeVar("Self", bound="Closing")  # type: ignore[type-arg]


class Closing(Generic[Kept]):
    """`_kept` is what there is on the devices, None when it was closed; `_lost` what is gone then."""

    _kept: Kept | None
    _lost: str

    def close(self) -> None:
        """Gives the memory of the devices back. A second time is nothing; any other use is an ``ArgumentError``."""
        self._kept = None

    def __enter__(self: Self) -> Self:
        self._open()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()

    def _open(self) -> Kept:
        """What there is on the devices, which another thread may close while the caller still uses it."""
        kept = self._kept
        if kept is None:
            raise ArgumentError(
                f"this {type(self).__name__} was closed, and its {self._lost} are gone; make another one"
            )
        return kept
