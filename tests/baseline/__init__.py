"""Stored numbers: what small solves and quick experiments gave before a change.

`python -m tests.baseline solves` and `python -m tests.baseline experiments` write them anew.
"""
