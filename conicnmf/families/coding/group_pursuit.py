"""Pursuit over groups of atoms: which groups a sample is made of, with non-negative codes in them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

import numpy as np

from conicnmf.errors import InputError
from conicnmf.families.coding.coders import Coder
from conicnmf.kernels.elimination import eliminate
from conicnmf.kernels.nnls import nnls_gram
from conicnmf.settings import Count, Reads, Weight
from conicnmf.types import Array, Mask
from conicnmf.validate import as_labels


@dataclass(frozen=True, eq=False)
class GroupOMP(Coder):
    """Non-negative orthogonal matching pursuit that adds a whole group of atoms at a time.

    The group that explains most of the residual, by non-negative least squares, joins those that are
    selected, and the codes of all their atoms are solved again. This continues until there are
    `max_groups`, ‖v − W h‖² ≤ rel_error · ‖v‖², or no group explains anything. With groups of one atom
    of norm one it is `OMP`.

    Parameters
    ----------
    groups : array of int
        A label for each atom, for example its class or its instrument.
    max_groups : int
        Groups in the code of a sample at most.
    rel_error : float

    References
    ----------
    Eldar, Kuppinger and Bölcskei, Block-sparse signals: uncertainty relations and efficient recovery,
    2010.

    Examples
    --------
    >>> C = np.array([[1.0], [0.6], [0.9], [0.9]])
    >>> GroupOMP([0, 0, 1, 1], max_groups=1).code(np.eye(4), C, np.array([2.98])).ravel()
    array([0. , 0. , 0.9, 0.9])
    """

    groups: Annotated[Any, Reads(as_labels)]
    max_groups: Count = 3
    rel_error: Weight = 0.05

    def code(self, G: Array, C: Array, yy: Array, B: Array | None = None) -> Array:
        """Add one group after the other to each sample."""
        labels = np.asarray(self.groups)
        if len(labels) != len(G):
            raise InputError(
                f"groups must hold a label for each of the {len(G)} atoms, got {len(labels)}; "
                "try np.arange(atoms) // 3"
            )
        parts = [np.flatnonzero(labels == label) for label in np.unique(labels)]
        chosen = np.zeros(C.shape, dtype=bool)
        H = np.zeros_like(C)
        columns = np.arange(C.shape[1])
        for _ in range(min(self.max_groups, len(parts))):
            residual = C - G @ H
            left = yy - np.einsum("ij,ij->j", C + residual, H)
            gains = np.stack([_explained(G, residual, chosen, part) for part in parts])
            best = gains.argmax(axis=0)
            busy = (left > self.rel_error * yy) & (gains[best, columns] > 0)
            if not busy.any():
                break
            for number, part in enumerate(parts):
                chosen[np.ix_(part, np.flatnonzero(busy & (best == number)))] = True
            # At the price 0 nothing is dropped: least squares on the groups that are selected.
            H = eliminate(G, C, yy, chosen, 0.0)
        return H


def _explained(G: Array, residual: Array, chosen: Mask, part: Any) -> Array:
    """Return what a group can take from the squared residual of each sample, 0 where it is in use."""
    own, target = G[np.ix_(part, part)], np.ascontiguousarray(residual[part])
    x = nnls_gram(np.ascontiguousarray(own), target)
    gain = np.einsum("ij,ij->j", 2 * target - own @ x, x)
    return np.where(chosen[part[0]], 0.0, gain)
