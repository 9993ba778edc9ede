"""What a mutation is, and a program that it is tried in."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent.parent


class Broken(Exception):
    """A mutation or a program cannot be judged."""


@dataclass(frozen=True)
class Program:
    """Sources that are compiled for check mode, and how the program is run."""

    sources: tuple[str, ...]
    # Sources that a change of this header, or of the source itself, compiles again.
    uses: tuple[tuple[str, tuple[str, ...]], ...]
    # Text of a source that is another in this program: a setting, no mistake.
    setting: tuple[str, str, str] | None = None
    arguments: tuple[str, ...] = ("{seeds}",)
    environment: tuple[tuple[str, str], ...] = ()

    def again(self, file: str) -> tuple[str, ...]:
        return dict(self.uses)[file]


@dataclass(frozen=True)
class Mutation:
    what: str
    program: str
    file: str
    old: str
    new: str
    same: str = ""  # why nothing observable changes; empty: check mode has to notice


def in_file(program: str, file: str, *changes: tuple[str, ...]) -> list[Mutation]:
    return [Mutation(change[0], program, file, *change[1:]) for change in changes]


def sources_in(folder: str) -> tuple[str, ...]:
    """All sources of a library."""
    return tuple(sorted(str(path.relative_to(ROOT)) for path in (ROOT / folder).rglob("*.cpp")))


def replaced(text: str, old: str, new: str, file: str) -> str:
    if text.count(old) != 1:
        raise Broken(f"{file} has this text {text.count(old)} times, not once; bring the mutation up to date: {old!r}")
    return text.replace(old, new)
