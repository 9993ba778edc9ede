"""Pictures as arrays of float32 from 0 (black) to 1, and arrays as PNG files."""

from __future__ import annotations

import logging
import warnings
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from starling._files import written_whole
from starling.errors import ArgumentError

log = logging.getLogger("starling")

# How Pillow's modes are read, and the value that becomes 1; all others become RGB.
GREY = {"1": ("L", 255.0), "L": ("L", 255.0), "LA": ("L", 255.0), "La": ("L", 255.0), "F": ("F", 1.0)}
GREY_16_BIT = {"I": 65535.0, "I;16": 65535.0, "I;16L": 65535.0, "I;16B": 65535.0, "I;16N": 65535.0}


def suffixes() -> set[str]:
    """The suffixes of the files that can be read, with the dot."""
    return set(Image.registered_extensions())


def read(path: Path) -> NDArray[np.float32]:
    """A picture as (rows, columns) if it is grey, (rows, columns, 3) if it has colours. Transparency is left out."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path) as file:
                return _values(ImageOps.exif_transpose(file), path)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as problem:
        raise ArgumentError(f"{path} is too large to be a picture ({problem}); convert it to .npy") from None
    except (OSError, SyntaxError, ValueError, EOFError) as problem:
        reason = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
        raise ArgumentError(f"{path} cannot be read as a picture ({reason}); check or convert the file") from None


def _values(picture: Image.Image, path: Path) -> NDArray[np.float32]:
    if picture.mode in ("LA", "La", "PA", "RGBA", "RGBa") or "transparency" in picture.info:
        log.warning("%s: transparency is left out", path)
    if picture.mode in GREY_16_BIT:
        return np.asarray(picture).astype(np.float32) / np.float32(GREY_16_BIT[picture.mode])
    mode, white = GREY.get(picture.mode, ("RGB", 255.0))
    return np.asarray(picture.convert(mode)).astype(np.float32) / np.float32(white)


def write_png(path: Path, values: NDArray[Any], low: float = 0.0, high: float = 1.0) -> None:
    """Writes (rows, columns) or (rows, columns, 3) as a PNG file of 8 bits; `low` becomes black, `high` white."""
    span = high - low if high > low else 1.0
    with np.errstate(invalid="ignore"):
        scaled = np.rint(np.clip((np.asarray(values, dtype=np.float64) - low) / span, 0.0, 1.0) * 255.0)
    picture = Image.fromarray(np.nan_to_num(scaled).astype(np.uint8))
    with written_whole(path) as file:
        picture.save(file, format="PNG")
