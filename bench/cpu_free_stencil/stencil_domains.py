"""The domains of the stencil's figures: small, medium and large in two and three dimensions, as they grow with the
number of devices (weak scaling) and as they are divided among them (strong scaling). A domain is a text, 2048x2048."""

from __future__ import annotations

import math

Sizes = dict[str, dict[str, str]]

# Small: fewer cells than an H200 runs threads. Medium: enough for all. Large: many for each.
OF_GPUS: Sizes = {
    "2D": {"small": "256x256", "medium": "2048x2048", "large": "8192x8192"},
    "3D": {"small": "128x128x128", "medium": "256x256x256", "large": "512x512x512"},
}
OF_VIRTUAL_DEVICES: Sizes = {
    "2D": {"small": "32x32", "medium": "64x64", "large": "128x128"},
    "3D": {"small": "8x8x8", "medium": "16x16x16", "large": "24x24x24"},
}

# What `auto` is held against the best of, on one device: squares and cubes, odd extents, long and flat ones.
AUTO_OF_GPUS = (
    "256x256", "255x257", "512x512", "512x2048", "2048x512", "1000x1000", "1024x1024", "2048x2048", "2047x2049",
    "100x40000", "40000x100", "3000x3000", "4096x2048", "4096x4096", "4095x4097", "1024x65536", "8192x8192",
    "16384x16384",
    "64x64x64", "63x65x67", "96x96x96", "128x128x128", "64x256x256", "256x256x64", "160x160x160", "100x200x300",
    "255x257x259", "256x256x256", "128x512x512", "512x512x512",
)  # fmt: skip
AUTO_OF_VIRTUAL_DEVICES = ("32x32", "31x33", "16x128", "128x128", "8x8x8", "7x9x11")


def extents(domain: str) -> tuple[int, ...]:
    """Of a text that is none: nothing."""
    parts = domain.split("x")
    return tuple(int(part) for part in parts) if all(part.isdecimal() for part in parts) else ()


def cells(domain: str) -> int:
    return math.prod(extents(domain))


def named(shape: tuple[int, ...]) -> str:
    return "x".join(map(str, shape))


def grown(domain: str, devices: int) -> str | None:
    """The domain of so many devices in weak scaling: the axes double in turn as the devices double. None for a number
    of devices that is no power of two."""
    if devices & (devices - 1):
        return None
    shape = list(extents(domain))
    for doubling in range(devices.bit_length() - 1):
        shape[doubling % len(shape)] *= 2
    return named(tuple(shape))


def part(domain: str, devices: int) -> str:
    """The largest part of a domain that is split along its first axis."""
    first, *others = extents(domain)
    return named((-(-first // devices), *others))


def all_of(sizes: Sizes) -> list[str]:
    return [domain for by_size in sizes.values() for domain in by_size.values()]


def measured_on(sizes: Sizes, devices: int) -> list[str]:
    """What so many devices are to compute."""
    weak = [grown(domain, devices) for domain in all_of(sizes)]
    return list(dict.fromkeys([*all_of(sizes), *(domain for domain in weak if domain)]))


def parts_of(sizes: Sizes, devices: list[int]) -> list[str]:
    """What one device is to compute besides: as much as each of several has in strong scaling."""
    parts = dict.fromkeys(part(domain, n) for n in devices if n > 1 for domain in all_of(sizes))
    return [domain for domain in parts if domain not in all_of(sizes)]
