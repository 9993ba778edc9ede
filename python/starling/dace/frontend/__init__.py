"""From a Python function to statements: DaCe parses it, and its schedule tree is read."""
