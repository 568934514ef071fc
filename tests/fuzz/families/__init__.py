"""Kinds of cases, one a file: each draws itself from a generator and runs itself."""
