"""Pictures as arrays of float32 from 0 (black) to 1, and arrays as PNG files."""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image, ImageOps

from starling._files import written_whole
from starling.errors import ArgumentError

# How Pillow's modes are read, and the value that becomes 1; all others become RGB.
GREY = {"1": ("L", 255.0), "L": ("L", 255.0), "LA": ("L", 255.0), "La": ("L", 255.0), "F": ("F", 1.0)}
GREY_16_BIT = {"I": 65535.0, "I;16": 65535.0, "I;16L": 65535.0, "I;16B": 65535.0, "I;16N": 65535.0}
WITH_ALPHA = ("LA", "La", "PA", "RGBA", "RGBa")


@dataclass(frozen=True)
class Picture:
    """Values from 0 to 1."""

    channels: list[NDArray[np.float32]]  # grey, or red, green and blue; each (rows, columns)
    alpha: NDArray[np.float32] | None  # how opaque each pixel is; None: the picture has no such channel


def suffixes() -> set[str]:
    """The suffixes of the files that can be read, with the dot."""
    return set(Image.registered_extensions())


def read(path: Path) -> Picture:
    """Reads a picture; raises ArgumentError with the reason when that is not possible."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("error", Image.DecompressionBombWarning)
            with Image.open(path) as file:
                return _picture(ImageOps.exif_transpose(file), path)
    except (Image.DecompressionBombError, Image.DecompressionBombWarning) as problem:
        raise ArgumentError(f"{path} is too large to be a picture ({problem}); convert it to .npy") from None
    except (OSError, SyntaxError, ValueError, EOFError) as problem:
        reason = str(problem).splitlines()[0] if str(problem) else type(problem).__name__
        raise ArgumentError(f"{path} cannot be read as a picture ({reason}); check or convert the file") from None


def _picture(picture: Image.Image, path: Path) -> Picture:
    transparent = picture.mode in WITH_ALPHA or "transparency" in picture.info
    if picture.mode in GREY_16_BIT:
        if transparent:
            raise ArgumentError(f"{path}: 16 bit with a transparent colour cannot be read; give it an alpha channel")
        return Picture([_scaled(picture, GREY_16_BIT[picture.mode])], None)
    mode, white = GREY.get(picture.mode, ("RGB", 255.0))
    if not transparent:
        values = _scaled(picture.convert(mode), white)
        return Picture([values] if values.ndim == 2 else list(np.moveaxis(values, -1, 0)), None)
    *colours, alpha = np.moveaxis(_scaled(picture.convert(f"{mode}A"), 255.0), -1, 0)
    return Picture(colours, alpha)


def _scaled(picture: Image.Image, white: float) -> NDArray[np.float32]:
    values: NDArray[np.float32] = np.asarray(picture).astype(np.float32) / np.float32(white)
    return values


def write_png(path: Path, values: NDArray[Any], low: float = 0.0, high: float = 1.0) -> None:
    """Writes a PNG file of 8 bits; `low` becomes black, `high` white.

    Args:
        values: (rows, columns) of grey, or with a last axis: 2 are grey and alpha, 3 are colours, 4 colours and alpha.
    """
    span = high - low if high > low else 1.0
    with np.errstate(invalid="ignore"):
        scaled = np.rint(np.clip((np.asarray(values, dtype=np.float64) - low) / span, 0.0, 1.0) * 255.0)
    picture = Image.fromarray(np.nan_to_num(scaled).astype(np.uint8))
    with written_whole(path) as file:
        picture.save(file, format="PNG")
