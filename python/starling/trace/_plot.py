"""A timeline file as pictures and as a page."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from starling._arguments import finite_number
from starling._files import check_folder
from starling.errors import ArgumentError, ElementTypeError


def plot(
    path: str | PathLike[str],
    out: str | PathLike[str] | None = None,
    *,
    window: tuple[float, float] | None = None,
) -> list[Path]:
    """Draws a timeline file: ``timeline.png``, ``matrix.png`` and ``trace.html``, which needs no network.

    Args:
        path: What ``starling trace`` or :func:`record` wrote.
        out: A folder, which is made if its parent is there. None: the folder of the file.
        window: The part of the time that timeline.png shows, from and to, as microseconds from the begin of the trace:
            the numbers at its axis. None: all that the devices did. The page has all of it.

    Returns:
        The files written.

    Raises:
        ArgumentError: The file is no timeline of Starling, the folder cannot be used, or there is nothing in `window`;
            nothing is written then.
    """
    # Here, because matplotlib takes long to load.
    from starling.trace import _page, _pictures, _view

    source = Path(path)
    times = None if window is None else _times(window)
    folder = source.parent if out is None else Path(out)
    if folder.exists() and not folder.is_dir():
        raise ArgumentError(f"out = {folder}: this is a file; name a folder")
    if not folder.exists():
        check_folder(folder.parent, folder)
    view = _view.load(source)
    first, last = _pictures.whole_window(view) if times is None else _pictures.part_window(view, times)
    folder.mkdir(exist_ok=True)
    check_folder(folder, folder / "trace.html")
    made = [folder / name for name in ("timeline.png", "matrix.png", "trace.html")]
    _pictures.timeline(view, made[0], first, last)
    _pictures.matrix(view, made[1])
    _page.write(view, made[2], source.name)
    return made


def _times(window: tuple[float, float]) -> tuple[float, float]:
    """The two numbers of a window."""
    if isinstance(window, (str, bytes)) or not hasattr(window, "__len__"):
        raise ElementTypeError(f"window = {window!r}; pass two numbers, from and to in microseconds, or None")
    if len(window) != 2:
        raise ArgumentError(f"window has {len(window)} numbers; pass two, from and to in microseconds")
    first, last = (finite_number("window", t, least=0) for t in window)
    return first, last
