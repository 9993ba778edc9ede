"""Expressions: their values, operators with NumPy's types and shapes, parts and attributes of arrays."""
