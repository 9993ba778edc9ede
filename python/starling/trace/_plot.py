"""A timeline file as pictures and as a page."""

from __future__ import annotations

from os import PathLike
from pathlib import Path

from starling._arguments import finite_number
from starling._files import check_folder
from starling.errors import ArgumentError


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
        window: The part of the time that timeline.png shows, as microseconds from the begin of the trace. None: all
            that the devices did. The page has all of it.

    Returns:
        The files written.

    Raises:
        ArgumentError: The file is no timeline of Starling, or the folder cannot be used.
    """
    # Here, because matplotlib takes long to load.
    from starling.trace import _page, _pictures, _view

    source = Path(path)
    if window is not None:
        first, last = (finite_number("window", t, least=0) for t in window)
        if last <= first:
            raise ArgumentError(f"window = ({first:g}, {last:g}); the end must be after the begin, in microseconds")
    folder = source.parent if out is None else Path(out)
    if folder.exists() and not folder.is_dir():
        raise ArgumentError(f"out = {folder}: this is a file; name a folder")
    if not folder.exists():
        check_folder(folder.parent, folder)
    view = _view.load(source)
    folder.mkdir(exist_ok=True)
    check_folder(folder, folder / "trace.html")
    made = [folder / name for name in ("timeline.png", "matrix.png", "trace.html")]
    _pictures.timeline(view, made[0], window)
    _pictures.matrix(view, made[1])
    _page.write(view, made[2], source.name)
    return made
