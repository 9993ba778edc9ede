"""Mutations of the shipped protocols, by what they are in, and the programs that have to notice them."""

from __future__ import annotations

from mutations import cg, device, region, shmem, stencil
from mutations.model import ROOT, Broken, Mutation, Program, replaced

PROGRAMS: dict[str, Program] = {
    **device.PROGRAMS,
    **stencil.PROGRAMS,
    **cg.PROGRAMS,
    **region.PROGRAMS,
    **shmem.PROGRAMS,
}
MUTATIONS: list[Mutation] = [*device.MUTATIONS, *stencil.MUTATIONS, *cg.MUTATIONS, *region.MUTATIONS, *shmem.MUTATIONS]

__all__ = ["MUTATIONS", "PROGRAMS", "ROOT", "Broken", "Mutation", "Program", "replaced"]
