"""Files: read with clear errors, written completely or not at all."""

from __future__ import annotations

import json
import os
import secrets
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from starling.errors import ArgumentError


def check_readable(path: Path) -> None:
    """Raises ArgumentError unless `path` is a file with something in it that may be read."""
    if not path.exists():
        raise ArgumentError(f"{path}: no such file; check the name")
    if not path.is_file():
        raise ArgumentError(f"{path} is not a file; name a file")
    try:
        with path.open("rb") as file:
            empty = not file.read(1)
    except OSError as problem:
        raise ArgumentError(f"{path} cannot be read ({problem.strerror}); check its permissions") from None
    if empty:
        raise ArgumentError(f"{path} is empty (0 bytes); write it again")


def check_writable(path: Path, suffixes: Sequence[str] = ()) -> None:
    """Raises ArgumentError unless a file can be put at `path`, and it ends in one of `suffixes` if there are any."""
    if suffixes and path.suffix.lower() not in suffixes:
        known = " or ".join(suffixes)
        raise ArgumentError(f"{path}: the suffix {path.suffix or '(none)'} is not known here; must be {known}")
    if path.is_dir():
        raise ArgumentError(f"{path} is a folder; name a file in it")
    check_folder(path.parent, path)


def check_folder(folder: Path, of: Path) -> None:
    """Raises ArgumentError unless files can be made in `folder`, which is to hold `of`."""
    if not folder.is_dir():
        raise ArgumentError(f"{of}: the folder {folder} does not exist; make it first (mkdir -p {folder})")
    if not os.access(folder, os.W_OK | os.X_OK):
        raise ArgumentError(f"{of}: the folder {folder} cannot be written to; choose another place")


@contextmanager
def written_whole(path: Path) -> Iterator[BinaryIO]:
    """A file to write to, which takes its name only when all went well; otherwise what was there before stays.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with written_whole(Path(folder, "a.txt")) as file:
    ...         _ = file.write(b"complete")
    ...     os.listdir(folder)
    ['a.txt']
    """
    part = path.parent / f".{path.name}.{secrets.token_hex(4)}.part"
    try:
        # Not tempfile: its files can be read by their owner only, and the result would keep that.
        with open(part, "xb") as file:
            yield file
            file.flush()
            os.fsync(file.fileno())
        os.replace(part, path)
    finally:
        part.unlink(missing_ok=True)


def read_npy(path: Path) -> NDArray[Any]:
    """The array of a .npy file, whatever its shape and type."""
    with path.open("rb") as file:
        start = file.read(6)
    if not start.startswith(b"\x93NUMPY"):
        kind = "holds several arrays (.npz)" if start.startswith(b"PK") else "is not a .npy file"
        raise ArgumentError(f"{path} {kind}; save the array you mean with numpy.save")
    try:
        array: NDArray[Any] = np.load(path, allow_pickle=False)
    except MemoryError:
        raise ArgumentError(f"{path} says it holds more than fits into memory; is it damaged?") from None
    except (ValueError, EOFError, OSError) as problem:
        reason = str(problem).splitlines()[0] if str(problem) else "end of file"
        raise ArgumentError(f"{path} is not a whole .npy file ({reason}); write it again with numpy.save") from None
    return array


def write_npy(path: Path, array: NDArray[Any]) -> None:
    """Writes a .npy file."""
    with written_whole(path) as file:
        np.save(file, array, allow_pickle=False)


def write_json(path: Path, facts: dict[str, Any]) -> None:
    """Writes a JSON file; numbers that are not finite, which JSON does not have, become null."""
    with written_whole(path) as file:
        file.write(json.dumps(_finite(facts), indent=2, allow_nan=False).encode() + b"\n")


def _finite(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _finite(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(item) for item in value]
    return None if isinstance(value, float) and not np.isfinite(value) else value
