"""Ways to code samples: each solves, exactly or greedily, for one column of H after the other.

A coder sees a dictionary only through G = WᵀW and C = WᵀV, and codes all samples at once.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from conicnmf.kernels.elimination import eliminate
from conicnmf.kernels.nnls import nnls_gram
from conicnmf.kernels.pursuit import forward_backward, nn_omp
from conicnmf.settings import Count, Reads, Settings, Weight
from conicnmf.types import Array, Data
from conicnmf.validate import as_labels


class DictionaryStep(Settings):
    """A rule for a better dictionary, given samples and their codes."""

    @property
    def fits_support(self) -> bool:
        """Whether entries that are not zero are those of least squares, the others held at zero."""
        return False

    def learn(self, V: Data, W: Array, H: Array, rows: Array) -> tuple[Array, Array]:
        """Return the dictionary, and the codes where it changes them.

        Parameters
        ----------
        V, W, H : array
            The samples, which may be sparse, and the factors.
        rows : array
            The squared norm of each row of V.
        """
        raise TypeError(f"{type(self).__name__} must define learn(V, W, H, rows)")


class Coder(DictionaryStep):
    """A rule for non-negative codes of samples in a dictionary."""

    @property
    def fits_support(self) -> bool:
        """Whether the codes that are not zero are those of least squares, the others held at zero."""
        return True

    def learn(self, V: Data, W: Array, H: Array, rows: Array) -> tuple[Array, Array]:
        """Code the rows of V in the codes: each is a row of W."""
        found = self.code(H @ H.T, np.asarray((V @ H.T).T), rows, np.ascontiguousarray(W.T))
        return found.T, H

    def code(self, G: Array, C: Array, yy: Array, B: Array | None = None) -> Array:
        """Return the codes, one column a sample.

        Parameters
        ----------
        G, C : array
            WᵀW and WᵀV.
        yy : array
            The squared norm of each sample.
        B : array, optional
            Codes from before, whose supports make a warm start.
        """
        raise TypeError(f"{type(self).__name__} must define code(G, C, yy, B)")


@dataclass(frozen=True)
class LeastSquares(Coder):
    """Minimize ‖v − W h‖² over h ≥ 0, exactly.

    Examples
    --------
    >>> import numpy as np
    >>> LeastSquares().code(np.eye(2), np.array([[1.0], [-1.0]]), np.array([2.0])).ravel()
    array([1., 0.])
    """

    def code(self, G: Array, C: Array, yy: Array, B: Array | None = None) -> Array:
        """Solve by an active-set method."""
        return nnls_gram(G, C, B)


@dataclass(frozen=True)
class Lasso(Coder):
    """Minimize ‖v − W h‖² + weight · ‖h‖₁ over h ≥ 0, exactly.

    Where a paper halves the square, ½‖v − W h‖² + λ‖h‖₁, the weight is 2λ: ``Lasso(2 * lam)``
    codes new samples in a basis from non-negative sparse coding.

    Examples
    --------
    >>> import numpy as np
    >>> Lasso(0.5).code(np.eye(1), np.array([[1.0]]), np.array([1.0])).item()
    0.75
    """

    weight: Weight

    @property
    def fits_support(self) -> bool:
        """The penalty shrinks the codes."""
        return False

    def code(self, G: Array, C: Array, yy: Array, B: Array | None = None) -> Array:
        """Shift the correlations: the penalty is linear on h ≥ 0."""
        return nnls_gram(G, C - self.weight / 2, B)


@dataclass(frozen=True)
class SquaredLasso(Coder):
    """Minimize ‖v − W h‖² + weight · ‖h‖₁² over h ≥ 0, exactly.

    Examples
    --------
    >>> import numpy as np
    >>> SquaredLasso(1.0).code(np.eye(1), np.array([[1.0]]), np.array([1.0])).round(12).item()
    0.5
    """

    weight: Weight

    @property
    def fits_support(self) -> bool:
        """The penalty shrinks the codes."""
        return False

    def code(self, G: Array, C: Array, yy: Array, B: Array | None = None) -> Array:
        """Add the weight to every entry of the Gram matrix, as a row of √weight to W would."""
        return nnls_gram(G + self.weight, C, B)


@dataclass(frozen=True)
class Threshold(Coder):
    """Least squares, with the codes below `threshold` set to zero.

    With `refit` the kept codes are solved for again. Where atoms depend on each other, least squares
    have many solutions; the shortest is taken, with codes measured in the norms of their atoms.

    Examples
    --------
    >>> import numpy as np
    >>> C = np.array([[1.0], [0.1]])
    >>> Threshold(0.2).code(np.eye(2), C, np.array([1.01])).ravel()
    array([1., 0.])
    """

    threshold: Weight
    refit: bool = False

    @property
    def fits_support(self) -> bool:
        """Only a refit makes up for what was cut off."""
        return self.refit

    def code(self, G: Array, C: Array, yy: Array, B: Array | None = None) -> Array:
        """Solve and cut off."""
        H = nnls_gram(G + _ridge(G), C, B)
        H = np.where(self.threshold > H, 0.0, H).astype(H.dtype, copy=False)
        # At the price 0 nothing more is dropped: least squares on the support of H.
        return eliminate(G, C, yy, H, 0.0) if self.refit else H


def _ridge(G: Array) -> Array:
    """Return what is added to a Gram matrix of dependent atoms so that one minimizer is left.

    With the root of the rounding error, what rounding does to C moves the codes by no more than that.
    """
    sizes = np.sqrt(np.einsum("...ii->...i", G))
    sizes = np.where(sizes > 0, sizes, 1.0)
    angles = G / sizes[..., :, None] / sizes[..., None, :]
    small, eye = float(np.sqrt(np.finfo(G.dtype).eps)), np.eye(G.shape[-1], dtype=G.dtype)
    # Zero atoms keep the code zero and depend on nothing.
    lowest = np.linalg.eigvalsh(np.where(eye > 0, 1.0, angles))[..., 0]
    price = np.where(lowest <= small, small, 0.0)[..., None, None]
    return np.asarray((price * G * eye).astype(G.dtype))


@dataclass(frozen=True)
class OMP(Coder):
    """Non-negative orthogonal matching pursuit.

    Atoms are added until there are `max_atoms` or ‖v − W h‖² ≤ rel_error · ‖v‖².

    Examples
    --------
    >>> import numpy as np
    >>> C = np.array([[1.0], [0.1]])
    >>> OMP(max_atoms=1).code(np.eye(2), C, np.array([1.01])).ravel()
    array([1., 0.])
    """

    max_atoms: Count = 15
    rel_error: Weight = 0.05

    def code(self, G: Array, C: Array, yy: Array, B: Array | None = None) -> Array:
        """Add one atom after the other to each sample."""
        return nn_omp(G, C, yy, min(self.max_atoms, len(G)), self.rel_error)


@dataclass(frozen=True, eq=False)
class L0(Coder):
    """Least squares, then backward elimination of atoms that lower the error by less than `weight`.

    The cost is ‖v − W h‖₂ + weight · ‖h‖₀, or ‖v − W h‖₂² + weight² · ‖h‖₀ when `squared`.
    With `groups`, a label for each atom, the atoms of a group go together.

    Examples
    --------
    >>> import numpy as np
    >>> C = np.array([[1.0], [0.1]])
    >>> L0(0.2, squared=True).code(np.eye(2), C, np.array([1.01])).ravel()
    array([1., 0.])
    """

    weight: Weight
    squared: bool = False
    groups: Annotated[Any, Reads(as_labels)] | None = None

    def code(self, G: Array, C: Array, yy: Array, B: Array | None = None) -> Array:
        """Solve, eliminate, solve again on what is left."""
        return eliminate(G, C, yy, nnls_gram(G, C, B), self.weight, self.squared, self.groups)


@dataclass(frozen=True)
class ForwardBackward(Coder):
    """A pursuit that adds and drops atoms under one cost, ‖v − W h‖₂² + weight² · ‖h‖₀.

    Examples
    --------
    >>> import numpy as np
    >>> C = np.array([[1.0], [0.1]])
    >>> ForwardBackward(0.2).code(np.eye(2), C, np.array([1.01])).ravel()
    array([1., 0.])
    """

    weight: Weight
    max_atoms: Count | None = None

    def code(self, G: Array, C: Array, yy: Array, B: Array | None = None) -> Array:
        """Alternate additions and eliminations."""
        return forward_backward(G, C, yy, self.weight, self.max_atoms or len(G))
