"""Names that compilers mix up: those of kernels, of C++, of sizes, and of what compilers make themselves."""

from __future__ import annotations

from dace_random.draw import Draw

__all__ = ["ARRAYS", "FUNCTIONS", "LOOPS", "SCALARS", "fresh_name"]

KERNEL = ("b", "st", "sg", "pes", "turns", "round", "lanes_", "threads", "begin", "signal", "pe", "n", "m", "grid_0")
CPP = ("auto", "double", "int_", "long", "static", "template", "union", "this", "new", "float", "int", "char", "void")
MADE = ("i0", "i1", "k0", "k1", "t0", "t1", "total_0", "total0", "i0_", "next_x", "before_x", "turn_x", "x_2", "x_3")
NEIGHBOURS = ("N_", "M_", "K0", "N1", "M2", "n_", "_M", "NN", "K", "M", "N")
PLAIN = ("x", "y", "c", "d", "old", "acc", "x_", "_y", "x__1", "value_")
FOREIGN = ("α", "β", "größe", "λ_1")

SCALARS = (PLAIN, PLAIN, MADE, KERNEL, CPP, NEIGHBOURS)
LOOPS = (("u0", "u1", "i", "j"), ("i", "j", "u0", "u1", "step"), MADE[:8], KERNEL[:10], CPP[:8], PLAIN[:4])
ARRAYS = (
    ("T", "U", "V", "tmp", "x0", "x1"),
    ("T", "U", "B", "C", "E_"),
    ("next_A0", "before_A0", "turn_A0", "A0_", "A0_2", "A_0", "B0"),
    (*MADE, "A0_next", "A1_"),
    KERNEL,
    CPP,
)
FUNCTIONS = ("inner", "helper", "mixed", "smoothed", "grown", "f", "g", "kernel", "program", "main", "device")


def fresh_name(g: Draw, pools: tuple[tuple[str, ...], ...], used: set[str]) -> str:
    """A name that has no meaning yet; it has one from now on."""
    pool = FOREIGN if g.chance(0.015) else g.of(pools)
    free = [n for n in pool if n not in used]
    free = free or [f"{n}{k}" for n in ("x", "y", "z") for k in range(10, 60) if f"{n}{k}" not in used]
    name = g.of(free)
    used.add(name)
    return name
