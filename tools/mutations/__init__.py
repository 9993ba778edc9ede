"""Mutations of the shipped protocols, by what they are in, and the programs that have to notice them."""

from __future__ import annotations

from mutations import cg, contexts, device, network, region, stencil, teams, within_blocks, words
from mutations.model import ROOT, Broken, Mutation, Program, replaced

PARTS = (device, contexts, words, teams, network, stencil, cg, region)
PROGRAMS: dict[str, Program] = {name: program for part in PARTS for name, program in part.PROGRAMS.items()}
MUTATIONS: list[Mutation] = [mutation for part in PARTS for mutation in part.MUTATIONS]
WITHIN_BLOCKS: list[Mutation] = within_blocks.MUTATIONS
PROGRAMS |= within_blocks.PROGRAMS

__all__ = ["MUTATIONS", "PROGRAMS", "ROOT", "WITHIN_BLOCKS", "Broken", "Mutation", "Program", "replaced"]
