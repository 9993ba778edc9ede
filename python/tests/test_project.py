"""starling new: what it writes and what it refuses; starling.cmake_dir(). tools/run_tests.py (install) builds one."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest
from typer.testing import CliRunner

import starling
from starling import _cmake, _project
from starling.cli import app
from starling.errors import ArgumentError, Unsupported


def config_in(folder: Path) -> Path:
    folder.mkdir(parents=True)
    (folder / "starlingConfig.cmake").write_text("")
    return folder


@pytest.fixture
def found(tmp_path, monkeypatch):
    """A folder that stands for the CMake files of a build."""
    folder = config_in(tmp_path / "a build" / "lib/cmake/starling")
    monkeypatch.setattr("starling.cli.new.cmake_dir", lambda: folder)
    return folder


def test_a_project_is_whole_and_names_itself(tmp_path):
    files = _project.create(tmp_path / "halo_2")
    made = sorted(str(path.relative_to(tmp_path / "halo_2")) for path in (tmp_path / "halo_2").rglob("*.*"))
    assert made == sorted(map(str, files))
    assert {".gitignore", "CMakeLists.txt", "README.md", "kernel.cpp", "main.cpp", "tests/test.cpp"} <= set(made)
    text = {name: (tmp_path / "halo_2" / name).read_text() for name in made}
    assert not re.search(r"@\w+@", "".join(text.values()))
    assert "project(halo_2 " in text["CMakeLists.txt"]
    version = ".".join(starling.__version__.split(".")[:2])
    assert f"find_package(starling {version} REQUIRED)" in text["CMakeLists.txt"]
    assert "starling::check" in text["tests/CMakeLists.txt"]
    assert text[".gitignore"] == "/build/\n"


def test_the_command_prints_what_builds_it(tmp_path, monkeypatch, found):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["new", "halo"])
    assert result.exit_code == 0, result.output
    assert (tmp_path / "halo/kernel.cpp").is_file()
    assert f"-S halo -B halo/build '-Dstarling_DIR={found}'" in result.stdout
    assert "--build halo/build\n" in result.stdout
    assert "--test-dir halo/build" in result.stdout
    assert result.stdout.endswith("halo/build/halo\n")


def test_programs_that_only_pip_has_are_named_by_their_place(monkeypatch, tmp_path):
    scripts = tmp_path / "scripts"
    scripts.mkdir()
    for name in ("cmake", "ctest"):
        (scripts / name).write_text("#!/bin/sh\n")
        (scripts / name).chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path))
    monkeypatch.setattr("sysconfig.get_path", lambda _: str(scripts))
    configure, build, test = _project.commands(Path("halo"), Path("/cmake"))
    assert configure == f"{scripts}/cmake -S halo -B halo/build -Dstarling_DIR=/cmake"
    assert build.startswith(f"{scripts}/cmake --build ")
    assert test.startswith(f"{scripts}/ctest ")


NAMES = ["2fast", "with space", "a-b", "naïve", "semi;colon", "$HOME", "..", "", ".hidden", "x.y"]


@pytest.mark.parametrize("name", NAMES)
def test_names_that_are_no_identifiers(tmp_path, monkeypatch, name):
    monkeypatch.chdir(tmp_path)
    with pytest.raises(ArgumentError, match=r"no identifier; take letters, digits and _"):
        _project.create(Path(name))
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("name", ["test", "starling", "All", "main"])
def test_names_that_mean_something_else(tmp_path, name):
    with pytest.raises(ArgumentError, match=rf"'{name}' has another meaning.*choose another"):
        _project.create(tmp_path / name)
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("kind", ["folder", "file", "dead link"])
def test_what_exists_stays(tmp_path, kind):
    target = tmp_path / "halo"
    if kind == "folder":
        target.mkdir()
    elif kind == "file":
        target.write_text("mine")
    else:
        target.symlink_to(tmp_path / "nowhere")
    with pytest.raises(ArgumentError, match=r"halo exists; choose another name"):
        _project.create(target)
    assert [path.name for path in tmp_path.iterdir()] == ["halo"]
    assert kind != "file" or target.read_text() == "mine"


def test_parents_that_cannot_hold_it(tmp_path):
    with pytest.raises(ArgumentError, match=r"the folder .*a/b does not exist; make it first"):
        _project.create(tmp_path / "a/b/halo")
    (tmp_path / "file").write_text("")
    with pytest.raises(ArgumentError, match=r"the folder .*file does not exist"):
        _project.create(tmp_path / "file/halo")
    with pytest.raises(ArgumentError, match=r"/proc/halo: .*choose another place"):
        _project.create(Path("/proc/halo"))
    closed = tmp_path / "closed"
    closed.mkdir(mode=0o500)
    if not os.access(closed, os.W_OK):  # for root all is open
        with pytest.raises(ArgumentError, match=r"closed cannot be written to; choose another place"):
            _project.create(closed / "halo")


def test_a_project_that_cannot_be_filled_is_removed(tmp_path, monkeypatch):
    def full(*_: object) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(_project, "_fill", full)
    with pytest.raises(OSError, match="No space"):
        _project.create(tmp_path / "halo")
    assert not (tmp_path / "halo").exists()


def test_wrong_use_is_one_line(tmp_path, monkeypatch, found):
    monkeypatch.chdir(tmp_path)
    result = CliRunner().invoke(app, ["new", "a-b"])
    assert result.exit_code == 2
    assert result.stderr.startswith("starling: 'a-b': the name")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
    result = CliRunner().invoke(app, ["new"])
    assert result.exit_code == 2
    assert "Usage" in result.stderr


def test_without_cmake_files_nothing_is_made(tmp_path, monkeypatch):
    def absent() -> Path:
        raise Unsupported("no CMake files; run `make demo`")

    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr("starling.cli.new.cmake_dir", absent)
    result = CliRunner().invoke(app, ["new", "halo"])
    assert result.exit_code == 1
    assert result.stderr == "starling: no CMake files; run `make demo`\n"
    assert not list(tmp_path.iterdir())


def test_cmake_dir_of_this_package():
    folder = starling.cmake_dir()
    assert (folder / "starlingConfig.cmake").is_file()
    result = CliRunner().invoke(app, ["--cmakedir"])
    assert result.stdout == f"{folder}\n"


def test_cmake_dir_in_an_installed_package_and_in_the_source_tree(tmp_path):
    installed = tmp_path / "installed"
    assert _cmake._cmake_dir(config_in(installed / "lib/cmake/starling").parents[2]) == installed / "lib/cmake/starling"
    source = tmp_path / "source"
    source.mkdir()
    with pytest.raises(Unsupported, match=r"no CMake files.*pip install"):
        _cmake._cmake_dir(source)
    (source / "_starling_cmake_dir").write_text(str(tmp_path / "build/cmake"))
    with pytest.raises(Unsupported, match=r"has gone: .*build/cmake.*make demo"):
        _cmake._cmake_dir(source)
    built = config_in(tmp_path / "build/cmake")
    assert _cmake._cmake_dir(source) == built
