"""A new C++ project that uses Starling: one kernel, a program that runs it, a test in check mode."""

from __future__ import annotations

import re
import shlex
import shutil
import sysconfig
from pathlib import Path

from starling._files import check_folder
from starling._native import __version__
from starling.errors import ArgumentError

TEMPLATE = Path(__file__).resolve().parent / "template"
# Names that CMake, its projects or the template use for something else.
TAKEN = ("all", "clean", "help", "install", "kernel", "main", "package", "starling", "test", "tests")


def create(folder: Path) -> list[Path]:
    """Makes the project in `folder`, which must not exist; its last part is the project's name.

    Returns:
        The files, relative to the folder.

    Raises:
        ArgumentError: The name is not one that CMake and C++ take, the folder exists or cannot be made.
    """
    name = folder.name
    if not re.fullmatch(r"[A-Za-z][A-Za-z0-9_]*", name):
        raise ArgumentError(
            f"{str(folder)!r}: the name {name!r} is no identifier; take letters, digits and _, a letter first"
        )
    if name.lower() in TAKEN:
        raise ArgumentError(f"{folder}: the name {name!r} has another meaning in the project; choose another one")
    if folder.exists() or folder.is_symlink():
        raise ArgumentError(f"{folder} exists; choose another name, or remove it first")
    check_folder(folder.parent, folder)
    try:
        folder.mkdir()
    except OSError as problem:
        raise ArgumentError(f"{folder}: cannot be made ({problem.strerror}); choose another place") from None
    try:
        return _fill(folder, {"@name@": name, "@version@": ".".join(__version__.split(".")[:2])})
    except BaseException:
        shutil.rmtree(folder, ignore_errors=True)
        raise


def _fill(folder: Path, values: dict[str, str]) -> list[Path]:
    made = []
    for source in sorted(path for path in TEMPLATE.rglob("*") if path.is_file()):
        relative = source.relative_to(TEMPLATE)
        if relative.name == "gitignore":  # would be one for the template itself if it had its dot
            relative = Path(".gitignore")
        text = source.read_text(encoding="utf-8")
        for key, value in values.items():
            text = text.replace(key, value)
        (folder / relative).parent.mkdir(exist_ok=True)
        (folder / relative).write_text(text, encoding="utf-8")
        made.append(relative)
    return made


def commands(folder: Path, cmake_dir: Path) -> list[str]:
    """What configures, builds and tests the project, as a shell takes it."""
    build = folder / "build"
    words = [
        [_program("cmake"), "-S", folder, "-B", build, f"-Dstarling_DIR={cmake_dir}"],
        [_program("cmake"), "--build", build],
        [_program("ctest"), "--test-dir", build, "--output-on-failure"],
    ]
    return [shlex.join(map(str, command)) for command in words]


def _program(name: str) -> str:
    """The program as PATH has it, or the one that pip has put beside this Python."""
    if shutil.which(name):
        return name
    return shutil.which(name, path=sysconfig.get_path("scripts")) or name
