"""Work that is killed at a random call and taken up again: nothing is lost, nothing is damaged.

`python -m tests.kills path 7 50` kills the work called path fifty times, at moments drawn from seed 7.
"""
