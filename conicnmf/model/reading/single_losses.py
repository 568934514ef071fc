"""Recognize losses that CVXPY has an atom for: divergences, Huber's function, magnitudes."""

from __future__ import annotations

from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from cvxpy.atoms.elementwise.abs import abs as elementwise_abs
from cvxpy.atoms.elementwise.huber import huber
from cvxpy.atoms.elementwise.kl_div import kl_div
from cvxpy.atoms.elementwise.logistic import logistic

from conicnmf.model.losses import Absolute, Huber, KullbackLeibler, Logistic
from conicnmf.model.reading.read_fit import ReadFit, entries_of, fitted, unit_of
from conicnmf.model.reading.residual import Residual, read_residual
from conicnmf.model.reading.values import value_of
from conicnmf.types import Data, stored


def read_single(coefficient: float, part: cp.Expression) -> ReadFit | None:
    """Return coefficient · part as a loss that one atom states, nothing for another.

    Examples
    --------
    >>> W, H = cp.Variable((2, 1)), cp.Variable((1, 3))
    >>> read_single(2.0, cp.sum(cp.huber(np.ones((2, 3)) - W @ H, 0.5))).loss
    Huber(delta=0.5, scale=2)
    """
    entries = entries_of(part)
    if entries is None or coefficient <= 0:
        return None
    weights, inner = entries
    if isinstance(inner, kl_div):
        return _divergence(coefficient, weights, *inner.args)
    if isinstance(inner, huber):
        return _huber(coefficient, weights, inner)
    if isinstance(inner, elementwise_abs):
        return _absolute(coefficient, weights, inner.args[0])
    if isinstance(inner, logistic):
        return _odds(coefficient, weights, inner.args[0])
    return None


def _divergence(
    coefficient: float, weights: Data | None, data: cp.Expression, model: cp.Expression
) -> ReadFit | None:
    """Return KL(V | s P) as s times KL(V/s | P), for all entries or for some."""
    found = read_residual(model) if data.is_constant() and data.shape == model.shape else None
    if found is None or found.V is not None or found.rest is not None or unit_of(found) <= 0:
        return None
    own = _undone(found, weights)
    if found.weights is not None:
        if not np.isin(stored(found.weights), (0, 1)).all():
            return None
        own = found.weights if own is None else own * found.weights
    V = found.undone(value_of(data)) / unit_of(found)
    return fitted(
        found,
        V,
        own,
        lambda unit, M: KullbackLeibler(weights=M, scale=coefficient * unit),
    )


def _huber(coefficient: float, weights: Data | None, atom: Any) -> ReadFit | None:
    """Return huber(s m r, δ) as (s m)² huber(r, δ/(s m)), for one weight m inside or a mask."""
    found = read_residual(atom.args[0])
    if found is None or found.V is None or (found.rest is not None and weights is not None):
        return None
    own, size = _undone(found, weights), 1.0
    if found.weights is not None:
        inside = np.unique(np.abs(stored(found.weights)))
        inside = inside[inside > 0]
        if inside.size != 1:
            return None
        size, mask = float(inside[0]), (found.weights != 0).astype(float)
        own = mask if own is None else own * mask
    delta = float(atom.M.value)
    offset = 0.0 if found.rest is None else _sum(cp.huber(stored(found.rest), delta))
    return fitted(
        found,
        found.V / found.products[0].scale,
        own,
        lambda unit, M: Huber(
            delta / abs(unit * size), weights=M, scale=coefficient * (unit * size) ** 2
        ),
        coefficient * offset,
    )


def _absolute(coefficient: float, weights: Data | None, argument: cp.Expression) -> ReadFit | None:
    """Return |s m r| as s m |r|."""
    found = read_residual(argument)
    if found is None or found.V is None or (found.rest is not None and weights is not None):
        return None
    own = _undone(found, weights)
    if found.weights is not None:
        inside = abs(found.weights)
        own = inside if own is None else own * inside
    offset = 0.0 if found.rest is None else float(np.sum(np.abs(stored(found.rest))))
    return fitted(
        found,
        found.V / found.products[0].scale,
        own,
        lambda unit, M: Absolute(weights=M, scale=coefficient * abs(unit)),
        coefficient * offset,
    )


def _odds(coefficient: float, weights: Data | None, argument: cp.Expression) -> ReadFit | None:
    """Return log(1 + exp(−s p)) for signs s as the logistic loss of the data (s + 1)/2."""
    found = read_residual(argument)
    if found is None or found.V is not None or found.weights is None or sp.issparse(found.weights):
        return None
    signs = -unit_of(found) * found.weights
    if not (np.abs(signs) == 1).all():
        return None
    return fitted(
        found,
        (signs > 0).astype(float),
        _undone(found, weights),
        lambda _, M: Logistic(weights=M, scale=coefficient),
    )


def _undone(found: Residual, weights: Data | None) -> Data | None:
    return None if weights is None else found.undone(weights)


def _sum(costs: cp.Expression) -> float:
    return float(np.sum(costs.value))
