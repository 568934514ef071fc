"""Estimators as scikit-learn uses them: fit, transform and back, in batches, on any X."""

from __future__ import annotations

import pickle
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.special import expit
from sklearn.base import clone

import conicnmf as cn

from ..draw.data import Data, draw_data
from ..draw.numbers import chance, pick
from ..judge import measures
from ..judge.checked import near, run_checks
from ..judge.findings import Finding

NMF = {"nonneg": True, "codes": True}
SKLEARN = NMF | {"positive": True}
BATCHES = SKLEARN | {"complete": True}
KINDS: dict[str, dict[str, Any]] = {
    "SparseNMF({r})": NMF,
    "SparseNMF({r}, sparseness=0.4)": NMF | {"band": (0.4, 1.0)},
    "SparseNMF({r}, sparseness=(0.2, 0.6), n_starts=2)": NMF | {"band": (0.2, 0.6)},
    "SparseNMF({r}, code_sparseness=0.3)": NMF | {"code_band": (0.3, 1.0)},
    "SparseNMF({r}, code_sparseness=0.3, code_each='component')": NMF | {"tied": True},
    "SparseNMF({r}, W=[cn.UnitNorm()], H=[cn.L1({w})])": NMF,
    "NonNegativeSparseCoding({r}, weight={w})": NMF,
    "Factorizer({r})": NMF,
    "Factorizer({r}, W=[], H=[])": {"codes": True, "nonneg": False},
    "Factorizer({r}, H=[cn.Simplex(each='sample')], solver='TangentPlane')": {"codes": True},
    "Factorizer({r}, W=[cn.Box(0, {w})], solver='ProjectedGradient')": {"codes": True},
    "NMF({r}, random_state=0)": SKLEARN,
    "NMF({r}, init='random', random_state=1, alpha_W={w}, l1_ratio=0.5)": SKLEARN,
    "NMF({r}, random_state=0, solver='mu', beta_loss='kullback-leibler')": SKLEARN,
    "NMF({r}, random_state=0, solver=None, beta_loss=1.5, alpha_H={w})": SKLEARN,
    "NMF({r}, random_state=0, sparseness=0.4)": SKLEARN | {"band": (0.4, 1.0)},
    "NMF({r}, random_state=0, code_terms=[cn.Simplex(each='sample')], solver=None)": SKLEARN,
    "MiniBatchNMF({r}, random_state=0, batch_size=5)": BATCHES,
    "MiniBatchNMF({r}, random_state=0, batch_size=7, alpha_H={w}, forget_factor=0.3)": BATCHES,
    "MiniBatchNMF({r}, random_state=0, beta_loss='kullback-leibler')": BATCHES,
    "L0NMF({r}, weight={w})": NMF,
    "L0NMF({r}, weight={w}, dictionary_weight={w})": NMF,
    "L0NMF({r}, coder=cn.coding.OMP(max_atoms=2))": NMF,
    "SparsePCA({r})": {"band": (0.5, 1.0), "dense": True, "differ": True},
    "SparsePCA({r}, sparseness=(0.2, 0.8), ridge=0.1)": {
        "band": (0.2, 0.8),
        "dense": True,
        "differ": True,
    },
    "ProjectiveNMF({r})": {"nonneg": True, "positive": True},
    "ProjectiveNMF({r}, sparseness=0.3)": {"nonneg": True, "band": (0.3, 1.0), "positive": True},
    "HebbianNMF({r})": {"nonneg": True, "positive": True},
    "NonNegativeLDA()": {"nonneg": True, "labels": True, "differ": True},
    "NonNegativeLDA(sparseness=0.5, ridge=0.1)": {
        "nonneg": True,
        "labels": True,
        "differ": True,
    },
    "NonNegativeKernelFDA()": {"labels": True, "differ": True, "apart": True},
    "NonNegativeKernelFDA(kernel='linear', center=False)": {"labels": True, "nonzero": True},
    "NMFSC({r}, sparseness_w=0.5)": {"band": (0.5, 0.5), "nonneg": True},
    "SCFC({r})": {"band": (0.8, 0.8), "nonzero": True},
    "SCFC({r}, nonneg=True, q=5)": {"nonneg": True, "nonzero": True},
    "SESM({r})": {"fires": True},
    "PSD({r}, standardize=True)": {"dense": True},
    "SCFCClassifier({r})": {"labels": True, "classifies": True, "nonzero": True},
}
"""How estimators are made, and what is known of them.

`band` is of each component, `code_band` of each code, `codes` says that transform fits codes of
each sample by itself, `positive` that X must not be negative, `complete` that no
entry may be missing, `dense` that it must not be sparse,
`labels` that y must name two classes, `differ` that two samples must differ, `apart` that a Gaussian
must tell two of them apart, `nonzero` that X must not be zero.
"""


def plain(X):
    """Return data as they were given, NaN included, as an array of doubles."""
    return np.asarray(X.toarray() if sp.issparse(X) else X, dtype=float)


@dataclass(frozen=True, eq=False)
class EstimatorCase:
    """An estimator, its data as samples × features, and labels."""

    id: str
    made: str
    known: dict[str, Any]
    rank: int
    data: Data
    y: np.ndarray
    expected: dict[str, Any] = field(default_factory=dict)

    @property
    def text(self):
        n, d = self.data.dense.shape
        return f"{self.id}  {self.made} on X {n} × {d} ({self.data.text}), y {self.y.tolist()}"

    def run(self):
        """Return how the case ended in a word, and what is wrong with it."""
        words = ("iterations", "length one")
        return run_checks(self, words, refusals=(ValueError, TypeError))  # as scikit-learn has it

    @property
    def refused(self):
        """Whether X must not be taken; scikit-learn says so by ValueError or TypeError."""
        if self.data.refused:
            return True
        V = self.data.dense
        if np.isnan(V).all():
            return True  # nothing is known of any entry
        wrong = {
            "dense": sp.issparse(self.data.V),
            "positive": np.nanmin(V) < 0,
            "complete": np.isnan(V).any(),
            "labels": len(set(self.y)) < 2,
            "nonzero": not V.any(),
            "differ": not np.ptp(V, axis=0).any(),
            "apart": all(np.exp(-((V - v) ** 2).mean(axis=1).max()) == 1 for v in V),
        }
        return any(self.known.get(name, False) and own for name, own in wrong.items())

    def inputs(self):
        return [self.data.V, self.y]

    def new(self):
        """Return a fresh estimator."""
        names = {name: getattr(cn.estimators, name) for name in cn.estimators.__all__}
        return eval(self.made, {"cn": cn, **names})  # only the texts above

    def check(self):
        """Fit, and yield what is wrong with what comes out."""
        X = self.data.V
        model = self.new().fit(X, self.y)
        if self.known.get("classifies"):
            yield from self._classifies(model, X)
        else:
            yield from self._components(model)
        codes = np.asarray(model.transform(X))
        n = len(self.data.dense)
        if codes.shape[0] != n or not np.isfinite(codes).all():
            yield Finding("value", f"codes of shape {codes.shape}, or not finite")
            return
        again = clone(model).fit(X, self.y)
        if not np.array_equal(np.asarray(again.transform(X)), codes):
            yield Finding("differs", "a clone that is fitted again gives other codes")
        back = pickle.loads(pickle.dumps(model))
        if not near(back.transform(X), codes, 1e-6 if self.data.single else 1e-9):
            yield Finding("saved", "a pickled estimator gives other codes")
        yield from self._one_by_one(model, X, codes)
        yield from self._inverse(model, codes)
        yield from self._batches(X)
        yield from self._narrow(model)

    def _classifies(self, model, X):
        told = np.asarray(model.predict(X))
        if told.shape != self.y.shape or not set(told) <= set(self.y):
            yield Finding("value", f"predicts {sorted(set(told))} of {sorted(set(self.y))}")

    def _components(self, model):
        W = np.asarray(model.components_, dtype=float)
        d = self.data.dense.shape[1]
        kernel = "Kernel" in self.made
        if W.ndim != 2 or (W.shape[1] != d and not kernel) or not np.isfinite(W).all():
            yield Finding("value", f"components of shape {W.shape} for {d} features, or not finite")
            return
        if self.known.get("nonneg") and W.min() < 0:
            yield Finding("infeasible", f"a component has an entry {W.min():.3g}")
        if "band" in self.known and W.shape[1] > 1:
            outside = measures.outside_band(W, *self.known["band"])
            if outside > (1e-3 if self.data.single else 1e-5):
                yield Finding("infeasible", f"sparseness outside its band by {outside:.3g}")
        names = model.get_feature_names_out()
        if len(names) != len(W):
            yield Finding("value", f"{len(names)} names for {len(W)} components")

    def _one_by_one(self, model, X, codes):
        """A code does not depend on the other samples."""
        if not self.known.get("codes") or isinstance(X, list) or self.known.get("tied"):
            return
        one = X.iloc[:1] if hasattr(X, "iloc") else X[:1] if not sp.issparse(X) else X.tocsr()[:1]
        own = np.asarray(model.transform(one))
        size = np.abs(codes).max() or 1.0
        # Codes are unique where components are independent; what they stand for always is.
        H = model.components_
        seen = ~np.isnan(plain(one))  # the rest is anybody's guess
        told, whole = (X[seen] for X in (own @ H, codes[:1] @ H))
        if not near(told, whole, 1e-2 if self.data.single else 1e-4, size):
            yield Finding("value", "the code of a sample depends on the others")

    def _inverse(self, model, codes):
        if not hasattr(model, "inverse_transform"):
            return
        mean = getattr(model, "mean_", 0.0)
        fired = codes
        if self.known.get("fires"):  # what a machine of this kind decodes
            fired, mean = expit(codes), model.result_["theta_dec"].T
        wanted = fired @ model.components_ + mean
        if not near(model.inverse_transform(codes), wanted, 1e-4 if self.data.single else 1e-9):
            yield Finding("value", "inverse_transform is not codes · components")
        V = plain(self.data.V)
        seen = np.isfinite(V)
        centered = np.where(seen, V, 0) - np.where(seen, mean, 0)
        whole = float((centered**2).sum())
        if not whole or not hasattr(model, "score"):
            return
        left = float(np.where(seen, V - wanted, 0).__pow__(2).sum())
        told = model.score(self.data.V)
        if not near(told, 1 - left / whole, 1e-3 if self.data.single else 1e-6, 1 + left / whole):
            yield Finding("value", f"scores {told:.6g}, is {1 - left / whole:.6g}")

    def _batches(self, X):
        """Learn from two halves; whatever can be learned so keeps its constraints."""
        model = self.new()
        n = len(self.data.dense)
        plain = isinstance(X, np.ndarray) and np.isfinite(self.data.dense).all()
        if not hasattr(model, "partial_fit") or n < 4 or not plain or self.known.get("tied"):
            return
        for part in (X[: n // 2], X[n // 2 :]):
            model.partial_fit(part)
        yield from self._components(model)
        if not np.isfinite(np.asarray(model.transform(X))).all():
            yield Finding("value", "codes after batches are not finite")

    def _narrow(self, model):
        """Samples with other features are refused."""
        try:
            model.transform(np.ones((2, self.data.dense.shape[1] + 1)))
        except ValueError:
            return
        yield Finding("accepted", "samples with another number of features")


def draw(rng, name, shift=0):
    """Draw an estimator and what it is fitted to."""
    n, d = int(rng.integers(1, 25)), int(rng.integers(1, 10))
    rank = int(rng.integers(1, 6))
    made = pick(rng, dict.fromkeys(KINDS, 1.0))
    known = KINDS[made]
    weight = float(pick(rng, {0.125: 3, 0.0: 1, 8.0: 1}))
    unit = float(pick(rng, {1.0: 10, 2.0**24: 1, 2.0**-24: 1}))
    text = made.format(r=rank, w=weight or (1.0 if "Box" in made else 0.0))
    text = text[:-1] + ("max_iter=8)" if made.endswith("()") else ", max_iter=8)")
    H, W = rng.random((n, rank)), rng.random((rank, d)) ** 2
    y = rng.integers(0, int(rng.integers(2, 4)), n)
    missing = known.get("codes", False) and "L0" not in made
    data = draw_data(rng, unit * H @ W, unit, 0.06)
    if data.text.startswith(("dates", "texts")):  # scikit-learn takes them for numbers
        data = Data(np.ma.masked_array(H @ W, H @ W > 1), H @ W, "masked", refused=True)
    if missing and data.text.split(",")[0] == "NaN":  # which they take
        data = Data(data.V, data.V, data.text)
    elif missing and not data.refused and type(data.V) is np.ndarray and chance(rng, 0.1):
        V = data.dense.copy()
        V[rng.random(V.shape) < 0.2] = np.nan
        data = Data(V, V, f"{data.text}, missing entries")
    return EstimatorCase(name, text, known, rank, data, y)
