"""Compare a recognized loss with the stated expression at a random point: the second route."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import cvxpy as cp
import numpy as np
from cvxpy.atoms.affine.promote import Promote
from cvxpy.atoms.affine.reshape import reshape

from conicnmf.model.reading.chains import ReadChain, ReadRef
from conicnmf.model.reading.parts import Part
from conicnmf.model.reading.read_fit import ReadFit
from conicnmf.types import Array, stored

_LARGE = 1 << 16
_SMALL = 12


def agrees(
    reading: ReadFit, parts: Sequence[Part], read: Callable[[Sequence[Part]], ReadFit | None]
) -> bool:
    """Whether the parts have the value of the reading at a random point.

    The stated residual is as large as V and dense. So for large data a small replica of the
    expression, over a few rows and columns, is read and compared instead; an expression that
    cannot be cut down stands on its form alone.
    """
    if reading.V.shape[0] * reading.V.shape[1] > _LARGE:
        try:
            replica = _Replica(reading)
            parts = [(coefficient, replica.of(part)) for coefficient, part in parts]
        except ValueError:
            return True
        small = read(parts)
        if small is None:
            return False
        reading = small
    return _same(reading, parts)


def _same(reading: ReadFit, parts: Sequence[Part]) -> bool:
    refs = [ref for chain in reading.chains for ref in chain.refs]
    longest = max(len(chain.refs) for chain in reading.chains)
    width = max(min(ref.shape) for ref in refs)
    # Factors whose product is of the size of V: at other sizes one part would hide the other.
    largest = float(np.abs(stored(reading.V)).max(initial=0.0))
    size = (largest / width) ** (1 / longest) or 1.0
    rng = np.random.default_rng(0)
    values = {v.id: size * (0.5 + rng.random(v.shape)) for v in reading.variables}
    at = {id(v): cp.Constant(values[v.id]) for v in reading.variables}
    with np.errstate(over="ignore"):
        stated = sum(c * float(part.tree_copy(at).value) for c, part in parts)
        model = sum(_product(chain, values) for chain in reading.chains)
        one = np.eye(reading.V.shape[0])
        read = reading.loss.value(reading.V, one, np.asarray(model)) + reading.offset
    return bool(np.isclose(stated, read, rtol=1e-8, atol=0))


def _product(chain: ReadChain, values: dict[int, Array]) -> Array:
    """Return the value of a product that was read, from the definition."""
    total: Any = chain.scale
    for factor in chain.factors:
        if isinstance(factor, ReadRef):
            X = values[factor.variable.id]
            X = X.T if factor.flipped else X
            X = X if factor.mask is None else factor.mask * X
        else:
            X = factor
        total = total * X if np.ndim(total) == 0 else total @ X
    return np.asarray(total)


class _Replica:
    """Cuts an expression down to the rows and columns of a few entries that count."""

    def __init__(self, reading: ReadFit) -> None:
        loss, V = reading.loss, reading.V
        weights = getattr(loss, "weights", None)
        counts = V if weights is None else weights
        rng = np.random.default_rng(0)
        entries = counts.nonzero()
        drawn = rng.permutation(len(entries[0]))[:_SMALL]
        rows, columns = (
            np.union1d(found[drawn], rng.permutation(size)[:_SMALL])
            for found, size in zip(entries, V.shape, strict=True)
        )
        if V.shape[0] == V.shape[1]:  # then a transposed constant is cut in the right places, too
            rows = columns = np.union1d(rows, columns)
        self._rows, self._columns, self._shape = rows, columns, V.shape
        small = (len(rows), len(columns))
        size, few = V.shape[0] * V.shape[1], small[0] * small[1]
        self._shapes = {(size,): (few,), (size, 1): (few, 1), (1, size): (1, few)}
        self._shapes |= {V.shape: small, V.shape[::-1]: small[::-1]}
        self._places = {}
        for chain in reading.chains:
            last = len(chain.factors) - 1
            for place, factor in enumerate(chain.factors):
                if isinstance(factor, ReadRef):
                    if factor.mask is not None:
                        raise ValueError("a masked variable is not cut down")
                    shape = (
                        small[0] if place == 0 else factor.shape[0],
                        small[1] if place == last else factor.shape[1],
                    )
                    own = shape[::-1] if factor.flipped else shape
                    self._places[factor.variable.id] = cp.Variable(own)

    def _cut(self, X: Any) -> Any:
        """Return the kept rows and columns of a constant that is as long as the data."""
        along = [(self._shape[0], self._rows), (self._shape[1], self._columns)]
        for (m, rows), (n, columns) in (along, along[::-1]):  # as the data, or transposed
            if X.shape[0] in (m, 1) and X.shape[1] in (n, 1) and max(X.shape) > 1:
                cut = X[rows] if X.shape[0] == m else X
                return cut[:, columns] if X.shape[1] == n else cut
        raise ValueError(f"nothing is known about the shape {X.shape}")

    def of(self, node: cp.Expression) -> cp.Expression:
        """Return the small copy; a `ValueError` says that there is none."""
        if isinstance(node, cp.Variable):
            return self._places[node.id]
        if node.is_constant() and node.is_scalar():
            return node
        if isinstance(node, cp.Constant):
            return cp.Constant(self._cut(node.value))
        inside = [self.of(part) for part in node.args if not isinstance(part, Promote)]
        if isinstance(node, reshape):
            return reshape(inside[0], _known(self._shapes, node.shape), node.order)
        neighbors = iter(inside)  # a number takes the shape of what it is added to
        return node.copy(
            [
                Promote(part.args[0], inside[0].shape)
                if isinstance(part, Promote)
                else next(neighbors)
                for part in node.args
            ]
        )


def _known(table: dict[tuple[int, ...], Any], shape: tuple[int, ...]) -> Any:
    if shape not in table:
        raise ValueError(f"nothing is known about the shape {shape}")
    return table[shape]
