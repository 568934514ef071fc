"""The cone path: a plain CVXPY alternation, the rival that does not move with this package.

It is written once and stays as it is: nothing of the package's solvers is imported, and a change
here changes every ratio that was ever measured against it. One iteration solves one convex program
for each variable in turn, the others held, with a cone solver and from given starts.

What is generous to it: losses of squares are reduced to the size of the variable by QR of what
stands left and right of it; programs are compiled once, with Parameters for the numbers that
change, and kept from run to run, so only the first run pays for canonicalization. Where the rules
for Parameters (DPP) do not hold, a program is built again with constants.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce
from typing import Any

import cvxpy as cp
import numpy as np

Matrix = np.ndarray[Any, np.dtype[np.float64]]
Values = dict[cp.Variable, Matrix]
Program = Callable[[Values], Matrix]


@dataclass(frozen=True, eq=False)
class Squares:
    """weight · ‖V − Σ products‖², each product a row of variables and constant matrices.

    No variable stands twice in one of these.
    """

    V: Matrix
    products: Sequence[Sequence[Any]]
    weight: float = 1.0

    def value(self, values: Mapping[cp.Variable, Matrix]) -> float:
        """Return the loss from its residual."""
        rest = self.V - sum(_product(p, values) for p in self.products)
        return self.weight * float(np.vdot(rest, rest))

    def around(self, X: cp.Variable, values: Values) -> tuple[Matrix | None, Matrix, Matrix | None]:
        """Return L, T and R of the loss ‖T − L X R‖² of one variable; None is the identity."""
        (mine,) = (p for p in self.products if any(factor is X for factor in p))
        others = [p for p in self.products if p is not mine]
        at = next(k for k, factor in enumerate(mine) if factor is X)
        root = np.sqrt(self.weight)
        T = root * (self.V - sum((_product(p, values) for p in others), np.zeros_like(self.V)))
        left = _product(mine[:at], values) if at else None
        right = _product(mine[at + 1 :], values) if at + 1 < len(mine) else None
        if left is not None:
            return root * left, T, right
        return None, T, root * right if right is not None else root * np.eye(X.shape[1])

    def mentions(self, X: cp.Variable) -> bool:
        """Whether the variable stands in a product."""
        return any(factor is X for p in self.products for factor in p)


@dataclass(frozen=True, eq=False)
class Sparse:
    """Sparseness of at least s for the columns of X (axis 0) or its rows (axis 1).

    The bound is not convex; each program has one tangent plane for each of them instead, at the
    value before, which keeps a start that meets the bound inside of it.
    """

    X: cp.Variable
    s: float
    axis: int = 0

    def plane(self) -> tuple[cp.Constraint, cp.Parameter]:
        """Return the planes and the Parameter that holds the directions."""
        D = cp.Parameter(self.X.shape, nonneg=True)
        n = self.X.shape[self.axis]
        ratio = np.sqrt(n) - (np.sqrt(n) - 1) * self.s
        along = cp.sum(cp.multiply(D, self.X), axis=self.axis)
        return cp.sum(self.X, axis=self.axis) <= ratio * along, D

    def direction(self, value: Matrix) -> Matrix:
        """Return the columns or rows of length one."""
        norms = np.linalg.norm(value, axis=self.axis, keepdims=True)
        return np.maximum(value, 0.0) / np.maximum(norms, 1e-12)


@dataclass
class Trace:
    """The objective after each iteration, the seconds from the begin to there, the last values."""

    objective: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    values: Values = field(default_factory=dict)


class ConePath:
    """Alternate over the variables.

    Parameters
    ----------
    variables : sequence of cvxpy.Variable
        In the order of a sweep.
    squares : sequence of Squares
        The losses that are reduced.
    rest : cvxpy.Expression or 0
        The rest of the objective: losses of several variables and penalties of one, convex in each.
    constraints : sequence of cvxpy.Constraint
        Each convex, on one variable.
    sparse : sequence of Sparse
    backend : str
        A solver of CVXPY.
    """

    def __init__(
        self,
        variables: Sequence[cp.Variable],
        squares: Sequence[Squares] = (),
        rest: Any = 0,
        constraints: Sequence[cp.Constraint] = (),
        sparse: Sequence[Sparse] = (),
        backend: str = cp.CLARABEL,
        timer: Callable[[], float] = time.process_time,
    ) -> None:
        self.variables, self.squares, self.constraints = variables, squares, constraints
        self.rest = _addends(cp.Constant(0) + rest)
        self.sparse, self.backend, self.timer = sparse, backend, timer
        self._programs: dict[cp.Variable, Program] = {}

    def objective(self, values: Values) -> float:
        """Return the objective as it is stated."""
        for X in self.variables:
            X.save_value(values[X])
        own = sum(float(addend.value) for addend in self.rest)
        return own + sum(loss.value(values) for loss in self.squares)

    def run(
        self,
        start: Mapping[cp.Variable, Matrix],
        iterations: int,
        late: Callable[[], bool] = lambda: False,
    ) -> Trace:
        """Alternate from a start, until it is late at the longest."""
        values = {X: np.array(start[X], dtype=float) for X in self.variables}
        trace, begin = Trace(values=values), self.timer()
        for _ in range(iterations):
            for X in self.variables:
                if X not in self._programs:
                    self._programs[X] = self._program(X, values)
                values[X] = self._programs[X](values)
            trace.objective.append(self.objective(values))
            trace.seconds.append(self.timer() - begin)
            if late():
                break
        return trace

    def _program(self, X: cp.Variable, values: Values) -> Program:
        """Compile the program of one variable."""
        reduced = _Reduced(X, [loss for loss in self.squares if loss.mentions(X)], values)
        own = [c for c in self.constraints if any(v is X for v in c.variables())]
        planes = [(bound, *bound.plane()) for bound in self.sparse if bound.X is X]
        own += [plane for _, plane, _ in planes]
        addends = [a for a in self.rest if any(v is X for v in a.variables())]
        held = {
            Y: cp.Parameter(Y.shape, nonneg=Y.is_nonneg()) for Y in self.variables if Y is not X
        }
        swapped = [a.tree_copy({id(Y): P for Y, P in held.items()}) for a in addends]
        program = cp.Problem(cp.Minimize(reduced.expression + sum(swapped)), own)
        dpp = program.is_dcp(dpp=True)

        def solved(values: Values) -> Matrix:
            reduced.update(values)
            for bound, _, D in planes:
                D.value = bound.direction(values[X])
            current = program
            if dpp:
                for Y, P in held.items():
                    P.value = values[Y]
            else:
                constants = {id(Y): cp.Constant(values[Y]) for Y in held}
                anew = [a.tree_copy(constants) for a in addends]
                current = cp.Problem(cp.Minimize(reduced.expression + sum(anew)), own)
            current.solve(solver=self.backend)
            if X.value is None:
                raise RuntimeError(f"{self.backend} ended with {current.status} on {X.name()}")
            return np.maximum(X.value, 0.0) if X.is_nonneg() else np.array(X.value)

        return solved


class _Reduced:
    """The squares that mention one variable, as an expression of Parameters of its size."""

    def __init__(self, X: cp.Variable, losses: Sequence[Squares], values: Values) -> None:
        self.X, self.losses = X, losses
        self.parameters: list[tuple[cp.Parameter, ...]] = []
        self.expression: Any = cp.Constant(0)
        for A, T, how in self._numbers(values):
            P, Q = cp.Parameter(A.shape), cp.Parameter(T.shape)
            self.parameters.append((P, Q))
            fit = {"left": lambda P: P @ X, "right": lambda P: X @ P, "both": self._both}[how](P)
            self.expression += cp.sum_squares(Q - fit)

    def update(self, values: Values) -> None:
        """Set the Parameters from the other variables."""
        for (P, Q), (A, T, _) in zip(self.parameters, self._numbers(values), strict=True):
            P.value, Q.value = A, T

    def _both(self, P: cp.Parameter) -> cp.Expression:
        return P @ cp.vec(self.X, order="F")

    def _numbers(self, values: Values) -> Iterable[tuple[Matrix, Matrix, str]]:
        """Return the reduced matrix, the reduced data and the side, losses of a side together."""
        sides = [loss.around(self.X, values) for loss in self.losses]
        lefts = [(L, T) for L, T, R in sides if R is None]
        if lefts:
            Q, A = np.linalg.qr(np.vstack([L for L, _ in lefts]))
            yield A, Q.T @ np.vstack([T for _, T in lefts]), "left"
        rights = [(R, T) for L, T, R in sides if L is None]
        if rights:
            Q, A = np.linalg.qr(np.hstack([R for R, _ in rights]).T)
            yield A.T, np.hstack([T for _, T in rights]) @ Q, "right"
        for L, T, R in sides:
            if L is not None and R is not None:
                (Q, A), (P, B) = np.linalg.qr(L), np.linalg.qr(R.T)
                yield np.kron(B, A), (Q.T @ T @ P).ravel(order="F"), "both"


def _product(factors: Sequence[Any], values: Mapping[cp.Variable, Matrix]) -> Matrix:
    known = [values[f] if isinstance(f, cp.Variable) else f for f in factors]
    return np.asarray(reduce(np.matmul, known))


def _addends(expression: cp.Expression) -> list[cp.Expression]:
    """Return what a sum is made of."""
    if isinstance(expression, cp.atoms.affine.add_expr.AddExpression):
        return [addend for part in expression.args for addend in _addends(part)]
    return [expression]
