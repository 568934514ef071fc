"""Autoencoders that learn sample by sample: what they share, and the solver for all of them.

Such a problem has no codes among its variables. For each batch the codes descend on the energy first,
from what the encoder infers, and then the parameters take one step.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from conicnmf.families.autoencoders.inputs import OfSamples, given, samples_at, sum_squares
from conicnmf.model.base import BaseProblem
from conicnmf.settings import Count, Positive, Whole, checks_arguments
from conicnmf.solve.methods.base import Context, Solver, Sweep
from conicnmf.solve.stop import MaxIter, Stop
from conicnmf.types import Array, Data, Factors


@dataclass(frozen=True, eq=False, repr=False)
class BatchCodes(OfSamples):
    """A loss that is a sum over samples, given codes; its objective is the mean at inferred codes."""

    @abstractmethod
    def codes(self, factors: Factors, X: Data) -> Array:
        """Return the codes that the encoder infers for samples (columns)."""

    @abstractmethod
    def decoded(self, factors: Factors, H: Array) -> Array:
        """Return the reconstruction from codes."""

    @abstractmethod
    def loss(self, factors: Factors, X: Array, H: Array) -> float:
        """Return the loss summed over samples, penalties of parameters counted once a sample."""

    @abstractmethod
    def improved(self, factors: Factors, X: Array, H: Array) -> Array:
        """Return codes after one step that does not raise the loss of any sample."""

    @abstractmethod
    def gradients(self, factors: Factors, X: Array, H: Array) -> Factors:
        """Return the gradient of `loss` in each parameter."""

    @abstractmethod
    def fresh(self, rng: np.random.Generator) -> Factors:
        """Return random parameters."""

    def settled(self, factors: Factors) -> Factors:
        """Return parameters brought to the scale they must keep."""
        return factors

    def objective(self, factors: Factors) -> float:
        """Return the mean loss at the inferred codes."""
        M = self.V.shape[1]
        losses = (self.loss(factors, X, self.codes(factors, X)) for X in _parts(self.V))
        return float(sum(losses) / M)

    def relative_error(self, factors: Factors) -> float:
        """Return ‖V − reconstruction‖²/‖V‖² from inferred codes."""
        error = sum(
            float(np.sum((X - self.decoded(factors, self.codes(factors, X))) ** 2))
            for X in _parts(self.V)
        )
        return error / (sum_squares(self.V) or 1.0)

    @checks_arguments
    def start(self, init: Any, rng: np.random.Generator) -> Factors:
        """Return random parameters, those of `init` where it names them."""
        known = given(init, self.shapes, self.V.dtype)
        drawn = {name: X.astype(self.V.dtype) for name, X in self.fresh(rng).items()}
        return self.settled(drawn | known)


def _parts(V: Data, width: int = 4096) -> Iterator[Array]:
    for begin in range(0, V.shape[1], width):
        yield samples_at(V, slice(begin, begin + width))


@dataclass(frozen=True, eq=False)
class Memo:
    """The seed of the orders, the steps made, and means of gradients and of their squares."""

    seed: int
    count: int = 0
    means: Factors = field(default_factory=dict)
    squares: Factors = field(default_factory=dict)


@dataclass(frozen=True)
class MiniBatch(Solver[BatchCodes, Memo]):
    """Alternating stochastic steps: codes of a batch first, then one step on the parameters.

    An iteration sees every sample once, in a new random order. Each entry of a parameter moves by its
    mean gradient over the root of its mean square (Adam), which knows no scale of the data.

    Parameters
    ----------
    batch : int
        Samples in a batch; 1 is sample by sample.
    rate : float
        The most that an entry of a parameter moves in a step; entries of a filter of norm one are
        about 1/√d.
    code_steps : int
        Descent steps on the codes of each batch.
    decay : float
        After this many iterations the rate has fallen to a half.

    Examples
    --------
    >>> import numpy as np
    >>> from conicnmf.families.autoencoders import MiniBatch, PredictiveCodes
    >>> V = np.random.default_rng(0).standard_normal((16, 60))
    >>> values = PredictiveCodes(V, 4).solve(MiniBatch(batch=10), stop=10).history.objective
    >>> bool(values[-1] < values[0])
    True
    """

    batch: Count = 50
    rate: Positive = 0.003
    code_steps: Whole = 10
    decay: Positive = 20.0

    solves: ClassVar[type[BaseProblem]] = BatchCodes
    monotone: ClassVar[bool] = False
    default_stop: ClassVar[Stop] = MaxIter(20)

    def start(self, problem: BatchCodes, context: Context) -> Memo:
        """Return the memo of the first sweep."""
        return Memo(int(context.rng.integers(2**31)))

    def sweep(self, problem: BatchCodes, factors: Factors, memo: Memo) -> Sweep[Memo]:
        """See every sample once."""
        M = problem.V.shape[1]
        per_sweep = -(-M // self.batch)
        order = np.random.default_rng([memo.seed, memo.count // per_sweep]).permutation(M)
        rate = self.rate / (1 + memo.count / per_sweep / self.decay)
        for begin in range(0, M, self.batch):
            X = samples_at(problem.V, order[begin : begin + self.batch])
            H = problem.codes(factors, X)
            for _ in range(self.code_steps):
                H = problem.improved(factors, X, H)
            slopes = problem.gradients(factors, X, H)
            factors, memo = _adam(factors, slopes, memo, rate)
            factors = problem.settled(factors)
        return Sweep(factors, memo, notes={"rate": rate})

    def pack(self, memo: Memo) -> dict[str, Array]:
        """Return the memo as arrays."""
        means = {f"mean_{name}": X for name, X in memo.means.items()}
        squares = {f"square_{name}": X for name, X in memo.squares.items()}
        return {"counts": np.array([float(memo.seed), float(memo.count)])} | means | squares

    def unpack(self, arrays: dict[str, Array], memo: Memo) -> Memo:
        """Return the memo that `pack` wrote."""
        seed, count = (int(x) for x in arrays["counts"])
        means, squares = (
            {n.removeprefix(kind): X for n, X in arrays.items() if n.startswith(kind)}
            for kind in ("mean_", "square_")
        )
        return Memo(seed, count, means, squares)


def _adam(factors: Factors, slopes: Factors, memo: Memo, rate: float) -> tuple[Factors, Memo]:
    """Return parameters one step on; the first means are corrected for their start at zero."""
    count = memo.count + 1
    means: Factors = {}
    squares: Factors = {}
    moved: Factors = {}
    for name, slope in slopes.items():
        means[name] = 0.9 * memo.means.get(name, np.zeros_like(slope)) + 0.1 * slope
        old = memo.squares.get(name, np.zeros_like(slope))
        squares[name] = 0.999 * old + 0.001 * slope * slope
        mean, square = means[name] / (1 - 0.9**count), squares[name] / (1 - 0.999**count)
        size = np.sqrt(square)
        change = rate * mean / (size + 1e-8 * (float(size.max(initial=0.0)) or 1.0))
        moved[name] = np.asarray(factors[name] - change, factors[name].dtype)
    return moved, Memo(memo.seed, count, means, squares)
