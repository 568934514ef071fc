"""Starts of factors in strips: arrays, or random numbers of which each strip draws its own."""

from __future__ import annotations

from functools import partial
from typing import Any

import numpy as np

from conicnmf.errors import InputError
from conicnmf.model.large import LargeProblem
from conicnmf.solve.starts.nearest import nearest
from conicnmf.solve.starts.simple import Given, Random, as_start
from conicnmf.strips.weighed import Weighed
from conicnmf.types import Array, Data, Factors

_ROUNDS, _SETTLED = 50, 1e-9
"""How often H is lowered where it is found again for a given W, and when that is enough."""


def start_in_strips(problem: LargeProblem, init: Any, rng: np.random.Generator) -> Factors:
    """Return a feasible start; what is not given is drawn."""
    given = _given(problem, init)
    W_block, H_block = problem.blocks
    W = given.get("W", _drawn(rng, problem.shapes["W"], W_block.nonneg).astype(problem.dtype))
    H: Any = given.get("H")
    H = _random_strips(problem, int(rng.integers(2**62))) if H is None else problem.V.crew.place(H)
    if not given:
        root = problem.dtype.type(np.sqrt(_best_multiple(problem, W, H)))
        W, H = W * root, H * root
    W = W_block.put({}, nearest(W_block, W_block.rows({"W": W})))["W"]
    return {"W": W, "H": H_block.nearest_by(nearest, H)}


def fitted_in_strips(problem: LargeProblem, W: Array) -> Factors:
    """Return W with H fitted to it from random numbers, until that lowers little."""
    block = problem.blocks[1]
    ways = [solver for solver, _ in problem.preferred() if not problem.refuses(solver)]
    solver: Any = next(own for own in ways if not own.unmet(own.facing(block)))
    H: Any = _random_strips(problem, 0)
    held = block.given({"W": W})
    seen, last = solver.look(block), np.inf
    for _ in range(_ROUNDS):
        made = held.lowered_by(solver, H, seen)
        H = made.B
        if made.status is not None or not made.value < last - _SETTLED * problem.unit:
            break
        last = made.value
    return {"W": W, "H": H}


def _given(problem: LargeProblem, init: Any) -> Factors:
    """Return the arrays that a start names, in the units of the problem."""
    start = as_start(init, problem)
    if isinstance(start, Random):
        return {}
    if not isinstance(start, Given):
        raise InputError(
            f"{type(start).__name__} needs all of V at once, but V is in strips; start at Random() "
            "or at arrays, for example W from a part of the samples"
        )
    found = {}
    for key, X in start.values.items():
        name = list(problem.shapes)[key] if isinstance(key, int) and key < 2 else key
        if name not in problem.shapes or getattr(X, "shape", None) != problem.shapes[name]:
            shapes = ", ".join(f"{own} {shape}" for own, shape in problem.shapes.items())
            raise InputError(
                f"a start in strips has arrays of these shapes: {shapes}; got {key!r} of shape "
                f"{getattr(X, 'shape', None)}"
            )
        found[name] = np.asarray(X, dtype=problem.dtype) if name == "W" else X
    scaled = {name: X for name, X in found.items() if X is not None}
    return problem.units.inward(scaled)


def _drawn(rng: np.random.Generator, shape: tuple[int, ...], nonneg: bool) -> Array:
    return rng.random(shape) if nonneg else rng.standard_normal(shape)


def _random_strips(problem: LargeProblem, seed: int) -> Any:
    block = problem.blocks[1]
    work = partial(_drawn_strip, seed, block.shape[0], block.nonneg)
    return problem.V.crew.later(work, problem.V, keep=True).matrix


def _drawn_strip(seed: int, rank: int, nonneg: bool, k: int, V: Data) -> tuple[Array, Any]:
    drawn = _drawn(np.random.default_rng([seed, k]), (rank, V.shape[1]), nonneg)
    return drawn.astype(V.dtype), ()


def _best_multiple(problem: LargeProblem, W: Array, H: Any) -> float:
    """Return by what W H is to be multiplied to come nearest to V, one where that is nothing."""
    cross, norm = problem.V.crew.run(partial(_products, W), problem.V, H)
    return abs(cross) / norm if cross and norm else 1.0


def _products(W: Array, k: int, V: Data, H: Array) -> tuple[None, Any]:
    if isinstance(V, Weighed):
        squares = V.weights * V.weights
        model = W @ H
        seen = squares.multiply(model) if hasattr(squares, "multiply") else squares * model
        return None, (float((seen * V.values).sum()), float((seen * model).sum()))
    cross = float(np.einsum("ij,ij->", W.T @ V, H))
    return None, (cross, float(np.einsum("ij,ij->", W.T @ W, H @ H.T)))
