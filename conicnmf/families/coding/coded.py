"""Alternation with a coding step: sparse codes for H, least squares or a coder for W."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from conicnmf.families.coding.coders import Coder, DictionaryStep, LeastSquares
from conicnmf.families.coding.sparse_code import squared_norms
from conicnmf.model.base import BaseProblem
from conicnmf.model.blocks import Block
from conicnmf.model.problem import Problem
from conicnmf.results import Promises
from conicnmf.solve.methods.base import Context, Solver, Sweep
from conicnmf.solve.methods.revive import revive
from conicnmf.solve.needs import LossWith, nonnegative_only, uncapped
from conicnmf.solve.stop import MaxIter, Stop
from conicnmf.types import Array, Factors

_LEAST_SQUARES = LeastSquares()


def no_penalties(block: Block) -> Iterator[str]:
    """Yield the penalties, which a coding step cannot see."""
    for penalty in block.penalties:
        remedy = "KSVD" if "price" in penalty.abilities else "a Lasso coder"
        yield f"{penalty} on {block.name} is ignored by coding steps; use {remedy}"


def only_products(problem: BaseProblem) -> list[str]:
    """Return why samples cannot be coded in a dictionary, nothing where V ≈ W H is all there is."""
    chains = [chain for fit in problem.fits for chain in fit.chains]
    if len(chains) == 1 and chains[0].names == ("W", "H") and chains[0].is_plain:
        return []
    return [f"it codes V ≈ W H, and this problem is {'; '.join(map(str, problem.fits))}"]


@dataclass(frozen=True)
class Coded(Solver[Problem, dict[str, Array]]):
    """Alternate a coding step for H with one for W, whose columns keep unit norm.

    Greedy coding steps do not minimize an objective over both factors. The history shows the
    reconstruction error and the mean number of atoms in a code, and the last iterate is returned. A
    certificate checks whether the codes can be improved while their zeros are kept.

    Parameters
    ----------
    code : Coder
        How samples are coded, for example ``coding.L0(0.02)``.
    dictionary : Coder or AtomByAtom
        How W is found from the codes: `coding.AtomByAtom` updates each atom together with its
        codes, as in K-SVD; a coder finds the rows of W. `coding.L0` makes the dictionary sparse, which
        works well only once the codes are about right: solve without it first, and continue from
        ``init=(result.W, result.H)``.

    References
    ----------
    O'Hanlon and Plumbley, Learning overcomplete dictionaries with l0-sparse non-negative matrix
    factorisation, GlobalSIP 2013.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> V = np.random.default_rng(0).random((8, 20))
    >>> result = cn.factorize(V, 4).solve(cn.Coded(cn.coding.OMP(max_atoms=2)), stop=5)
    >>> int((result.H > 0).sum(axis=0).max())
    2
    """

    code: Coder = _LEAST_SQUARES
    dictionary: DictionaryStep = _LEAST_SQUARES

    solves: ClassVar[type[BaseProblem]] = Problem
    needs: ClassVar = (
        uncapped,
        LossWith(("quadratic",), "which coding steps need"),
        no_penalties,
        nonnegative_only,
    )
    monotone: ClassVar[bool] = False
    states_objective: ClassVar[bool] = False
    absolute: ClassVar[bool] = True
    default_stop: ClassVar[Stop] = MaxIter(50)

    @property
    def promises(self) -> Promises:
        """The last iterate; where both coders fit their supports, nothing is left to gain there."""
        fits = self.code.fits_support and self.dictionary.fits_support
        return Promises(False, False, "support" if fits else "")

    def mismatches(self, problem: BaseProblem) -> list[str]:
        """Return every reason why the coders do not fit: they know products W H alone."""
        found = super().mismatches(problem)
        return found or only_products(problem)

    def start(self, problem: Problem, context: Context) -> dict[str, Array]:
        """Keep the squared norms of the data."""
        V = problem.V
        return {"H": squared_norms(V), "W": squared_norms(V.T)}

    def sweep(
        self, problem: Problem, factors: Factors, memo: dict[str, Array]
    ) -> Sweep[dict[str, Array]]:
        """Code the samples, fit the dictionary, bring its columns to unit norm."""
        V, atoms = problem.V, problem.blocks[0]
        factors = unit_columns(factors)  # a start may be longer, and thresholds are for unit norms
        W = factors["W"]
        H = self.code.code(W.T @ W, np.asarray((V.T @ W).T), memo["H"], factors["H"])
        W, H = self.dictionary.learn(V, W, H, memo["W"])
        # Atoms that no code uses get another direction, and codes are always the coder's own.
        factors = unit_columns(revive(problem, atoms, {**factors, "W": W, "H": H}))
        return Sweep(factors, memo, notes={"atoms": atoms_per_sample(factors["H"])})


def atoms_per_sample(H: Array) -> float:
    """Return the mean number of atoms in a code."""
    return float(np.count_nonzero(H) / H.shape[1])


def unit_columns(factors: Factors) -> Factors:
    """Move the norms of W's columns into the rows of H."""
    W, H = factors["W"], factors["H"]
    norms = np.linalg.norm(W, axis=0)
    safe: Array = np.where(norms > 0, norms, 1.0).astype(W.dtype)
    return {**factors, "W": W / safe, "H": H * safe[:, None]}
