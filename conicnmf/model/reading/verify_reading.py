"""Compare a recognized loss with the stated expression at a random point: the second route."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.atoms.affine.promote import Promote
from cvxpy.atoms.affine.reshape import reshape

from conicnmf.model.losses import WeightedFrobenius
from conicnmf.model.reading.squares import ReadLoss, read_squares
from conicnmf.types import stored

_LARGE = 1 << 16
_SMALL = 12


def agrees(reading: ReadLoss, coefficient: float, part: cp.Expression) -> bool:
    """Whether coefficient · part has the value of the reading at a random point.

    The stated residual is as large as V and dense. So for large data a small replica of the
    expression, over a few rows and columns, is read and compared instead; an expression that
    cannot be cut down stands on its form alone.
    """
    if reading.V.shape[0] * reading.V.shape[1] > _LARGE:
        try:
            part = _Replica(reading).of(part)
        except ValueError:
            return True
        small = read_squares(coefficient, part)
        if small is None:
            return False
        reading = small
    return _same(reading, coefficient, part)


def _same(reading: ReadLoss, coefficient: float, part: cp.Expression) -> bool:
    (m, rank), (_, n) = reading.W.shape, reading.H.shape
    # Factors whose product is of the size of V: at other sizes one part would hide the other.
    size = np.sqrt(float(np.abs(stored(reading.V)).max(initial=0.0)) / rank) or 1.0
    rng = np.random.default_rng(0)
    W, H = (size * (0.5 + rng.random(shape)) for shape in ((m, rank), (rank, n)))
    at = {
        id(factor.variable): cp.Constant(X.T if factor.flipped else X)
        for factor, X in ((reading.W, W), (reading.H, H))
    }
    with np.errstate(over="ignore"):
        stated = coefficient * float(part.tree_copy(at).value)
        read = reading.loss.value(reading.V, W, H) + reading.offset
    return bool(np.isclose(stated, read, rtol=1e-8, atol=0))


class _Replica:
    """Cuts an expression down to the rows and columns of a few entries that count."""

    def __init__(self, reading: ReadLoss) -> None:
        loss, V = reading.loss, reading.V
        counts = loss.weights if isinstance(loss, WeightedFrobenius) else V
        rng = np.random.default_rng(0)
        entries = counts.nonzero()
        drawn = rng.permutation(len(entries[0]))[:_SMALL]
        rows, columns = (
            np.union1d(found[drawn], rng.permutation(size)[:_SMALL])
            for found, size in zip(entries, V.shape, strict=True)
        )
        if V.shape[0] == V.shape[1]:  # then a transposed constant is cut in the right places, too
            rows = columns = np.union1d(rows, columns)
        self._kept = {V.shape: (rows, columns), V.shape[::-1]: (columns, rows)}
        small = (len(rows), len(columns))
        size, few = V.shape[0] * V.shape[1], small[0] * small[1]
        self._shapes = {(size,): (few,), (size, 1): (few, 1), (1, size): (1, few)}
        self._shapes |= {V.shape: small, V.shape[::-1]: small[::-1]}
        rank = reading.W.shape[1]
        self._places = {}
        for factor, shape in ((reading.W, (small[0], rank)), (reading.H, (rank, small[1]))):
            self._places[factor.variable.id] = cp.Variable(shape[::-1] if factor.flipped else shape)

    def of(self, node: cp.Expression) -> cp.Expression:
        """Return the small copy; a `ValueError` says that there is none."""
        if isinstance(node, cp.Variable):
            return self._places[node.id]
        if node.is_constant() and node.is_scalar():
            return node
        if isinstance(node, cp.Constant):
            rows, columns = _known(self._kept, node.shape)
            return cp.Constant(node.value[rows][:, columns])
        inside = [self.of(part) for part in node.args if not isinstance(part, Promote)]
        if isinstance(node, reshape):
            return reshape(inside[0], _known(self._shapes, node.shape), node.order)
        beside = iter(inside)  # a number takes the shape of what stands beside it
        return node.copy(
            [
                Promote(part.args[0], inside[0].shape)
                if isinstance(part, Promote)
                else next(beside)
                for part in node.args
            ]
        )


def _known(table: dict[tuple[int, ...], Any], shape: tuple[int, ...]) -> Any:
    if shape not in table:
        raise ValueError(f"nothing is known of the shape {shape}")
    return table[shape]
