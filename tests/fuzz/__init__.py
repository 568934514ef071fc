"""Random problems, judged by NumPy code of their own.

Case k of seed S is drawn from (S, k) alone: `python -m tests.fuzz S:k` runs it again.
`cases` draws, `run` calls the package, `judge` compares with what it should have said.
"""
