"""A wrong reading is found out by comparison with the expression, for small and large data."""

from __future__ import annotations

from dataclasses import replace

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp

from conicnmf.model.losses import Frobenius, WeightedFrobenius
from conicnmf.model.reading.fits import read_part
from conicnmf.model.reading.squares import read_squares
from conicnmf.model.reading.verify_reading import agrees


@pytest.mark.parametrize("size", [1e-50, 1.0, 1e50])
def test_a_wrong_scale_constant_or_matrix_is_noticed(size: float) -> None:
    V = size * (np.random.default_rng(0).random((5, 4)) + 0.1)
    W, H = cp.Variable((5, 2)), cp.Variable((2, 4))
    part = cp.sum_squares(V - W @ H)
    reading = read_squares(2.0, part)
    assert reading is not None
    assert agrees(reading, [(2.0, part)], read_part)
    assert not agrees(replace(reading, loss=Frobenius(1.0)), [(2.0, part)], read_part)
    assert not agrees(replace(reading, V=1.001 * V), [(2.0, part)], read_part)
    assert not agrees(replace(reading, V=V[::-1]), [(2.0, part)], read_part)
    assert not agrees(replace(reading, offset=size**2), [(2.0, part)], read_part)
    weights = np.ones((5, 4))
    weights[0, 0] = 0.0
    assert not agrees(
        replace(reading, loss=WeightedFrobenius(weights, 2.0)), [(2.0, part)], read_part
    )


@pytest.mark.parametrize("shape", [(400, 300), (300, 300)])
def test_large_data_are_compared_on_a_replica(shape: tuple[int, int]) -> None:
    m, n = shape
    V = sp.random_array(shape, density=0.01, rng=np.random.default_rng(0), format="csr")
    W, H = cp.Variable((m, 2)), cp.Variable((2, n))
    parts = [
        cp.sum_squares(V - W @ H),
        cp.sum_squares(3 * (V.T - (2 * H).T @ W.T) / 2),
        cp.norm(cp.vec(V - W @ H - 1, order="C"), 2) ** 2,
        cp.sum_squares(cp.multiply(V != 0, V - W @ H)),
        cp.sum(cp.multiply(V, cp.square(W @ H - V))),
    ]
    readings = [read_squares(1.0, part) for part in parts]
    for reading, part in zip(readings, parts, strict=True):
        assert reading is not None
        assert agrees(reading, [(1.0, part)], read_part)

    def erring(some):
        return replace(read_part(some), loss=Frobenius(5.0))

    for reading, part in zip(readings, parts, strict=True):
        assert not agrees(reading, [(1.0, part)], erring)  # found out on the replica
