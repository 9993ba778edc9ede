"""Passes over a program, in the order of program.py: each takes a program and changes it."""
