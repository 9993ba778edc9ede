"""The command ``starling``, also as ``python -m starling``."""

from __future__ import annotations

import signal


def main() -> None:
    """Runs the command. While its parts are imported, Ctrl-C ends the process as it ends one that is not in Python."""
    usual = signal.getsignal(signal.SIGINT)
    if usual is signal.default_int_handler:
        signal.signal(signal.SIGINT, signal.SIG_DFL)
    from starling import cli

    signal.signal(signal.SIGINT, usual)
    cli.app()


if __name__ == "__main__":
    main()
