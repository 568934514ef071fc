"""A case: everything about one call, drawn from its id alone."""

from __future__ import annotations

import numpy as np

from .draw.numbers import pick
from .families import (
    autoencoders,
    bounds,
    coding,
    estimators,
    measures,
    one_factor,
    problems,
    strips,
    studies,
)

FAMILIES = {
    "problems": (problems, 60),
    "one_factor": (one_factor, 10),
    "estimators": (estimators, 10),
    "coding": (coding, 6),
    "autoencoders": (autoencoders, 6),
    "studies": (studies, 4),
    "strips": (strips, 3),
    "bounds": (bounds, 1.5),
    "measures": (measures, 4),
}
"""Kinds of cases with how often each is drawn."""


def draw_case(seed, k, **options):
    """Return case k of a seed."""
    rng = np.random.default_rng([seed, k])
    family = pick(rng, {name: weight for name, (_, weight) in FAMILIES.items()})
    return FAMILIES[family][0].draw(rng, f"{seed}:{k}", **options)
