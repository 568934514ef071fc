"""What the experiments of Thom, Schweiger and Palm (2011) on digits share."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

import conicnmf as cn
from conicnmf.families.autoencoders import SCFC, FastCodes, Ramp, standardize, windows
from conicnmf.types import Array
from experiments.linear_svm import OneVsOne
from experiments.resumed import resumed

PAPER = (
    "Thom, Schweiger and Palm, Supervised matrix factorization with sparseness constraints, 2011"
)
IMAGE = (28, 28)
COSTS = (0.003, 0.01, 0.03)
"""Values of C to choose from on held-out training digits."""
HELD = 6
"""One of so many training digits is held out to judge C."""
ENOUGH = 20000
"""From so many of the others, at most, the machines learn that judge C."""

SPARSE, NEARLY_ALL = 0.03, 0.99
"""The paper's estimate is within this of the mean sparseness of code words, of which so many are within
0.1 of their mean."""

Labels = NDArray[np.intp]


@dataclass(frozen=True, eq=False)
class Digits:
    """Standardized digits (columns) and their classes, to learn from and to test on."""

    V: Array
    y: Labels
    V_test: Array
    y_test: Labels

    @classmethod
    def load(cls, count: int, tests: int = 10000, seed: int = 1) -> Digits:
        """Return `count` random training digits of MNIST and the first test digits."""
        data = cn.datasets.load("mnist", n_samples=None if count == 60000 else count, seed=seed)
        assert data.target is not None
        test, target = data.extra["V_test"][:, :tests], data.extra["target_test"][:tests]
        return cls(_ready(data.V), np.asarray(data.target), _ready(test), np.asarray(target))

    @classmethod
    def held_out(cls, count: int, tests: int, seed: int = 7) -> Digits:
        """Return `count` training digits to learn from and `tests` others of them to judge by."""
        data = cn.datasets.load("mnist", n_samples=count + tests, seed=seed)
        assert data.target is not None
        V, y = _ready(data.V), np.asarray(data.target)
        return cls(V[:, tests:].copy(), y[tests:], V[:, :tests].copy(), y[:tests])


def _ready(V: Array) -> Array:
    return np.asarray(standardize(V.astype(np.float32)))


def svm_error(
    codes: Array,
    y: Labels,
    codes_test: Array,
    y_test: Labels,
    costs: Sequence[float] = COSTS,
) -> tuple[float, float]:
    """Return the test error in percent and the C that was best on held-out training digits.

    Examples
    --------
    >>> codes = np.repeat(np.eye(2), 12, axis=1)
    >>> y = np.repeat([0, 1], 12)
    >>> svm_error(codes, y, codes, y)[0]
    0.0
    """
    X, X_test = (np.asarray(H.T, dtype=np.float64) for H in (codes, codes_test))
    held = np.random.default_rng(0).permutation(len(X)) < len(X) // HELD
    best = costs[0]
    if len(costs) > 1:
        own = np.flatnonzero(~held)[:ENOUGH]
        errors = [OneVsOne.fit(X[own], y[own], c).error(X[held], y[held]) for c in costs]
        best = costs[int(np.argmin(errors))]
    return 100 * OneVsOne.fit(X, y, best).error(X_test, y_test), best


def how_chosen(count: int) -> str:
    """Say how `svm_error` chooses C for so many training digits.

    Examples
    --------
    >>> how_chosen(600)
    'C is the best of the values tried on 100 training digits, by machines that learn from 500 others.'
    """
    held = count // HELD
    return (
        f"C is the best of the values tried on {held} training digits, by machines that learn from "
        f"{min(count - held, ENOUGH)} others."
    )


def how_sure(error: float, tests: int) -> str:
    """Say how far an error in percent may be off by the chance of so many test digits.

    Examples
    --------
    >>> how_sure(2.5, 10000)
    'An error of 2.5 % on 10000 test digits has a standard error of 0.16 %.'
    """
    spread = np.sqrt(error * (100 - error) / tests)
    return (
        f"An error of {error:.1f} % on {tests} test digits has a standard error of {spread:.2f} %."
    )


@dataclass(frozen=True)
class Learning:
    """How filters are learned; `name` is what long runs are kept under."""

    rank: int
    sparseness_w: float = 0.8
    sparseness_h: float = 0.7
    iterations: int = 160
    ramp: int = 20
    alpha_i: float = 0.5
    alpha_c: float | None = None
    signed_start: bool = False
    name: str = ""

    def statement(self, V: Array, y: Any = None) -> FastCodes:
        """Return the problem."""
        sizes = self.rank, self.sparseness_w, self.sparseness_h
        return FastCodes(V, *sizes, y=y, alpha_i=self.alpha_i, alpha_c=self.alpha_c)

    def start(self, V: Array, seed: int = 0) -> dict[str, Array]:
        """Return local filters to start from."""
        signed = self.signed_start
        return {"W": windows(V, self.rank, IMAGE, seed=seed, signed=signed)}

    def run(self, V: Array, y: Any = None, seed: int = 0, progress: bool = False) -> cn.Result:
        """Learn filters, the weight of inference rising over the first iterations."""
        return resumed(
            f"{self.name}-{seed}" if self.name else "",
            self.statement(V, y),
            SCFC(Ramp(self.ramp)),
            init=self.start(V, seed),
            stop=self.iterations,
            seed=seed,
            progress=progress,
        )


def code_sparseness(result: cn.Result, sparseness_h: float) -> tuple[float, float, float]:
    """Return the mean sparseness of code words, the paper's estimate of it, and the share near it.

    A code word is near when its sparseness is within 0.1 of the mean.
    """
    found = cn.sparseness(result.H, axis=0)
    found = found[~np.isnan(found)]
    n, M = result.H.shape
    estimate = sparseness_h * (np.sqrt(n) - np.sqrt(n / M)) / (np.sqrt(n) - 1)
    mean = float(found.mean())
    return mean, float(estimate), float(np.mean(np.abs(found - mean) <= 0.1))
