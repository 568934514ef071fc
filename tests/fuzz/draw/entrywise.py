"""Losses that are sums over entries: divergences, robust ones, log-odds."""

from __future__ import annotations

from dataclasses import replace

import cvxpy as cp
import numpy as np
import scipy.sparse as sp

import conicnmf as cn

from ..judge import measures
from .losses import DrawnLoss
from .numbers import chance, pick, short

KINDS = {"kl": 3, "beta": 2, "is": 1, "huber": 2, "absolute": 2, "logistic": 1}


def draw_entrywise(rng, dense, nonneg):
    """Draw a loss; `nonneg` says that the model cannot be negative.

    Data that break the rule of the loss are drawn now and then, and must be refused.
    """
    kinds = dict(KINDS)
    if not nonneg:
        kinds |= dict.fromkeys(("kl", "beta", "is"), 0)
    hostile = chance(rng, 0.1)
    if not hostile:
        wrong = {
            ("kl", "beta"): dense.min() < 0,
            ("is",): dense.min() <= 0,
            ("logistic",): not np.isin(dense, (0, 1)).all(),
        }
        kinds |= {name: 0 for names, own in wrong.items() if own for name in names}
    drawn = _MAKERS[pick(rng, kinds)](rng, dense)
    return _weighted(rng, dense, drawn) if chance(rng, 0.25) and not drawn.refuses else drawn


def _sum(cost, text, make, algebra=None, degree=2.0, refuses=False, size=None):
    """Return a loss from what each entry costs."""
    return DrawnLoss(
        text,
        make,
        None if refuses else algebra,  # as an expression it is kept as it is
        lambda X: float(cost(X).sum()),
        entries=cost,
        degree=degree,
        refuses=refuses,
        most=size,
    )


def _divergence(dense, beta, text, make, algebra=None):
    refuses = bool(dense.min() < 0 or (beta <= 0 and dense.min() <= 0))

    power = max(beta, 1.0)

    def size(most):
        return float((np.abs(dense) ** power + 2 * most**power).sum() + dense.size)

    def cost(X):
        return measures.divergence(dense, X, beta)

    return _sum(cost, text, make, algebra, beta, refuses, size)


def _kl(rng, dense):
    return _divergence(
        dense,
        1.0,
        "KullbackLeibler()",
        cn.KullbackLeibler,
        lambda V, X: cp.sum(cp.kl_div(V, X)),
    )


def _beta(rng, dense):
    beta = float(pick(rng, {0.5: 1, 1.5: 2, 2.0: 1, 3.0: 1}))
    return _divergence(dense, beta, f"BetaDivergence({beta:g})", lambda: cn.BetaDivergence(beta))


def _is(rng, dense):
    return _divergence(dense, 0.0, "ItakuraSaito()", cn.ItakuraSaito)


def _huber(rng, dense):
    edge = short(float(np.abs(dense).mean()) * rng.uniform(0.1, 2) or 1.0)
    return _sum(
        lambda X: measures.huber_entries(dense, X, edge),
        f"Huber({edge:.3g})",
        lambda: cn.Huber(edge),
        lambda V, X: cp.sum(cp.huber(V - X, edge)),
    )


def _absolute(rng, dense):
    return _sum(
        lambda X: np.abs(dense - X),
        "Absolute()",
        cn.Absolute,
        lambda V, X: cp.sum(cp.abs(V - X)),
        degree=1.0,
    )


def _logistic(rng, dense):
    return _sum(
        lambda X: np.logaddexp(0, X) - dense * X,
        "Logistic()",
        cn.Logistic,
        lambda V, X: cp.sum(cp.logistic(X) - cp.multiply(V, X)),
        degree=0.0,
        refuses=not np.isin(dense, (0, 1)).all(),
        size=lambda most: float((1 + most).sum()),
    )


def _weighted(rng, dense, drawn):
    """Multiply the entries of a loss by weights."""
    M = (rng.random(dense.shape) > 0.3) * rng.uniform(0.2, 2.0, dense.shape)
    M[0, 0] = 1.0
    given = sp.csr_array(M) if chance(rng, 0.3) else M
    cost = drawn.entries

    def value(X):
        return float((M * np.where(M > 0, cost(X), 0.0)).sum())

    return replace(
        drawn,
        text=f"{drawn.text} with weights",
        term=lambda: replace(drawn.term(), weights=given),
        algebra=None,
        value=value,
        weights=np.sqrt(M),
        inputs=(given,),
    )


_MAKERS = {
    "kl": _kl,
    "beta": _beta,
    "is": _is,
    "huber": _huber,
    "absolute": _absolute,
    "logistic": _logistic,
}
