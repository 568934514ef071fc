"""Recognize likelihoods, stated as a function of the model plus a linear part of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from cvxpy.atoms.elementwise.log import log
from cvxpy.atoms.elementwise.logistic import logistic
from cvxpy.atoms.elementwise.rel_entr import rel_entr
from scipy.special import xlogy

from conicnmf.model.losses import KullbackLeibler, Logistic
from conicnmf.model.reading.chains import ReadChain, ReadRef
from conicnmf.model.reading.parts import Part
from conicnmf.model.reading.read_fit import ReadFit, entries_of, fitted, read_model, unit_of
from conicnmf.model.reading.residual import Residual, as_csr, inverse
from conicnmf.model.reading.values import value_of
from conicnmf.types import Array, Data, stored


def read_likelihood(parts: Sequence[Part]) -> ReadFit | None:
    """Return a part with the model in a logarithm or an exponential and a linear one as one loss.

    Poisson's M∘p − N∘log p is a divergence of the data N/M, and so is a relative entropy plus M∘p;
    M∘log(1 + exp p) − N∘p is the logistic loss of the data N/M.
    """
    (coefficient, head), (slope, linear) = parts
    curved, straight = entries_of(head), entries_of(linear)
    if curved is None or straight is None:
        return None
    weights, inner = curved
    model, seen = read_model(straight[1]), read_model(inner.args[-1]) if inner.args else None
    if model is None or seen is None or not _same_products(model, seen):
        return None
    line = _matrix(slope * unit_of(model), straight[0], model)
    if isinstance(inner, logistic):
        return _logistic(seen, _matrix(coefficient, weights, seen), line)
    if isinstance(inner, log):
        return _poisson(seen, _matrix(-coefficient, weights, seen), line)
    if isinstance(inner, rel_entr) and inner.args[0].is_constant():
        V = seen.undone(value_of(inner.args[0]))
        return _poisson(seen, as_csr(_matrix(coefficient, weights, seen) * V), line, V)
    return None


def _poisson(seen: Residual, N: Data, M: Data, entropy_of: Data | None = None) -> ReadFit | None:
    """Return M∘p − N∘log(s p), with N∘log V where V stands in a relative entropy."""
    unit = unit_of(seen)
    V = _divided(N, M)
    if V is None or unit <= 0 or stored(N).min(initial=0.0) < 0:
        return None
    counts = stored(N)
    offset = float(np.sum(counts - xlogy(counts, stored(V)) - counts * np.log(unit)))
    if entropy_of is not None:
        offset += float(np.sum(xlogy(stored(N), stored(entropy_of))))
    weights, scale = _weights(M)
    return fitted(seen, V, weights, lambda _, w: KullbackLeibler(weights=w, scale=scale), offset)


def _logistic(seen: Residual, M: Data, slope: Data) -> ReadFit | None:
    """Return M∘log(1 + exp p) − N∘p."""
    V = _divided(-slope, M)
    if V is None or unit_of(seen) != 1 or not np.isclose(stored(V) * (1 - stored(V)), 0).all():
        return None
    V = V.round()
    weights, scale = _weights(M)
    return fitted(seen, V, weights, lambda _, w: Logistic(weights=w, scale=scale))


def _matrix(coefficient: float, weights: Data | None, residual: Residual) -> Data:
    """Return coefficients in the shape of the products; equal ones are stored once."""
    shape = residual.products[0].shape
    if weights is None:
        return np.broadcast_to(np.float64(coefficient), shape)
    return as_csr(coefficient * residual.undone(weights))


def _divided(N: Data, M: Data) -> Data | None:
    """Return N/M, nothing where N has entries that M has not, or M negative ones."""
    if stored(M).min(initial=0.0) < 0 or not np.any(stored(M)):
        return None
    V = as_csr(N * inverse(M))
    lost = abs(as_csr(N - V * M)).max()
    return V if lost <= 1e-12 * abs(N).max() else None


def _weights(M: Data) -> tuple[Data | None, float]:
    """Return weights and a scale: no weights where all are equal."""
    equal = isinstance(M, np.ndarray) and M.min() == M.max()
    return (None, float(M.flat[0])) if equal else (M, 1.0)


def _same_products(one: Residual, other: Residual) -> bool:
    if len(one.products) != len(other.products):
        return False
    units = unit_of(one) / one.scale, unit_of(other) / other.scale
    pairs = zip(one.products, other.products, strict=True)
    return all(
        np.isclose(a.scale / units[0], b.scale / units[1], atol=0) and _same_chain(a, b)
        for a, b in pairs
    )


def _same_chain(one: ReadChain, other: ReadChain) -> bool:
    pairs = zip(one.factors, other.factors, strict=False)
    return len(one.factors) == len(other.factors) and all(_same_factor(a, b) for a, b in pairs)


def _same_factor(one: ReadRef | Array, other: ReadRef | Array) -> bool:
    if isinstance(one, ReadRef) and isinstance(other, ReadRef):
        placed = one.variable.id == other.variable.id and one.flipped == other.flipped
        return placed and _equal(one.mask, other.mask)
    arrays = not isinstance(one, ReadRef) and not isinstance(other, ReadRef)
    return arrays and np.array_equal(np.asarray(one), np.asarray(other))


def _equal(one: Array | None, other: Array | None) -> bool:
    if one is None or other is None:
        return one is other
    return np.array_equal(one, other)
