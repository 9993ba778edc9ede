"""The command and the signals that ask it to end: they reach what it runs, and it says how far it came."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

import starling

HERE = str(Path(starling.__file__).parents[1])


def _default_signals():
    """A shell that runs the tests in the background, or nohup, has its children ignore these."""
    signal.signal(signal.SIGINT, signal.default_int_handler)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


def started(*words, paths=(HERE,), **environment):
    """The command in a process group of its own, so that a signal is for it alone."""
    return subprocess.Popen(
        [sys.executable, "-m", "starling", *map(str, words)],
        env={**os.environ, "PYTHONPATH": os.pathsep.join(map(str, paths)), "COLUMNS": "160", **environment},
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        start_new_session=True,
        preexec_fn=_default_signals,
    )


def ended(process, after=60.0):
    out, err = process.communicate(timeout=after)
    assert "Traceback" not in err, err
    return process.returncode, out, err


@pytest.fixture
def script(tmp_path):
    def write(text):
        path = tmp_path / "program.py"
        path.write_text(text)
        return path

    return write


# Says that it is there, then says which signal came, or dies of it. Python's handlers run between two sleeps: a signal
# that comes just before one does not end it, so that each is short.
WAITING = """
import signal, sys, time
def told(number, frame):
    print("got", signal.Signals(number).name, flush=True)
    sys.exit(7)
if len(sys.argv) > 1:
    for s in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
        signal.signal(s, told)
else:
    signal.signal(signal.SIGINT, signal.SIG_DFL)
print("ready", flush=True)
for _ in range(6000):
    time.sleep(0.01)
"""

COMMANDS = {"trace": ["trace", "out.json", "--"], "check": ["check", "--"]}


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
@pytest.mark.parametrize("command", COMMANDS)
def test_signals_reach_what_runs(tmp_path, monkeypatch, script, command, number):
    monkeypatch.chdir(tmp_path)
    for words, code, said in ((["handles"], 7, f"got {number.name}"), ([], 128 + number, "")):
        process = started(*COMMANDS[command], sys.executable, script(WAITING), *words)
        assert process.stdout.readline() == "ready\n"
        process.send_signal(number)
        returned, out, err = ended(process)
        assert (returned, out.strip()) == (code, said), err
        assert f"interrupted ({number.name})" in err
    assert not (tmp_path / "out.json").exists()


def test_a_terminal_sends_to_all_and_nothing_comes_twice(tmp_path, monkeypatch, script):
    """Ctrl-C at a terminal is for all processes in front of it: the command does not pass it on."""
    monkeypatch.chdir(tmp_path)
    counting = script(
        """
import signal, time
count = 0
def told(number, frame):
    global count
    count += 1
signal.signal(signal.SIGINT, told)
print("ready", flush=True)
until = time.monotonic() + 30
while count == 0 and time.monotonic() < until:
    time.sleep(0.01)
time.sleep(0.5)
print("count", count, flush=True)
"""
    )
    pid, terminal = os.forkpty()
    if pid == 0:
        signal.signal(signal.SIGINT, signal.default_int_handler)
        os.environ["PYTHONPATH"] = HERE
        os.execv(sys.executable, [sys.executable, "-m", "starling", "check", "--", sys.executable, str(counting)])
    text = b""
    while b"ready" not in text:
        text += os.read(terminal, 1000)
    os.write(terminal, b"\x03")
    try:
        while part := os.read(terminal, 1000):
            text += part
    except OSError:  # how a terminal ends
        pass
    os.close(terminal)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 1, text  # nothing was checked
    assert b"count 1" in text
    assert b"interrupted (SIGINT)" in text


RUNS = """
import numpy as np, starling, time
u = np.ones((8, 8), "f4")
for _ in range(2):
    starling.stencil.jacobi(u, steps=2, machine="host", devices=2)
print("ready", flush=True)
for _ in range(6000):
    time.sleep(0.01)
"""


def test_an_interrupted_check_says_how_far_it_came(script):
    process = started("check", "--seeds", "5", "--", sys.executable, "-u", script(RUNS))
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    code, _, err = ended(process)
    assert code == 128 + signal.SIGTERM
    assert "check: interrupted (SIGTERM); what had been explored until then:" in err
    assert "check: nothing found; " in err
    assert " 0 programs" not in err


def test_an_interrupted_trace_is_written(tmp_path, script):
    process = started("trace", tmp_path / "out.json", "--", sys.executable, "-u", script(RUNS))
    assert process.stdout.readline() == "ready\n"
    process.send_signal(signal.SIGTERM)
    code, _, err = ended(process)
    assert code == 128 + signal.SIGTERM
    assert "was interrupted (SIGTERM)" in err
    assert (tmp_path / "out.json").exists()


def test_tune(tmp_path):
    words = ("tune", "--devices", "2", "--seconds", "60", "--debug")
    process = started(*words, XDG_CACHE_HOME=str(tmp_path), STARLING_MACHINE="host")
    while "machine: " not in (line := process.stderr.readline()):
        assert line
    time.sleep(0.3)
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=30)  # the measurements take minutes
    assert process.returncode == 130
    assert "starling: interrupted; the costs were not measured to the end, and those of before stay" in err
    assert not (tmp_path / "starling").exists()


@pytest.mark.parametrize("module", ["numpy", "typer", "scipy"])
def test_ctrl_c_during_imports(tmp_path, module):
    """A module that takes for ever to import stands for those that take long."""
    (tmp_path / f"{module}.py").write_text(
        'print("importing", flush=True)\nimport time\nfor _ in range(6000):\n    time.sleep(0.01)\n'
    )
    process = started("doctor", paths=(tmp_path, HERE))
    assert process.stdout.readline() == "importing\n"
    process.send_signal(signal.SIGINT)
    code, _, err = ended(process)
    assert (code, err) == (-signal.SIGINT, "")


def test_a_signal_that_was_ignored_stays_so(tmp_path, script):
    """As with nohup."""
    program = script("import signal; print(signal.getsignal(signal.SIGHUP) is signal.SIG_IGN)")
    done = subprocess.run(
        [sys.executable, "-m", "starling", "check", "--", sys.executable, str(program)],
        env={**os.environ, "PYTHONPATH": HERE},
        capture_output=True,
        text=True,
        preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN),
        check=False,
    )
    assert done.stdout == "True\n"
