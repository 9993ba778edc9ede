"""Loops: what a pass finds and leaves, ranges, passes that are written out, parallel loops."""
