"""Compiled programs in the user's cache folder, each in a folder named for all that it is made of."""

from __future__ import annotations

import fcntl
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from starling.dace.build.sources import Builder

__all__ = ["built", "folder"]

SUM = "program.sha256"
SOURCE = "program.cpp"


def folder() -> Path:
    """Where programs are kept: ``$XDG_CACHE_HOME/starling/programs``."""
    base = os.environ.get("XDG_CACHE_HOME") or str(Path.home() / ".cache")
    return Path(base) / "starling/programs"


def built(source: str, how: Builder) -> Path:
    """What a source is compiled to, made if it is not there.

    Entries that are not whole are made again. Several processes may ask at once: one compiles.

    Raises:
        Unsupported: There is no compiler, or it fails.
    """
    entry = folder() / how.key(source)
    made = entry / how.object_name
    if _whole(made):
        return made
    entry.parent.mkdir(parents=True, exist_ok=True)
    with _locked(entry.with_suffix(".lock")):
        if _whole(made):
            return made
        shutil.rmtree(entry, ignore_errors=True)
        with tempfile.TemporaryDirectory(dir=entry.parent, prefix=".making_") as making:
            fresh = Path(making) / "entry"
            fresh.mkdir()
            (fresh / SOURCE).write_text(source)
            how.compile(fresh / SOURCE, fresh / how.object_name)
            (fresh / SUM).write_text(_sum_of(fresh / how.object_name))
            fresh.rename(entry)
    return made


def _whole(made: Path) -> bool:
    try:
        return made.with_name(SUM).read_text() == _sum_of(made)
    except OSError:
        return False


def _sum_of(path: Path) -> str:
    return hashlib.sha256(path.read_bytes()).hexdigest()


@contextmanager
def _locked(path: Path) -> Iterator[None]:
    with path.open("w") as file:
        fcntl.flock(file, fcntl.LOCK_EX)
        yield
