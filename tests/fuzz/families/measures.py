"""Measures and small functions, against the same formulas written out here."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import permutations
from typing import Any

import numpy as np

import conicnmf as cn

from ..draw.numbers import chance, pick
from ..judge import measures as own
from ..judge.checked import near, run_checks
from ..judge.findings import Finding

KINDS = {
    "cosines": 1,
    "dictionary_similarity": 1,
    "matched_cosines": 1,
    "support_scores": 1,
    "explained_variance": 2,
    "rounds_to": 1,
    "orthogonality": 1,
    "fisher_ratio": 1,
    "equal_error_rate": 1,
    "sparseness": 2,
}


@dataclass(frozen=True, eq=False)
class MeasureCase:
    """A measure and its arguments."""

    id: str
    kind: str
    given: tuple[Any, ...]
    wrong: bool

    @property
    def text(self):
        shapes = ", ".join(str(np.shape(X)) for X in self.given)
        return f"{self.id}  {self.kind} of {shapes}{', which do not fit' if self.wrong else ''}"

    @property
    def refused(self):
        return self.wrong

    def run(self):
        """Return how the case ended in a word, and what is wrong with it."""
        return run_checks(self)

    def inputs(self):
        return list(self.given)

    def check(self):
        """Yield a finding where the measure is another number than written here."""
        if self.kind == "sparseness":
            told = cn.sparseness(self.given[0], axis=self.given[1])
        else:
            told = getattr(cn.measures, self.kind)(*self.given)
        if self.wrong:
            return
        wanted = getattr(self, f"_{self.kind}")(*self.given)
        if self.kind == "matched_cosines":  # two matchings may have the same sum
            told, wanted = np.sort(told), np.sort(wanted)
        if told is None or wanted is None:
            if told is not wanted:
                yield Finding("value", f"{told}, is {wanted}")
        elif not near(np.nan_to_num(told, nan=-7), np.nan_to_num(wanted, nan=-7), 1e-9, 1.0):
            yield Finding("value", f"{told}, is {wanted}")

    @staticmethod
    def _cosines(A, B):
        def unit(X):
            return np.array([x / (np.sqrt((x**2).sum()) or 1.0) for x in X.T]).T

        return unit(A).T @ unit(B)

    def _dictionary_similarity(self, A, B):
        C = self._cosines(A, B)
        return min(np.mean([row.max() for row in C]), np.mean([row.max() for row in C.T]))

    def _matched_cosines(self, A, B):
        C = self._cosines(A, B)
        few, many = sorted(C.shape)
        short = C if C.shape[0] == few else C.T
        best = max(permutations(range(many), few), key=lambda p: short[range(few), p].sum())
        found = np.zeros(len(C))
        found[list(range(few)) if short is C else list(best)] = short[range(few), best]
        return found

    @staticmethod
    def _support_scores(A, B):
        both = np.sum((A != 0) & (B != 0))
        return both / max(1, np.sum(B != 0)), both / max(1, np.sum(A != 0))

    @staticmethod
    def _explained_variance(V, W, H):
        total = float(((V - V.mean(axis=1, keepdims=True)) ** 2).sum())
        return 1 - own.squares(V, W @ H) / total if total else np.nan

    @staticmethod
    def _rounds_to(values, level):
        return next((k for k, value in enumerate(values) if value >= level), None)

    def _orthogonality(self, W):
        C, r = self._cosines(W, W), W.shape[1]
        pairs = [C[i, j] for i in range(r) for j in range(r) if i != j]
        return 1 - np.mean(pairs) if pairs else 1.0

    @staticmethod
    def _fisher_ratio(scores, labels):
        within = between = 0.0
        for label in set(labels.tolist()):
            part = scores[labels == label]
            within += ((part - part.mean()) ** 2).sum()
            between += len(part) * (part.mean() - scores.mean()) ** 2
        return between / within

    @staticmethod
    def _equal_error_rate(scores, labels):
        """Return it for scores that tell the classes apart perfectly, or not at all."""
        good, bad = scores[labels], scores[~labels]
        return 0.0 if good.min() > bad.max() else 1.0 if good.max() < bad.min() else None

    @staticmethod
    def _sparseness(X, axis):
        return own.sparseness(X.T if axis == 0 else X)


def draw(rng, name, shift=0):
    """Draw a measure and arguments that fit it, or that do not."""
    kind = pick(rng, KINDS)
    d, r, s = int(rng.integers(2, 8)), int(rng.integers(1, 5)), int(rng.integers(1, 5))
    A, B = (_matrix(rng, d, k) for k in (r, s))
    scores = rng.standard_normal(2 * d)
    labels = np.arange(2 * d) % 2 == 0
    apart = scores + np.where(labels, 10, -10) * (1 if chance(rng, 0.5) else -1)
    given = {
        "cosines": (A, B),
        "dictionary_similarity": (A, B),
        "matched_cosines": (A, B),
        "support_scores": (A, _matrix(rng, d, r)),
        "explained_variance": (_matrix(rng, d, 6), A, _matrix(rng, r, 6)),
        "rounds_to": (scores, 1.0),
        "orthogonality": (np.abs(A),),
        "fisher_ratio": (scores, labels.astype(int)),
        "equal_error_rate": (apart, labels),
        "sparseness": (A, int(rng.integers(2)) if r > 1 else 0),
    }[kind]
    wrong = kind in ("cosines", "matched_cosines", "support_scores", "fisher_ratio")
    wrong = wrong and chance(rng, 0.15)
    if wrong:
        given = (given[0], given[1][1:])
    return MeasureCase(name, kind, given, wrong)


def _matrix(rng, rows, columns):
    """Return a matrix, now and then with zeros, twins or huge numbers."""
    X = rng.standard_normal((rows, columns))
    odd = rng.random()
    if odd < 0.2:
        X[:, 0] = 0
    elif odd < 0.4:
        X[rng.random(X.shape) < 0.5] = 0
    elif odd < 0.5:
        X = X * 2.0**100
    return X
