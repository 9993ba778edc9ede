"""The programs, commands and outputs that pages show: found, run, compared. The way in is tools/check_documents.py."""
