"""Problems on which the default is chosen and judged: losses × terms × shapes × levels of sparseness.

The two halves share no data set and no seed. Constants are chosen on `train`; what is published
comes from `held_out`.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any, Literal, TypeAlias

import numpy as np
from sklearn import datasets as bundled

import conicnmf as cn
from benchmarks.harness import SkippedError, dataset
from conicnmf.types import Array

Half: TypeAlias = Literal["train", "held_out"]

DATA: dict[Half, tuple[str, ...]] = {
    "train": ("wine", "digits", "low rank 40 × 60", "bars", "nearly exact 60 × 50", "jasper_ridge"),
    "held_out": ("breast cancer", "faces", "usps", "low rank 30 × 25", "piano"),
}
SEEDS: dict[Half, int] = {"train": 100, "held_out": 51300}
"""The first seed of each half; every problem has one of its own."""

NONNEG = cn.NonNegative()


@dataclass(frozen=True)
class Case:
    """A problem of the grid and the seed of its starts."""

    name: str
    problem: cn.Problem
    seed: int

    @property
    def is_real(self) -> bool:
        """Whether the data were measured, not drawn."""
        return not self.name.startswith(("low rank", "nearly exact", "bars"))

    @property
    def has_basins(self) -> bool:
        """Whether a constraint is reverse-convex, so that runs end in many places."""
        return any(block.reverse_convex for block in self.problem.blocks)


def cases(half: Half) -> Iterator[Case]:
    """Yield the problems of a half; data that are not on this machine are left out."""
    seed = SEEDS[half]
    for name in DATA[half]:
        try:
            V = _matrix(name)
        except SkippedError:
            continue
        for text, problem in (*_sparse(V), *_others(V)):
            seed += 1
            yield Case(f"{name}, {text}", problem, seed)


def _sparse(V: Array) -> Iterator[tuple[str, cn.Problem]]:
    """Yield problems with bounds on sparseness from below."""
    for rank in (2, 4, 8, 12):
        for s in (0.5, 0.7, 0.8, 0.9, 0.95):
            sparse = [NONNEG, cn.Sparseness(min=s)]
            sides: dict[str, dict[str, Any]] = {"W": {"W": sparse}}
            if s in (0.7, 0.9):
                sides |= {"H": {"H": sparse}, "W and H": {"W": sparse, "H": sparse}}
            for side, terms in sides.items():
                text = f"r = {rank}, sparseness of {side} ≥ {s}"
                yield text, cn.factorize(V, rank, **terms)
    for name, loss in _losses(V).items():
        sparse = [NONNEG, cn.Sparseness(min=0.7)]
        yield f"r = 4, {name}, sparseness of W ≥ 0.7", cn.factorize(V, 4, loss=loss, W=sparse)
    banded = [NONNEG, cn.Sparseness(min=0.6, max=0.8)]
    yield "r = 4, sparseness of W in [0.6, 0.8]", cn.factorize(V, 4, W=banded)
    signed = V - V.mean(axis=1, keepdims=True)
    free = cn.factorize(signed, 4, W=[cn.Sparseness(min=0.7)], H=[])
    yield "r = 4, signed, sparseness of W ≥ 0.7", free


def _others(V: Array) -> Iterator[tuple[str, cn.Problem]]:
    """Yield problems in which every term is convex."""
    for rank in (3, 8):
        yield f"r = {rank}", cn.factorize(V, rank)
        for name, loss in _losses(V).items():
            yield f"r = {rank}, {name}", cn.factorize(V, rank, loss=loss)
    # Penalties on one factor need a partner that cannot grow without end.
    ball = [NONNEG, cn.NormBall()]
    terms: dict[str, dict[str, Any]] = {
        "L1 of H": {"W": ball, "H": [NONNEG, cn.L1(0.1)]},
        "L2 of both": {"W": [NONNEG, cn.L2(0.1)], "H": [NONNEG, cn.L2(0.1)]},
        "simplex per sample": {"H": [cn.Simplex(each="sample")]},
        "box": {"W": [cn.Box(0, 1)]},
        "smooth H": {"W": ball, "H": [NONNEG, cn.Smooth(0.1)]},
        "total variation of H": {"W": ball, "H": [NONNEG, cn.TotalVariation(0.05)]},
        "groups": {"W": ball, "H": [NONNEG, cn.L21(0.1)]},
        "monotone W": {"W": [NONNEG, cn.Monotone()]},
        "signed W": {"W": []},
    }
    for name, own in terms.items():
        yield f"r = 4, {name}", cn.factorize(V, 4, **own)


def _losses(V: Array) -> dict[str, Any]:
    """Return losses other than least squares, in units of the data."""
    seen = (np.random.default_rng(V.shape).random(V.shape) < 0.8).astype(float)
    return {
        "missing entries": cn.WeightedFrobenius(seen),
        "Kullback–Leibler": cn.KullbackLeibler(),
        "Huber": cn.Huber(float(np.median(V)) or 0.1),
        "absolute": cn.Absolute(),
    }


@cache
def _matrix(name: str) -> Array:
    """Return non-negative data of moderate size, features × samples, in units of one."""
    rng = np.random.default_rng(7)
    tables = {"wine": bundled.load_wine, "breast cancer": bundled.load_breast_cancer}
    if name in tables:
        V = tables[name]().data.T
        V = V / V.max(axis=1, keepdims=True)
    elif name.startswith(("low rank", "nearly exact")):
        rows, columns = (int(word) for word in name.split() if word.isdigit())
        noise, density = (0.1, 1.0) if name.startswith("low rank") else (1e-3, 0.5)
        V = cn.datasets.low_rank(rows, columns, 6, noise=noise, density=density, seed=rows).V
    elif name == "bars":
        V = cn.datasets.load("bars").V
    elif name == "digits":
        V = bundled.load_digits().data.T
    else:
        V = np.asarray(dataset({"faces": "cbcl_faces"}.get(name, name)))
    V = np.asarray(V, dtype=float)
    V = V[np.sort(rng.choice(len(V), min(100, len(V)), replace=False))]
    V = V[:, np.sort(rng.choice(V.shape[1], min(80, V.shape[1]), replace=False))]
    V = V[V.any(axis=1)][:, V[V.any(axis=1)].any(axis=0)]
    return V / V.max()
