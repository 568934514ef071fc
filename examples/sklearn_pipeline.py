"""Sparse parts as features of a classifier
========================================

How sparse should parts be if a classifier uses them? Leave the choice to scikit-learn's grid
search: `SparseNMF` is an estimator like any other, and its sparseness is a parameter like any
other.

On the left: the accuracy in cross-validation for each setting. On the right: the parts of the best
model.
"""

import sys
import tempfile

import matplotlib.pyplot as plt
import numpy as np
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV, train_test_split
from sklearn.pipeline import make_pipeline

import conicnmf as cn
from conicnmf.estimators import SparseNMF

GRID = {
    "sparsenmf__n_components": [8, 16],
    "sparsenmf__sparseness": [0.1, 0.5, 0.6, 0.7, 0.8, 0.9],
}


def main(output):
    """Search the grid, score on samples that were never seen, and save a picture."""
    digits = cn.datasets.load("digits", n_samples=700)
    X, X_test, y, y_test = train_test_split(digits.V.T, digits.target, random_state=0)
    line = make_pipeline(
        SparseNMF(solver="HALS", tol=1e-3), LogisticRegression(C=10, max_iter=2000)
    )
    grid = GridSearchCV(line, GRID, cv=3).fit(X, y)
    print(f"best: {grid.best_params_}, accuracy on new digits {grid.score(X_test, y_test):.3f}")

    ranks, bounds = GRID.values()
    scores = grid.cv_results_["mean_test_score"].reshape(len(ranks), len(bounds))
    plt.style.use("tableau-colorblind10")
    figure, (left, right) = plt.subplots(
        1, 2, figsize=(5.2, 2.9), width_ratios=[1.3, 1], layout="constrained"
    )
    for rank, row in zip(ranks, scores, strict=True):
        left.plot(bounds, row, "o-", label=f"{rank} components")
    left.set(xlabel="least sparseness of a part")
    left.set_title("accuracy in cross-validation", fontsize=10)
    left.grid(alpha=0.3)
    left.legend(fontsize=8)
    parts = grid.best_estimator_["sparsenmf"].components_[:16].reshape(-1, 8, 8)
    shown = np.full((4, 4, 9, 9), np.nan)
    for k, part in enumerate(parts / parts.max(axis=(1, 2), keepdims=True)):
        shown[k // 4, k % 4, :8, :8] = part
    right.imshow(shown.swapaxes(1, 2).reshape(36, 36)[:-1, :-1], cmap="Blues")
    right.set(xticks=[], yticks=[])
    right.set_title("parts of the best model", fontsize=10)
    figure.savefig(output, dpi=160)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/sklearn_pipeline.png")
