"""The best l0 code of each sample, by branch and bound over which atoms it may use."""

from __future__ import annotations

import heapq
from dataclasses import dataclass
from itertools import count

import numpy as np

from conicnmf.families.coding.coders import Coder, ForwardBackward
from conicnmf.kernels.nnls import nnls_gram
from conicnmf.settings import Count, Weight
from conicnmf.types import Array, Mask


@dataclass(frozen=True)
class BranchAndBound(Coder):
    """Minimize ‖v − W h‖² + weight² · ‖h‖₀ over h ≥ 0 globally, or say how far away it may be.

    A node pays for some atoms and forbids others; least squares on all that is not forbidden,
    without a price for the undecided, is its bound. The work grows quickly with the number of atoms
    in the best codes: it is for checking the greedy coders.

    Parameters
    ----------
    weight : float
    max_nodes : int
        Nodes for each sample at most; `proved` returns the gap that is left then.

    Examples
    --------
    >>> C = np.array([[1.0], [0.1]])
    >>> BranchAndBound(0.2).code(np.eye(2), C, np.array([1.01])).ravel()
    array([1., 0.])
    """

    weight: Weight
    max_nodes: Count = 2000

    def code(self, G: Array, C: Array, yy: Array, B: Array | None = None) -> Array:
        """Search for each sample."""
        return self.proved(G, C, yy)[0]

    def proved(self, G: Array, C: Array, yy: Array) -> tuple[Array, Array]:
        """Return the codes, and for each the distance of its cost to a proved bound.

        Parameters
        ----------
        G, C, yy : array
            WᵀW, WᵀV and the squared norm of each sample, as for `code`.

        Examples
        --------
        >>> BranchAndBound(0.2).proved(np.eye(1), np.ones((1, 1)), np.ones(1))[1]
        array([0.])
        """
        H = ForwardBackward(self.weight).code(G, C, yy)
        gaps = np.zeros(C.shape[1])
        for j in range(C.shape[1]):
            H[:, j], gaps[j] = self._searched(G, C[:, j], float(yy[j]), H[:, j])
        return H, gaps

    def _searched(self, G: Array, c: Array, yy: float, h: Array) -> tuple[Array, float]:
        """Return the best code and its gap, beginning with a good one."""
        price, numbers = self.weight**2, count()
        best, value = h, _cost(G, c, yy, h) + price * np.count_nonzero(h)
        none = np.zeros(len(c), dtype=bool)
        root = _fitted(G, c, ~none)
        heap = [(_cost(G, c, yy, root), next(numbers), none, none, root)]
        for _ in range(self.max_nodes):
            if not heap or heap[0][0] >= value * (1 - 1e-12):
                return best, 0.0
            bound, _, paid, forbidden, x = heapq.heappop(heap)
            open_atoms = (x > 0) & ~paid
            found = bound + price * np.count_nonzero(open_atoms)
            if found < value:
                best, value = np.where(x > 0, x, 0.0), found
            if not open_atoms.any():
                continue
            at = int(np.where(open_atoms, x, -1.0).argmax())
            heapq.heappush(heap, (bound + price, next(numbers), _with(paid, at), forbidden, x))
            without = _with(forbidden, at)
            other = _fitted(G, c, ~without)
            lower = _cost(G, c, yy, other) + price * np.count_nonzero(paid)
            heapq.heappush(heap, (lower, next(numbers), paid, without, other))
        return best, max(0.0, value - heap[0][0]) if heap else 0.0


def _with(mask: Mask, at: int) -> Mask:
    more = mask.copy()
    more[at] = True
    return more


def _fitted(G: Array, c: Array, allowed: Mask) -> Array:
    """Return the code of least squares on some atoms."""
    x = np.zeros(len(c), dtype=c.dtype)
    if allowed.any():
        x[allowed] = nnls_gram(
            np.ascontiguousarray(G[np.ix_(allowed, allowed)]),
            np.ascontiguousarray(c[allowed, None]),
        )[:, 0]
    return x


def _cost(G: Array, c: Array, yy: float, h: Array) -> float:
    return max(0.0, yy - 2 * float(c @ h) + float(h @ (G @ h)))
