"""Mutations of the shipped protocols, by what they are in, and the programs that have to notice them."""

from __future__ import annotations

from mutations import cg, contexts, device, network, region, stencil, teams, words
from mutations.model import ROOT, Broken, Mutation, Program, replaced

PARTS = (device, contexts, words, teams, network, stencil, cg, region)
PROGRAMS: dict[str, Program] = {name: program for part in PARTS for name, program in part.PROGRAMS.items()}
MUTATIONS: list[Mutation] = [mutation for part in PARTS for mutation in part.MUTATIONS]

__all__ = ["MUTATIONS", "PROGRAMS", "ROOT", "Broken", "Mutation", "Program", "replaced"]
