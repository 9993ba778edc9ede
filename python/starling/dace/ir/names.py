"""Names of a program: those of the user, and those that are made, which contain a quote."""

from __future__ import annotations

import itertools
import re
from collections.abc import Collection

__all__ = ["fresh_name", "is_made", "label", "shown"]

QUOTE = "'"
KINDS = ("before", "next", "turn")  # of arrays that there are to another one


def is_made(name: str) -> bool:
    """Whether no name of the user's can be this one."""
    return QUOTE in name


def fresh_name(kind: str, name: str, taken: Collection[str]) -> str:
    """A name for what there is of a kind to a name.

    >>> fresh_name("before", "A", []), fresh_name("before", "A", ["before_A'"])
    ("before_A'", "before2_A'")
    """
    tried = (f"{kind}{'' if k == 1 else k}_{name.rstrip(QUOTE)}{QUOTE}" for k in itertools.count(1))
    return next(n for n in tried if n not in taken)


def shown(name: str) -> str:
    """What a name is called in messages.

    >>> shown("A"), shown("A.2"), shown("before_A'"), shown("t3'")
    ('A', 'A', 'A', 'an intermediate array')
    """
    if not is_made(name):
        return name.split(".")[0]
    of = re.match(rf"(?:{'|'.join(KINDS)})\d*_(.*){QUOTE}$", name)
    if of is None:
        return "an intermediate array"
    return shown(of[1] + QUOTE if re.fullmatch(r"t\d+", of[1]) else of[1])


def label(name: str) -> str:
    """What tells a name from others in an explanation.

    >>> label("A.2"), label("before_A'"), label("t3'")
    ('A', 'before_A', 't3')
    """
    return name.rstrip(QUOTE).split(".")[0]
