"""What is wrong gives one clear line on stderr, an exit code, and no file."""

from __future__ import annotations

import struct

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

from starling import _files, stencil
from starling.cli import app


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """A current folder with good and bad files."""
    monkeypatch.chdir(tmp_path)
    good = np.linspace(0, 1, 600, dtype="f4").reshape(20, 30)
    np.save("good.npy", good)
    np.save("cube.npy", np.zeros((3, 4, 5)))
    np.save("integers.npy", np.arange(12).reshape(3, 4))
    np.save("complex.npy", np.ones((3, 4)) * 1j)
    np.save("line.npy", np.ones(4))
    np.save("four.npy", np.ones((2, 2, 2, 2)))
    np.save("none.npy", np.ones((0, 4)))
    np.save("objects.npy", np.array([[None, 3]], dtype=object), allow_pickle=True)
    np.savez("several.npz", a=good, b=good)
    whole = (tmp_path / "good.npy").read_bytes()
    (tmp_path / "truncated.npy").write_bytes(whole[:1000])
    (tmp_path / "header.npy").write_bytes(whole[:40])
    (tmp_path / "empty.npy").write_bytes(b"")
    (tmp_path / "text.npy").write_text("not an array")
    header = b"{'descr': '<f4', 'fortran_order': False, 'shape': (1000000, 100000000), }".ljust(117) + b"\n"
    (tmp_path / "boasting.npy").write_bytes(b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header)
    Image.fromarray((good * 255).astype("u1")).save("good.png")
    deep = Image.fromarray((good * 60000).astype("u2"))
    deep.save("deep.png", transparency=0)
    Image.effect_noise((200, 200), 50).save("noise.png")
    (tmp_path / "truncated.png").write_bytes((tmp_path / "noise.png").read_bytes()[:5000])
    (tmp_path / "text.png").write_text("not a picture")
    (tmp_path / "notes.txt").write_text("hello")
    (tmp_path / "sub").mkdir()
    return tmp_path


# Arguments, exit code, and what the message must hold.
CASES = {
    "no such file": ("nowhere.npy", 2, ["nowhere.npy", "no such file", "check the name"]),
    "folder": ("sub", 2, ["sub", "not a file"]),
    "empty": ("empty.npy", 2, ["empty.npy", "0 bytes", "write it again"]),
    "truncated array": ("truncated.npy", 2, ["truncated.npy", "not a whole .npy", "numpy.save"]),
    "truncated header": ("header.npy", 2, ["header.npy", "not a whole .npy", "numpy.save"]),
    "text as array": ("text.npy", 2, ["text.npy", "not a .npy file", "numpy.save"]),
    "more than memory": ("boasting.npy", 2, ["boasting.npy", "memory"]),
    "objects": ("objects.npy", 2, ["objects.npy", "Object arrays"]),
    "several arrays": ("several.npz", 2, ["several.npz", "several arrays", "numpy.save"]),
    "complex": ("complex.npy", 2, ["complex128", "u.real and u.imag"]),
    "integers": ("integers.npy", 2, ["int64", "astype('float32')"]),
    "one dimension": ("line.npy", 2, ["(4,)", "2 or 3 dimensions"]),
    "four dimensions": ("four.npy", 2, ["(2, 2, 2, 2)", "2 or 3 dimensions"]),
    "no cells": ("none.npy", 2, ["(0, 4)"]),
    "truncated picture": ("truncated.png", 2, ["truncated.png", "truncated", "check or convert"]),
    "text as picture": ("text.png", 2, ["text.png", "cannot be read as a picture"]),
    "16 bit and transparent": ("deep.png", 2, ["deep.png", "16 bit", "alpha channel"]),
    "unknown input": ("notes.txt", 2, ["notes.txt", ".txt", ".npy or one of a picture"]),
    "unknown output": ("good.npy out.xyz", 2, ["out.xyz", ".xyz", ".npy or .png"]),
    "no suffix": ("good.npy out", 2, ["out", "(none)", ".npy or .png"]),
    "missing folder": ("good.npy nowhere/out.npy", 2, ["nowhere", "does not exist", "mkdir -p"]),
    "output is a folder": ("good.npy sub.npy/", 2, ["sub.npy", "folder"]),
    "picture of a cube": ("cube.npy out.png", 2, ["out.png", "3 dimensions", ".npy"]),
    "frames of a cube": ("cube.npy --frames f --frame-every 2", 2, ["3 dimensions", ".npy"]),
    "frames alone": ("good.npy --frames f", 2, ["--frame-every"]),
    "frame-every alone": ("good.npy --frame-every 3", 2, ["--frames"]),
    "frame-every zero": ("good.npy --frames f --frame-every 0", 2, ["frame_every = 0", "at least 1"]),
    "frames in a missing folder": ("good.npy --frames a/b --frame-every 2", 2, ["a", "does not exist"]),
    "frames is a file": ("good.npy --frames notes.txt --frame-every 2", 2, ["notes.txt", "not a folder"]),
    "report in a missing folder": ("good.npy --report a/b.json", 2, ["a", "does not exist"]),
    "steps": ("good.npy out.npy --steps 0", 2, ["steps = 0", "at least 1"]),
    "tol": ("good.npy out.npy --tol -1", 2, ["tol = -1", "at least 0"]),
    "tol NaN": ("good.npy out.npy --tol nan", 2, ["tol = nan", "finite"]),
    "check-every": ("good.npy out.npy --check-every 0", 2, ["check_every = 0", "at least 1"]),
    "devices": ("good.npy out.npy --machine host --devices 0", 2, ["devices = 0", "at least 1"]),
    "devices for rows": ("good.npy out.npy --machine host --devices 21", 2, ["20 layers", "fewer devices"]),
    "split text": ("good.npy out.npy --split a,b", 2, ["'a,b'", "2,2"]),
    "split devices": ("good.npy out.npy --machine host --split 2,2 --devices 3", 2, ["(2, 2)", "3 PEs"]),
    "boundary": ("good.npy out.npy --boundary open", 2, ["'open'", "'fixed' or 'periodic'"]),
    "boundary count": ("good.npy out.npy --boundary fixed,fixed,fixed", 2, ["one per axis"]),
    "ratio": ("good.npy out.npy --method heat --ratio 0.3", 2, ["ratio", "0.3", "0.25"]),
    "ratio of jacobi": ("good.npy out.npy --ratio 0.2", 2, ["ratio = 0.2", "heat"]),
}


@pytest.mark.parametrize("case", CASES)
def test_wrong_use(folder, case):
    words, code, texts = CASES[case]
    if case == "output is a folder":
        (folder / "sub.npy").mkdir()
    before = {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()}
    result = CliRunner().invoke(app, ["stencil", *words.split()])
    assert result.exit_code == code, result.output
    assert result.stderr.startswith("starling: ")
    assert result.stderr.count("\n") == 1
    assert result.stdout == ""
    for text in texts:
        assert text in result.stderr
    assert {p: p.read_bytes() for p in folder.rglob("*") if p.is_file()} == before


@pytest.mark.parametrize(
    "words", ["", "good.npy --variant magic", "good.npy --steps many", "good.npy --machine tpu", "--no"]
)
def test_wrong_words(folder, words):
    result = CliRunner().invoke(app, ["stencil", *words.split()])
    assert result.exit_code == 2
    assert "Usage" in result.stderr
    assert "Traceback" not in result.stderr


def test_failures_of_the_machine(folder, monkeypatch):
    monkeypatch.setenv("STARLING_HOST_MEMORY", "1K")
    result = CliRunner().invoke(app, ["stencil", "good.npy", "out.npy", "--machine", "host"])
    assert result.exit_code == 1
    assert "STARLING_HOST_MEMORY" in result.stderr
    assert "Traceback" not in result.stderr
    assert not (folder / "out.npy").exists()


def test_no_gpu(folder, kind):
    if kind == "cuda":
        pytest.skip("there are GPUs")
    result = CliRunner().invoke(app, ["stencil", "good.npy", "--machine", "cuda"])
    assert result.exit_code == 1
    assert result.stderr.startswith("starling: machine.cuda: ")
    assert "machine.host(n)" in result.stderr


def test_debug_shows_the_traceback(folder):
    result = CliRunner().invoke(app, ["stencil", "line.npy", "--debug"])
    assert result.exit_code == 2
    assert "Traceback" in result.stderr
    assert "ArgumentError" in result.stderr


def test_output_stays_when_writing_fails(folder, monkeypatch, kind):
    (folder / "out.npy").write_bytes(b"before")

    def full(*_, **__):
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(np, "save", full)
    result = CliRunner().invoke(app, ["stencil", "good.npy", "out.npy", "--steps", "2", "--machine", kind])
    assert result.exit_code == 1
    assert result.stderr == "starling: No space left on device; check the place and its free space\n"
    assert (folder / "out.npy").read_bytes() == b"before"
    assert not list(folder.glob(".*.part"))


def test_interrupted(folder, monkeypatch, kind):
    def interrupt(*_, **__):
        raise KeyboardInterrupt

    monkeypatch.setattr(stencil.Stencil, "load", interrupt)
    result = CliRunner().invoke(app, ["stencil", "good.npy", "out.npy", "--machine", kind])
    assert result.exit_code == 130
    assert not (folder / "out.npy").exists()


def test_written_whole_keeps_the_old_file(tmp_path):
    path = tmp_path / "a.bin"
    path.write_bytes(b"old")

    def fail():
        with _files.written_whole(path) as file:
            file.write(b"new")
            raise RuntimeError

    with pytest.raises(RuntimeError):
        fail()
    assert path.read_bytes() == b"old"
    with _files.written_whole(path) as file:
        file.write(b"new")
    assert path.read_bytes() == b"new"
    assert [p.name for p in tmp_path.iterdir()] == ["a.bin"]
