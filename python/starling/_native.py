"""The native module, or a word on why it is not there.

There are two: where ``STARLING_CHECK`` is set, that whose kernels let check mode see their loads and stores, which are
slower otherwise.
"""

import os
from typing import TYPE_CHECKING

try:
    if TYPE_CHECKING or os.environ.get("STARLING_CHECK", "0") in ("", "0"):
        from starling import _starling as native
    else:
        try:
            from starling import _starling_checked as native
        except ImportError:  # a build without it: check mode sees calls alone
            from starling import _starling as native
except ImportError as problem:
    raise ImportError(
        f"the native module of Starling cannot be loaded ({problem}); "
        "install the package with `pip install .`, or run `make demo` in the source tree, which builds it"
    ) from problem

__version__: str = native.version

__all__ = ["__version__", "native"]
