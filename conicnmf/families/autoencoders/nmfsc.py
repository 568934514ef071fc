"""NMFSC: exact sparseness by projected gradient steps, and its inference for new samples."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from conicnmf.errors import InputError
from conicnmf.families.autoencoders.exact_codes import ExactCodes
from conicnmf.families.autoencoders.step_sizes import StepSize, StepSizes, pack_steps, unpack_steps
from conicnmf.families.autoencoders.steps import Shape
from conicnmf.model.base import BaseProblem
from conicnmf.solve.methods.base import Context, Solver, Sweep
from conicnmf.solve.stop import MaxIter, RelDecrease, Stop
from conicnmf.types import Array, Factors


def without_encoder(problem: ExactCodes) -> Iterator[str]:
    """Yield a reason unless W and H are all there is to find."""
    if set(problem.shapes) != {"W", "H"}:
        yield "it finds filters and codes of exact sparseness (ExactCodes) and no encoder"


@dataclass(frozen=True, eq=False)
class Memo:
    """The filters and codes before the last iteration, and the steps."""

    before: dict[str, Array] = field(default_factory=dict)
    steps: StepSizes = field(default_factory=dict)


@dataclass(frozen=True)
class NMFSC(Solver[ExactCodes, Memo]):
    """Gradient steps on H and on W, each projected on its sparseness; the error never rises.

    Parameters
    ----------
    momentum : float
        The largest part of the last change that is added to the next; 0 is the plain method.
    max_halvings : int
        How often a step may be halved before its factor is left as it is.

    References
    ----------
    Hoyer, Non-negative matrix factorization with sparseness constraints, JMLR 2004.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> from conicnmf.families.autoencoders import ExactCodes, NMFSC
    >>> V = np.random.default_rng(0).random((16, 60))
    >>> result = ExactCodes(V, 4, sparseness_w=0.6).solve(NMFSC(), stop=20)
    >>> cn.sparseness(result.W, axis=0).round(6)
    array([0.6, 0.6, 0.6, 0.6])
    """

    momentum: float = 0.95
    max_halvings: int = 20

    solves: ClassVar[type[BaseProblem]] = ExactCodes
    needs: ClassVar = (without_encoder,)
    default_stop: ClassVar[Stop] = MaxIter(500) | RelDecrease(1e-5)

    def start(self, problem: ExactCodes, context: Context) -> Memo:
        """Return the memo of the first sweep."""
        return Memo()

    def sweep(self, problem: ExactCodes, factors: Factors, memo: Memo) -> Sweep[Memo]:
        """Step on H, then on W."""
        B, H = np.ascontiguousarray(factors["W"].T), factors["H"]
        before, steps = memo.before or {"B": B, "H": H}, memo.steps or _first_steps(B, H)
        now = {"B": B, "H": H}
        G, P = B @ B.T, B @ problem.V
        value = _error(problem.size, P, H, G, H @ H.T)
        gradient = 2 * (G @ H - P)
        for momentum, step in steps["H"].tries(self.momentum, self.max_halvings):
            new = problem.code_shape.advance(H, before["H"], gradient, momentum, step)
            error = _error(problem.size, P, new, G, new @ new.T)
            if error <= value:
                H, value = new, error
                break
        HH, target = H @ H.T, H @ problem.V.T
        gradient = 2 * (HH @ B - target)
        for momentum, step in steps["W"].tries(self.momentum, self.max_halvings):
            new = problem.filter_shape.advance(B, before["B"], gradient, momentum, step)
            error = _error(problem.size, target, new, new @ new.T, HH)
            if error <= value:
                B, value = new, error
                break
        notes = {f"step_{name}": step_size.step for name, step_size in steps.items()}
        return Sweep({"W": B.T, "H": H}, Memo(now, steps), max(value, 0.0), notes=notes)

    def pack(self, memo: Memo) -> dict[str, Array]:
        """Return the memo as arrays."""
        return memo.before | pack_steps(memo.steps)

    def unpack(self, arrays: dict[str, Array], memo: Memo) -> Memo:
        """Return the memo that `pack` wrote."""
        before: dict[str, Array] = {n: arrays[n] for n in ("B", "H") if n in arrays}
        return replace(memo, before=before, steps=unpack_steps(arrays))


def _first_steps(B: Array, H: Array) -> StepSizes:
    sizes = {"H": float(np.linalg.norm(B, 2)), "W": float(np.linalg.norm(H, 2))}
    return {name: StepSize(1 / (2 * size**2 or 1.0)) for name, size in sizes.items()}


def _error(size: float, target: Array, X: Array, A: Array, B: Array) -> float:
    """Return ‖V − WH‖² from products."""
    return size - 2 * float(np.vdot(target, X)) + float(np.vdot(A, B))


def code_norms(H: Array) -> tuple[float, float]:
    """Return the mean l₁ and l₂ norm of the codes (columns).

    Examples
    --------
    >>> code_norms(np.array([[3.0, 0.0], [4.0, 1.0]]))
    (4.0, 3.0)
    """
    return float(np.abs(H).sum(axis=0).mean()), float(np.linalg.norm(H, axis=0).mean())


def infer_exact(
    X: Array, W: Array, l1: float, l2: float, nonneg: bool = True, max_iter: int = 200
) -> Array:
    """Return codes with ‖h‖₁ = l1 and ‖h‖₂ = l2 that reconstruct samples (columns) well.

    Each step moves a code by the inverse of the largest curvature and projects it exactly, so that
    no error ever rises; it ends when none falls by more than 10⁻⁴ of the sample's square.

    Parameters
    ----------
    X : array of shape (d, M)
    W : array of shape (d, n)
    l1, l2 : float
        Norms of every code, such as the `code_norms` of the training codes.
    nonneg : bool
        Whether codes are non-negative.
    max_iter : int

    Examples
    --------
    >>> infer_exact(np.array([[2.0], [1.0]]), np.eye(2), 1.4, 1.0).round(6)
    array([[0.8],
           [0.6]])
    """
    if not 0 < l2 <= l1 * (1 + 1e-12):
        raise InputError(f"norms of codes need 0 < l2 <= l1, got l1={l1}, l2={l2}; see code_norms")
    shape = Shape(l1 / l2, l2, not nonneg)
    G, C = W.T @ W, np.ascontiguousarray((W.T @ X).T)
    step = 1 / (2 * float(np.linalg.norm(G, 2)) or 1.0)
    H = shape.project(C)
    size = np.maximum(np.einsum("ij,ij->j", X, X), np.finfo(C.dtype).tiny)
    before = np.full(len(C), np.inf)
    for _ in range(max_iter):
        GH = H @ G
        error = np.einsum("ij,ij->i", GH - 2 * C, H)
        if np.all(before - error <= 1e-4 * size):
            break
        before = error
        H = shape.advance(H, H, 2 * (GH - C), 0.0, step)
    return H.T
