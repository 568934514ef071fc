"""Non-negative K-SVD under a stated price: supports by pursuit, then atoms with their codes."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from conicnmf.families.coding.atoms import Atoms
from conicnmf.families.coding.coded import atoms_per_sample, only_products, unit_columns
from conicnmf.families.coding.coders import ForwardBackward
from conicnmf.families.coding.sparse_code import squared_norms
from conicnmf.kernels.elimination import eliminate
from conicnmf.model.base import BaseProblem
from conicnmf.model.blocks import Block
from conicnmf.model.problem import Problem
from conicnmf.model.terms import Quadratic
from conicnmf.settings import Count
from conicnmf.solve.methods.base import Context, Solver, Sweep
from conicnmf.solve.methods.revive import revive
from conicnmf.solve.needs import LossWith, by_component, joint_prox, uncapped
from conicnmf.types import Array, Factors


def counted_codes(block: Block) -> Iterator[str]:
    """Yield why the entries of H have no single price, or are not free but for that."""
    if block.name != "H":
        return
    if not any("price" in p.abilities for p in block.penalties):
        yield f"entries of {block.name} have no cost; add NonZeros(weight)"
    if not block.orthant_only:
        stated = ", ".join(map(str, block.constraints)) or "no constraint"
        yield f"{block.name} must be constrained by NonNegative alone, not {stated}"
    for penalty in block.shaped:
        if "price" not in penalty.abilities:
            yield f"{penalty} on {block.name} is ignored by pursuits"


@dataclass(frozen=True)
class KSVD(Solver[Problem, Array]):
    """Lower scale · ‖V − W H‖² + weight · ‖H‖₀ by new supports, then atom by atom with its codes.

    A pursuit proposes a code for each sample, which is accepted if it costs less than the old code
    after a refit. Then every atom is updated together with its codes, whose zeros are kept. None of
    these steps raises the objective. W may have any constraint on atoms that `HALS` takes.

    Parameters
    ----------
    passes : int
        How many times an atom and its codes are updated before the next atom.

    References
    ----------
    Aharon, Elad and Bruckstein, K-SVD and its non-negative variant for dictionary design, 2005.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> V = np.random.default_rng(0).random((8, 20))
    >>> problem = cn.factorize(V, 4, H=[cn.NonNegative(), cn.NonZeros(0.1)])
    >>> result = problem.solve(cn.KSVD())
    >>> result.status.name, bool((np.diff(result.history.objective) <= 1e-9).all())
    ('CONVERGED', True)
    """

    passes: Count = 2

    solves: ClassVar[type[BaseProblem]] = Problem
    needs: ClassVar = (
        uncapped,
        LossWith(("quadratic",), "which coding steps need"),
        counted_codes,
        by_component,
        joint_prox,
    )

    def mismatches(self, problem: BaseProblem) -> list[str]:
        """Return every reason why it does not fit: it knows products W H alone."""
        found = super().mismatches(problem)
        return found or only_products(problem)

    def merit(self, problem: BaseProblem) -> str:
        """Return why it is picked where each non-zero entry of H has a cost."""
        return "each non-zero entry has a cost, and it changes the supports of whole samples"

    def start(self, problem: Problem, context: Context) -> Array:
        """Keep the squared norms of the samples."""
        return squared_norms(problem.V)

    def sweep(self, problem: Problem, factors: Factors, memo: Array) -> Sweep[Array]:
        """Find supports, renew atoms, give those that are not used other work."""
        atoms, codes = problem.blocks
        form = codes.given(factors).quadratic()
        scale = form.constant / (float(memo.sum()) or 1.0)
        price = sum(p.price() for p in codes.penalties if "price" in p.abilities)
        H = self._coded(form, scale * memo, price, factors["H"])

        def prox(B: Array, k: int, step: float) -> Array:
            assert atoms.prox is not None
            own, last = slice(k, k + 1), atoms.rows(factors)[k : k + 1]
            row = atoms.prox(B, step, own)
            for c in () if atoms.zero_allowed else atoms.constraints:
                row = c.of(own).kept_alive(row, last)
            return np.asarray(row[0])

        step = Atoms(problem.V, prox, scale, atoms.orthant, codes.orthant)
        B, H = step.renewed(atoms.rows(factors), H, self.passes)
        factors = revive(problem, atoms, atoms.put({**factors, "H": H}, B))
        if atoms.scale_free and codes.orthant == (0.0, 0.0):
            factors = unit_columns(factors)
        return Sweep(factors, memo, notes={"atoms": atoms_per_sample(factors["H"])})

    def _coded(self, form: Quadratic, yy: Array, price: float, last: Array) -> Array:
        """Return for each sample the cheaper of its last code, fitted again, and a proposed one."""
        G, C = form.G / 2, form.C / 2
        pursuit = ForwardBackward(float(np.sqrt(price)))
        # At the price 0 nothing more is dropped: least squares on the support.
        tried = [last, eliminate(G, C, yy, last, 0.0), pursuit.code(G, C, yy)]
        costs = np.stack([_costs(G, C, price, H) for H in tried])
        return np.asarray(np.choose(costs.argmin(axis=0), tried), dtype=last.dtype)


def _costs(G: Array, C: Array, price: float, H: Array) -> Array:
    """Return what each code costs, up to the squared norm of its sample."""
    fit = np.einsum("ij,ij->j", G @ H - 2 * C, H, dtype=float)
    return np.asarray(fit + price * np.count_nonzero(H, axis=0))
