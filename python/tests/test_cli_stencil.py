"""`starling stencil` as it should be used: files in, files out."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time

import numpy as np
import pytest
from PIL import Image
from typer.testing import CliRunner

import starling
from starling import stencil
from starling.cli import app


@pytest.fixture
def cli(kind):
    """cli(...): the result of `starling stencil ... --machine <under test>`, which must work."""

    def run(*arguments):
        result = CliRunner().invoke(app, ["stencil", *map(str, arguments), "--machine", kind])
        assert result.exit_code == 0, result.output
        return result

    return run


def read_png(path):
    with Image.open(path) as picture:
        return np.asarray(picture)


def as_bytes(values, low=0.0, high=1.0):
    return np.rint(np.clip((values.astype("f8") - low) / (high - low), 0, 1) * 255).astype("u1")


def test_array(cli, devices, noise, tmp_path):
    u = noise((20, 30))
    np.save(tmp_path / "u.npy", u)
    result = cli(tmp_path / "u.npy", tmp_path / "v.npy", "--steps", 25, "--devices", 1)
    assert np.array_equal(np.load(tmp_path / "v.npy"), stencil.jacobi(u, 25, machine=devices(1)))
    assert np.array_equal(np.load(tmp_path / "u.npy"), u)
    assert f"wrote {tmp_path / 'v.npy'}" in result.stdout
    assert "cpu_free" in result.stdout
    assert sorted(p.name for p in tmp_path.iterdir()) == ["u.npy", "v.npy"]


@pytest.mark.parametrize("dtype", ["f8", ">f4"])
def test_array_of_three_dimensions_with_all_options(cli, noise, kind, tmp_path, dtype):
    u = noise((12, 9, 8), dtype)
    np.save(tmp_path / "u.npy", u)
    options = "--method heat --ratio 0.1 --steps 400 --tol 1e-2 --check-every 5 --variant overlap --devices 1"
    cli(
        *[tmp_path / "u.npy", tmp_path / "v.npy", *options.split()],
        *["--boundary", "periodic,fixed,periodic", "--split", "1,1,1", "--report", tmp_path / "r.json"],
    )
    expected, report = stencil.heat(
        u, 400, 0.1, tol=1e-2, check_every=5, variant="overlap", machine=kind, devices=1,
        boundary=("periodic", "fixed", "periodic"), report=True,
    )  # fmt: skip
    v = np.load(tmp_path / "v.npy")
    assert v.dtype == expected.dtype
    assert np.array_equal(v, expected)
    facts = json.loads((tmp_path / "r.json").read_text())
    assert facts["starling"] == starling.__version__
    assert facts["shape"] == [12, 9, 8]
    assert facts["dtype"] == expected.dtype.name
    assert facts["machine"] == kind
    assert len(facts["devices"]) == 1
    assert facts["asked"] == {
        "steps": 400, "method": "heat", "ratio": 0.1, "boundary": "periodic,fixed,periodic", "split": "1,1,1",
        "tol": 0.01, "check_every": 5,
    }  # fmt: skip
    (channel,) = facts["channels"]
    assert channel["steps"] == report.steps < 400
    assert channel["change"] == report.change
    assert channel["converged"]
    assert channel["variant"] == "overlap"
    assert channel["microseconds_per_step"] > 0


def test_grey_picture(cli, devices, tmp_path):
    grey = np.arange(48 * 32, dtype="u2").reshape(48, 32).astype("u1")
    Image.fromarray(grey).save(tmp_path / "in.png")
    cli(tmp_path / "in.png", tmp_path / "out.png", "--steps", 10, "--devices", 1)
    expected = stencil.jacobi(grey.astype("f4") / np.float32(255), 10, machine=devices(1))
    assert np.array_equal(read_png(tmp_path / "out.png"), as_bytes(expected))


@pytest.mark.parametrize("suffix", [".png", ".jpg", ".PNG", ".bmp"])
def test_colour_picture(cli, devices, tmp_path, suffix):
    y, x = np.mgrid[0:24, 0:40]
    Image.fromarray(np.stack([5 * x, 9 * y, x * y], axis=-1).astype("u1")).save(tmp_path / f"in{suffix}")
    result = cli(tmp_path / f"in{suffix}", tmp_path / "out.npy", "--steps", 10, "--devices", 1)
    given = read_png(tmp_path / f"in{suffix}").astype("f4") / np.float32(255)
    out = np.load(tmp_path / "out.npy")
    assert out.shape == (24, 40, 3)
    for i in range(3):
        assert np.array_equal(out[..., i], stencil.jacobi(given[..., i], 10, machine=devices(1)))
    assert all(colour in result.stdout for colour in ("red", "green", "blue"))


@pytest.mark.parametrize("mode", ["1", "LA", "P", "RGBA", "CMYK", "I;16", "F"])
def test_modes_of_pictures(cli, tmp_path, mode):
    grey = np.tile(np.linspace(0, 255, 16), (8, 1))
    if mode == "I;16":
        picture = Image.fromarray((grey * 257).astype("u2"))
    elif mode == "F":
        picture = Image.fromarray((grey / 255).astype("f4"))
    else:
        picture = (
            Image.fromarray(grey.astype("u1")).convert("RGB" if mode in ("P", "CMYK", "RGBA") else "L").convert(mode)
        )
    path = tmp_path / ("in.tif" if mode in ("CMYK", "F", "I;16") else "in.png")
    picture.save(path)
    cli(path, tmp_path / "out.npy", "--steps", 1, "--devices", 1)
    out = np.load(tmp_path / "out.npy")
    assert out.shape == {"LA": (8, 16, 2), "RGBA": (8, 16, 4)}.get(
        mode, (8, 16, 3) if mode in ("P", "CMYK") else (8, 16)
    )
    if mode in ("LA", "RGBA"):
        assert (out[..., -1] == 1).all()
        out = out[..., :-1]
    assert (out.min(), out.max()) == (0, 1)  # the border is kept
    if mode not in ("1", "P"):
        assert out[0] == pytest.approx(np.broadcast_to(grey[0] / 255, out[0].T.shape).T, abs=0.003)


@pytest.mark.parametrize("how", ["RGBA", "LA", "P", "L"])
def test_an_alpha_channel_is_kept(cli, tmp_path, how):
    """Also where a colour stands for transparent."""
    y, x = np.mgrid[0:12, 0:20]
    alpha = (12 * x).astype("u1")
    grey = (20 * y).astype("u1")
    if how in ("RGBA", "LA"):
        Image.merge(how, [Image.fromarray(grey)] * (len(how) - 1) + [Image.fromarray(alpha)]).save(tmp_path / "in.png")
    else:
        Image.fromarray(grey, "L").convert(how).save(tmp_path / "in.png", transparency=100)
        alpha = np.where(grey == 100, 0, 255)
    frames = ["--frames", tmp_path / "frames", "--frame-every", 4]
    cli(tmp_path / "in.png", tmp_path / "out.png", "--steps", 8, "--devices", 1, *frames)
    cli(tmp_path / "in.png", tmp_path / "out.npy", "--steps", 8, "--devices", 1)
    for written in (tmp_path / "out.png", *(tmp_path / "frames").iterdir()):
        with Image.open(written) as picture:
            assert picture.mode == ("RGBA" if how in ("RGBA", "P") else "LA")
            assert np.array_equal(np.asarray(picture.getchannel("A")), alpha)
    values = np.load(tmp_path / "out.npy")
    assert np.array_equal(values[..., -1], alpha.astype("f4") / np.float32(255))
    expected = stencil.jacobi(grey.astype("f4") / np.float32(255), 8, machine="host", devices=1)
    assert np.array_equal(values[..., 0], expected)  # grey is not weighed by alpha
    assert np.array_equal(read_png(tmp_path / "out.png")[..., 0], as_bytes(expected))


def test_frames(cli, devices, noise, tmp_path):
    u = noise((16, 24))
    np.save(tmp_path / "u.npy", u)
    cli(tmp_path / "u.npy", "--steps", 25, "--frames", tmp_path / "frames", "--frame-every", 10, "--devices", 1)
    names = sorted(p.name for p in (tmp_path / "frames").iterdir())
    assert names == [f"frame_{n:08d}.png" for n in (0, 10, 20, 25)]
    for n, name in zip((0, 10, 20, 25), names, strict=True):
        values = u if n == 0 else stencil.jacobi(u, n, machine=devices(1))
        assert np.array_equal(read_png(tmp_path / "frames" / name), as_bytes(values, u.min(), u.max()))


def test_frames_of_colours_end_when_all_have_converged(cli, tmp_path):
    colours = np.zeros((12, 12, 3), dtype="u1")
    colours[0, :, 0] = 255  # red goes on longest
    colours[6, 6, 1] = 3
    Image.fromarray(colours).save(tmp_path / "in.png")
    cli(
        *[tmp_path / "in.png", "--steps", 500, "--tol", 1e-3, "--check-every", 10, "--devices", 1],
        *["--frames", tmp_path, "--frame-every", 40, "--report", tmp_path / "r.json"],
    )
    red, green, blue = [c["steps"] for c in json.loads((tmp_path / "r.json").read_text())["channels"]]
    assert red > green >= blue == 10
    assert max(int(p.stem[6:]) for p in tmp_path.glob("frame_*.png")) == red < 500


def test_nothing_is_written_unless_asked(cli, noise, tmp_path):
    np.save(tmp_path / "u.npy", noise((8, 8)))
    cli(tmp_path / "u.npy", "--steps", 3)
    assert [p.name for p in tmp_path.iterdir()] == ["u.npy"]


def test_change_that_is_no_number(cli, tmp_path):
    u = np.zeros((5, 5))
    u[2, 2] = np.nan
    np.save(tmp_path / "u.npy", u)
    cli(tmp_path / "u.npy", tmp_path / "v.png", "--steps", 1, "--check-every", 1, "--report", tmp_path / "r.json")
    assert json.loads((tmp_path / "r.json").read_text())["channels"][0]["change"] is None


def starling_process(*arguments, **options):
    environment = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    return subprocess.Popen(
        [sys.executable, "-m", "starling", *map(str, arguments)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, env=environment, **options,
    )  # fmt: skip


def test_as_a_process(noise, kind, tmp_path):
    np.save(tmp_path / "u.npy", noise((8, 8)))
    process = starling_process("stencil", tmp_path / "u.npy", tmp_path / "v.npy", "--machine", kind, "--devices", 1)
    out, err = process.communicate(timeout=60)
    assert (process.returncode, err) == (0, "")
    assert "wrote" in out
    assert (tmp_path / "v.npy").exists()


def test_ctrl_c(noise, kind, tmp_path):
    np.save(tmp_path / "u.npy", noise((500, 500)))
    frames = tmp_path / "frames"
    process = starling_process(
        *["stencil", tmp_path / "u.npy", tmp_path / "v.npy", "--machine", kind, "--devices", 1],
        *["--steps", 10**9, "--frames", frames, "--frame-every", 10],
        # A shell that runs the tests in the background has its children ignore the signal.
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
    )
    deadline = time.monotonic() + 60
    while not list(frames.glob("*10.png")) and time.monotonic() < deadline:
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    assert process.returncode == 130
    assert err == "starling: interrupted; nothing was written but whole frames, if any\n"
    assert not (tmp_path / "v.npy").exists()
    assert not list(tmp_path.rglob("*.part"))
    for path in frames.iterdir():
        assert read_png(path).shape == (500, 500)
