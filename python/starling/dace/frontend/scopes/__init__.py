"""What Python's names mean in a function: which are its own, and which are still needed behind a statement."""
