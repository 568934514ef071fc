"""The faces of the discriminants of Yang and Laaksonen (2007), and filters learned from them."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from sklearn.discriminant_analysis import LinearDiscriminantAnalysis
from sklearn.model_selection import GroupKFold
from sklearn.svm import LinearSVC

import conicnmf as cn
from conicnmf.families.one_factor import Discriminant, MedianFlip, ProjectionRule
from conicnmf.study.measures import equal_error_rate
from conicnmf.types import Array

ROWS, COLUMNS = slice(2, 30), slice(4, 28)
"""The part of a 32 × 32 picture that shows a face in both collections."""

Fit = Callable[[Array, NDArray[np.intp], Any], Array]
"""From data, classes and a setting to the weights of a linear filter."""


@dataclass(frozen=True, eq=False)
class Faces:
    """Pictures as columns, what is asked of them, who they show, and their shape."""

    V: Array
    y: NDArray[np.intp]
    subject: NDArray[Any]
    shape: tuple[int, int]


def faces(name: str, wanted: str, *, coarse: bool = False, even_light: bool = True) -> Faces:
    """Return the faces of a collection, cropped alike, with one annotation as classes.

    Olivetti's 64 × 64 pixels are averaged two by two; of both collections the same 28 × 24 pixels of
    32 × 32 are kept. `even_light` gives each picture the mean 0.5 and the standard deviation 0.2,
    cut at 0 and 1; `coarse` averages again. Faces with light facial hair are left out.
    """
    data = cn.datasets.load(name)
    labels = np.asarray(data.extra[wanted]).astype(int)
    if wanted == "facial_hair" and name == "olivetti":
        kept, labels = labels != 1, labels // 2
    else:
        kept = np.ones(len(labels), dtype=bool)
    side = data.image_shape[0] if data.image_shape else 32
    pictures = data.V.T.reshape(-1, side, side)
    pictures = halved(pictures) if side == 64 else pictures
    pictures = pictures[:, ROWS, COLUMNS]
    pictures = halved(pictures) if coarse else pictures
    V = pictures[kept].reshape(int(kept.sum()), -1).T
    if even_light:
        V = np.clip(0.5 + 0.2 * (V - V.mean(axis=0)) / V.std(axis=0), 0.0, 1.0)
    assert data.target is not None
    shape = (int(pictures.shape[1]), int(pictures.shape[2]))
    return Faces(np.ascontiguousarray(V), labels[kept], data.target[kept], shape)


def halved(pictures: Array) -> Array:
    """Return pictures of half the size, each pixel the mean of four.

    Examples
    --------
    >>> halved(np.arange(4.0).reshape(1, 2, 2))
    array([[[1.5]]])
    """
    n, height, width = pictures.shape
    return np.asarray(
        pictures.reshape(n, height // 2, 2, width // 2, 2).mean(axis=(2, 4)), dtype=float
    )


def fisher(V: Array, y: NDArray[np.intp], setting: Any) -> Array:
    """Return the filter of linear discriminant analysis."""
    return np.asarray(LinearDiscriminantAnalysis(solver="svd").fit(V.T, y).coef_[0])


def support_vectors(V: Array, y: NDArray[np.intp], C: float) -> Array:
    """Return the filter of a linear support vector machine."""
    return np.asarray(
        LinearSVC(C=C, max_iter=50_000, dual="auto", random_state=0).fit(V.T, y).coef_[0]
    )


def published(V: Array, y: NDArray[np.intp], setting: Any) -> Array:
    """Return the filter of the published rule on flipped data, as weights of the data themselves."""
    flip = MedianFlip.learn(V, y, 1.0)
    problem = Discriminant(flip.apply(V), y)
    return flip.signed(cn.solve(problem, ProjectionRule(last=True), throw=False).W)


def optimal(V: Array, y: NDArray[np.intp], ridge: float) -> Array:
    """Return the globally optimal non-negative filter of flipped data."""
    flip = MedianFlip.learn(V, y, 1.0)
    return flip.signed(cn.solve(Discriminant(flip.apply(V), y, ridge=ridge)).W)


def tuned(fit: Fit, settings: Sequence[Any], faces: Faces) -> Any:
    """Return the setting of the lowest equal error rate over five parts that share no subject."""
    if len(settings) == 1:
        return settings[0]
    folds = list(GroupKFold(5).split(faces.y, groups=faces.subject))

    def error(setting: Any) -> float:
        rates = [
            equal_error_rate(
                fit(faces.V[:, learn], faces.y[learn], setting) @ faces.V[:, test], faces.y[test]
            )
            for learn, test in folds
        ]
        return float(np.mean(rates))

    return min(settings, key=error)
