"""Random blocks with every kind of term, for the tests of their convex programs."""

import cvxpy as cp
import numpy as np

import conicnmf as cn
from conicnmf.model.terms import pieces
from conicnmf.solve.programs.cuts import Cut

PLUS = cn.NonNegative()
RANK, FEATURES, SAMPLES = 3, 8, 6
KNOWN = np.eye(RANK, SAMPLES, dtype=bool)

TERMS = {
    "free": [],
    "non-negative": [PLUS],
    "upper bound": [PLUS, cn.Sparseness(max=0.3)],
    "upper bound of samples": [PLUS, cn.Sparseness(max=0.4, each="sample")],
    "lower bound": [PLUS, cn.Sparseness(min=0.5)],
    "lower bound of samples": [PLUS, cn.Sparseness(min=0.4, each="sample")],
    "band and lower bound of samples": [
        PLUS,
        cn.Sparseness(min=0.3, max=0.8),
        cn.Sparseness(min=0.2, each="sample"),
    ],
    "penalties": [PLUS, cn.L1(0.2), cn.L2(0.3)],
    "free with magnitudes": [cn.L1(0.5)],
    "smooth": [PLUS, cn.ConvexPenalty(lambda H: cp.sum_squares(cp.diff(H, axis=1)))],
    "few rows": [cn.ConvexPenalty(lambda H: 0.3 * cp.sum(cp.norm(H, 2, axis=1)))],
    "mixtures": [cn.Simplex(each="sample")],
    "boxed": [cn.Box(-0.1, 0.4)],
    "known entries": [PLUS, cn.Fixed(KNOWN, 0.25)],
    "small steps": [PLUS, cn.Convex(lambda H: cp.abs(cp.diff(H, axis=1)) <= 0.2)],
    "short and sparse": [PLUS, cn.NormBall(0.7), cn.Sparseness(min=0.4), cn.L1(0.1)],
}


def draw(seed, scale=1.0):
    """Return data V and another factor A."""
    rng = np.random.default_rng(seed)
    return scale * rng.random((FEATURES, SAMPLES)), rng.random((FEATURES, RANK))


def block_of(terms, V, loss=None):
    """Return the H-block of a problem."""
    return cn.factorize(V, RANK, H=terms, loss=loss).blocks[1]


def masked(seed):
    """Return a loss with weights, some of them zero."""
    rng = np.random.default_rng(seed)
    return cn.WeightedFrobenius((rng.random((FEATURES, SAMPLES)) < 0.7) * (0.5 + rng.random()))


def random_cuts(block, rng):
    """Return tangent planes at random feasible points, for a random half of the pieces."""
    cuts = []
    for constraint in block.reverse_convex:
        P = constraint.project(rng.random(block.shape))
        count = len(pieces(P, constraint.each))
        cuts.append(Cut(constraint.tangent(P), rng.random(count) < 0.5))
    return cuts


def at(program, A):
    """Return the step of a program with the other factor held at A."""
    return program.at(program.block.given({"W": A}))
