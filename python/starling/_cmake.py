"""Where CMake finds Starling."""

from __future__ import annotations

from pathlib import Path

from starling.errors import Unsupported

PACKAGE = Path(__file__).resolve().parent


def cmake_dir() -> Path:
    """The folder of ``starlingConfig.cmake``, for ``-Dstarling_DIR=`` of a CMake project that uses Starling from C++.

    In an installed package it lies in the package; in the source tree it belongs to the build that the native module
    comes from. ``starling --cmakedir`` prints it.

    Returns:
        An absolute path.

    Raises:
        Unsupported: There is none: the build was made without, or its folder has gone.
    """
    return _cmake_dir(PACKAGE)


def _cmake_dir(package: Path) -> Path:
    installed = package / "lib/cmake/starling"
    if _is_config(installed):
        return installed
    note = package / "_starling_cmake_dir"  # the build in the source tree writes it
    if not note.is_file():
        raise Unsupported(
            f"the package in {package} has no CMake files (built with STARLING_INSTALL=OFF?); "
            "install it with `pip install .`, or run `make demo` in the source tree"
        )
    built = Path(note.read_text().strip())
    if not _is_config(built):
        raise Unsupported(
            f"the build that the package in {package} comes from has gone: {built} has no starlingConfig.cmake; "
            "run `make demo` in the source tree"
        )
    return built


def _is_config(folder: Path) -> bool:
    return (folder / "starlingConfig.cmake").is_file()
