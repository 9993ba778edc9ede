"""Calls: of NumPy, of Python's own functions, of communication, and of functions of the user."""
