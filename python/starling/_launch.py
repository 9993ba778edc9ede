"""Starts a program in several processes of this host, shows what they say, and sees to it that they end together."""

from __future__ import annotations

import ctypes
import os
import secrets
import selectors
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from typing import IO, Any

from starling.errors import ArgumentError

__all__ = ["Ended", "Job"]

ENDING = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP, signal.SIGQUIT)
POLL_SECONDS = 0.1
READ_AT_ONCE = 1 << 16
PR_SET_PDEATHSIG = 1  # prctl: what a process gets when its parent ends


@dataclass(frozen=True)
class Ended:
    """How a job ended."""

    code: int
    """0, or the exit code of the process that failed first; 128 and its number for a signal, as shells have it."""
    why: str
    """Which process failed first and how, or which signal interrupted the job; empty when all went well."""


@dataclass
class _Output:
    """One stream of one process, shown line by line behind the process's number."""

    rank: int
    source: IO[bytes]
    target: IO[bytes]
    rest: bytes = b""

    def take(self) -> bool:
        """Shows what there is; False: there will be no more."""
        data = os.read(self.source.fileno(), READ_AT_ONCE)
        lines = (self.rest + data).split(b"\n")
        self.rest = lines.pop() if data else b""
        if not data and lines and not lines[-1]:
            lines.pop()
        if lines:
            self.target.write(b"".join(b"[%d] %s\n" % (self.rank, line) for line in lines))
            self.target.flush()
        return bool(data)

    def close(self) -> None:
        self.source.close()


@dataclass
class _End:
    """A descriptor that says when a process has ended."""

    rank: int
    descriptor: int
    gone: list[int]

    def take(self) -> bool:
        """Keeps whose turn it was; there is nothing after it."""
        self.gone.append(self.rank)
        return False

    def close(self) -> None:
        os.close(self.descriptor)


@dataclass
class Job:
    """A program in several processes.

    Args:
        command: The program and its arguments.
        processes: How many.
        variables: What they get in their environment, beside what tells each who it is.
        grace: Seconds that the others have to end by themselves when one has failed, and again when they are asked to.
    """

    command: Sequence[str]
    processes: int
    variables: dict[str, str] = field(default_factory=dict)
    grace: float = 5.0

    _children: list[subprocess.Popen[bytes]] = field(default_factory=list)
    _gone: list[int] = field(default_factory=list)  # ranks in the order in which they ended
    _ended: Ended | None = None
    _limit: float = float("inf")
    _next: signal.Signals = signal.SIGTERM

    def run(self) -> Ended:
        """Runs it to its end. No process stays, whatever happens.

        Raises:
            ArgumentError: The program cannot be run.
        """
        with _on_signals(self._interrupted):
            try:
                self._start()
                self._attend()
            finally:
                self._signal(signal.SIGKILL)  # those that processes have started, too
                for child in self._children:
                    child.wait()
        return self._ended or Ended(0, "")

    def _start(self) -> None:
        place = secrets.token_hex(16)
        for rank in range(self.processes):
            own = {
                "STARLING_RANK": str(rank),
                "STARLING_RANKS": str(self.processes),
                "STARLING_RENDEZVOUS": place,
            }
            try:
                self._children.append(
                    subprocess.Popen(
                        list(self.command),
                        env={"STARLING_MACHINE": "distributed", **os.environ, **self.variables, **own},
                        stdin=subprocess.DEVNULL,
                        stdout=subprocess.PIPE,
                        stderr=subprocess.PIPE,
                        start_new_session=True,
                        preexec_fn=_end_with_parent(os.getpid()),
                    )
                )
            except OSError as problem:
                reason = problem.strerror or problem
                raise ArgumentError(f"{self.command[0]}: cannot be run ({reason}); check the name") from None

    def _attend(self) -> None:
        with selectors.EpollSelector() as open_sources:  # epoll names events in the order in which they came
            for rank, child in enumerate(self._children):
                for source, target in ((child.stdout, sys.stdout.buffer), (child.stderr, sys.stderr.buffer)):
                    if source is not None:
                        open_sources.register(source, selectors.EVENT_READ, _Output(rank, source, target))
                with suppress(OSError):  # before Linux 5.3: polled in turn, so two ends at once have no order
                    end = os.pidfd_open(child.pid)
                    open_sources.register(end, selectors.EVENT_READ, _End(rank, end, self._gone))
            while self._running():
                _show(open_sources, POLL_SECONDS)
                self._poll()
            self._signal(signal.SIGKILL)
            while open_sources.get_map() and _show(open_sources, POLL_SECONDS):
                pass
            for key in open_sources.get_map().values():
                key.data.close()

    def _running(self) -> bool:
        return any(child.poll() is None for child in self._children)

    def _poll(self) -> None:
        """Whether one has failed; and those that do not end after it are made to."""
        if self._ended is None:
            for rank in (*self._gone, *range(self.processes)):
                code = self._children[rank].poll()
                if code:
                    how = f"was ended by {_signal_name(-code)}" if code < 0 else f"ended with exit code {code}"
                    self._end(Ended(code if code > 0 else 128 - code, f"process {rank} of {self.processes} {how}"))
                    break
        if time.monotonic() >= self._limit:
            self._signal(self._next)
            self._next = signal.SIGKILL
            self._limit = time.monotonic() + self.grace

    def _end(self, how: Ended) -> None:
        self._ended = how
        self._limit = time.monotonic() + self.grace

    def _interrupted(self, number: int) -> None:
        """Of a signal to this process: all get it; the second time they are killed."""
        if self._ended is None:
            self._end(Ended(128 + number, f"interrupted by {_signal_name(number)}"))
            self._signal(number)
        else:
            self._signal(signal.SIGKILL)

    def _signal(self, number: int) -> None:
        for child in self._children:
            try:
                os.killpg(child.pid, number)  # each has a group of its own
            except (ProcessLookupError, PermissionError):
                continue


def _show(open_sources: selectors.BaseSelector, seconds: float) -> bool:
    """Whether there was something to show."""
    ready = open_sources.select(seconds)
    for key, _ in ready:
        source: _Output | _End = key.data
        if not source.take():
            open_sources.unregister(key.fileobj)
            source.close()
    return bool(ready)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:
        return f"signal {number}"


def _end_with_parent(parent: int) -> Callable[[], None]:
    """What a new process does first: it is killed when its parent ends, even if that is killed itself."""
    prctl = ctypes.CDLL(None).prctl

    def prepare() -> None:
        prctl(PR_SET_PDEATHSIG, int(signal.SIGKILL), 0, 0, 0)
        if os.getppid() != parent:
            os.kill(os.getpid(), signal.SIGKILL)

    return prepare


@contextmanager
def _on_signals(handle: Callable[[int], None]) -> Iterator[None]:
    """Signals that ask this process to end are handled so, where they are not ignored."""

    def handler(number: int, frame: Any) -> None:
        handle(number)

    before = {s: signal.getsignal(s) for s in ENDING}
    for s in ENDING:
        if before[s] is not signal.SIG_IGN:
            signal.signal(s, handler)
    try:
        yield
    finally:
        for s, action in before.items():
            signal.signal(s, action)
