"""One HTML file that shows a trace and needs nothing else: no network, no other file."""

from __future__ import annotations

import json
from importlib.resources import files
from pathlib import Path
from typing import Any

import numpy as np

from starling._files import written_whole
from starling.trace._view import KINDS, View, colour

MOST_EVENTS = 150_000
PLACE = "/*DATA*/null"


def content_of(view: View, title: str) -> dict[str, Any]:
    """What the page draws. Of more than MOST_EVENTS calls the newest."""
    ends = view.start + view.duration
    chosen = np.arange(len(ends))
    if len(ends) > MOST_EVENTS:
        chosen = np.sort(np.argpartition(ends, len(ends) - MOST_EVENTS)[len(ends) - MOST_EVENTS :])
    cut = int(ends[chosen].min()) if len(chosen) else 0
    chosen = chosen[np.lexsort((-view.duration[chosen], view.start[chosen], view.track[chosen]))]
    arrows = view.arrows[view.arrows[:, 1] >= cut] if len(view.arrows) else view.arrows
    return {
        "title": title,
        "summary": view.summary,
        "processes": view.processes,
        "tracks": [list(t) for t in view.tracks],
        "names": view.names,
        "roles": view.roles,
        "kinds": list(KINDS),
        "colours": [[colour(r, k) for k in KINDS] for r in range(len(view.roles))],
        "host": colour(-1, "host"),
        "left_out": len(ends) - len(chosen),
        "track": view.track[chosen].tolist(),
        "name": view.name[chosen].tolist(),
        "kind": view.kind[chosen].tolist(),
        "role": view.role[chosen].tolist(),
        "start": view.start[chosen].tolist(),
        "duration": view.duration[chosen].tolist(),
        "args": [view.args[i] or 0 for i in chosen],
        "arrows": arrows.tolist(),
    }


def write(view: View, path: Path, title: str) -> None:
    page = files("starling.trace").joinpath("page.html").read_text(encoding="utf-8")
    # So that no text in the data can end the script.
    data = json.dumps(content_of(view, title), separators=(",", ":")).replace("<", "\\u003c")
    with written_whole(path) as file:
        file.write(page.replace(PLACE, data).encode())
