"""A loop while it is translated, and the places at which its passes end."""

from __future__ import annotations

from dataclasses import dataclass, field

from starling.dace.frontend.scopes.joins import End
from starling.dace.frontend.translation import Unbound
from starling.dace.frontend.values import Meaning
from starling.dace.ir import Body, For, Statement, While

__all__ = ["Loop", "Site"]


@dataclass
class Site(End):
    """A place at which a pass, or the loop, ends."""

    word: str = ""  # end, continue or break
    at: Statement | None = None  # before which its statements go; None: at the end of its list


@dataclass
class Loop:
    """A loop while it is translated."""

    statement: For | While | None = None
    sites: list[Site] = field(default_factory=list)

    def leave(self, word: str, body: Body, at: Statement, env: dict[str, Meaning | Unbound]) -> None:
        """Notes a break or a continue."""
        self.sites.append(Site(body, dict(env), word, at))
