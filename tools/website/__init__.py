"""The site of the documents: pages as they stand, sources as pages, references of C++ and Python, links checked.

The way in is tools/build_site.py.
"""
