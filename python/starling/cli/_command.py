"""Running a user's command with variables of ours. Signals that ask this process to end reach the command."""

from __future__ import annotations

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass

from starling.errors import ArgumentError

PASSED_ON = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
# Python ignores these; the command begins with what is usual.
IGNORED_BY_PYTHON = (signal.SIGPIPE, signal.SIGXFSZ)
SENT_BY_TERMINAL = 0x80  # si_code SI_KERNEL: a terminal sends a signal to all its processes, the command too
POLL_SECONDS = 1.0


@dataclass(frozen=True)
class Ended:
    """How a command ended."""

    code: int
    """Its exit code; 128 and the number of the signal that ended it, as shells have it."""
    interrupted_by: str
    """The name of the signal that asked it to end; empty when there was none."""


def run_command(run: list[str], variables: dict[str, str]) -> Ended:
    """Runs a command to its end, whatever signals this process gets meanwhile.

    Raises:
        ArgumentError: It cannot be run.
    """
    with _held((*PASSED_ON, signal.SIGCHLD)) as mask:
        try:
            child = os.posix_spawnp(
                run[0], run, {**os.environ, **variables}, setsigmask=mask, setsigdef=IGNORED_BY_PYTHON
            )
        except OSError as problem:
            raise ArgumentError(f"{run[0]}: cannot be run ({problem.strerror}); check the name") from None
        return _waited(child)


@contextmanager
def _held(signals: tuple[signal.Signals, ...]) -> Iterator[set[int]]:
    """Signals wait until somebody takes them. Gives the mask that was in force before, and is again at the end."""
    before = signal.pthread_sigmask(signal.SIG_BLOCK, signals)
    try:
        yield set(before)
    finally:
        signal.pthread_sigmask(signal.SIG_SETMASK, before)


def _waited(child: int) -> Ended:
    interrupted_by = ""
    while True:
        got = signal.sigtimedwait((*PASSED_ON, signal.SIGCHLD), POLL_SECONDS)
        if got is not None and got.si_signo != signal.SIGCHLD:
            interrupted_by = signal.Signals(got.si_signo).name
            if got.si_code != SENT_BY_TERMINAL:
                os.kill(child, got.si_signo)
        pid, status = os.waitpid(child, os.WNOHANG)
        if pid == child:
            break
    code = os.waitstatus_to_exitcode(status)
    if -code in PASSED_ON:
        interrupted_by = signal.Signals(-code).name
    return Ended(code if code >= 0 else 128 - code, interrupted_by)
