"""The native module, or a word on why it is not there."""

try:
    from starling import _starling as native
except ImportError as problem:
    raise ImportError(
        f"the native module of Starling cannot be loaded ({problem}); "
        "install the package with `pip install .`, or run `make demo` in the source tree, which builds it"
    ) from problem

__version__: str = native.version

__all__ = ["__version__", "native"]
