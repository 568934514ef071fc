"""Two views of the same samples
=============================

Ten measures of 569 tumors, as means and as extremes over the cells of a picture, share coefficients H.
One number a tumor then stands for both views. It does not tell malignant tumors better than the better
view alone does; but a tumor of which one view was never measured has values for it, nearer than means.
"""

import sys
import tempfile

import matplotlib.pyplot as plt
import numpy as np
from sklearn.datasets import load_breast_cancer
from sklearn.linear_model import LinearRegression
from sklearn.metrics import roc_auc_score

import conicnmf as cn

RANK = 3


def main(output):
    """Factorize two views together and apart, and save a picture."""
    data = load_breast_cancer()
    V = (data.data / data.data.max(axis=0)).T
    views = {"mean": V[:10], "worst": V[20:]}
    malignant = data.target == 0

    found = {}
    for name, given in {**views, "together": views}.items():
        result = cn.factorize(given, RANK).solve(init="nndsvd", stop=300)
        areas = [roc_auc_score(malignant, h) for h in result["H"]]
        found[name] = result, int(np.argmax(areas))
        error = ", ".join(f"{view} {e:.4f}" for view, e in result.relative_errors.items())
        print(f"{name:<9} relative error {error}; best component: AUC {max(areas):.3f}")

    missing = np.random.default_rng(0).random(V.shape[1]) < 0.5
    known = cn.WeightedFrobenius(~missing[None])  # the extremes of half of the tumors are hidden
    half = cn.factorize(views, RANK, loss={"worst": known}).solve(init="nndsvd", stop=300)
    seen, hidden = ({name: X[:, at] for name, X in views.items()} for at in (~missing, missing))
    line = LinearRegression().fit(seen["mean"].T, seen["worst"].T)
    places = np.ix_(range(10), np.flatnonzero(missing))
    guesses = {
        "their means": seen["worst"].mean(axis=1, keepdims=True),
        "the shared coefficients": half.predict_entries(*places, data="worst"),
        "a regression on the other view": line.predict(hidden["mean"].T).T,
    }
    for name, guess in guesses.items():
        error = np.linalg.norm(guess - hidden["worst"]) / np.linalg.norm(hidden["worst"])
        print(f"hidden extremes from {name}: relative error {error:.3f}")

    result, best = found["together"]
    plt.style.use("tableau-colorblind10")
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3), layout="constrained")
    places = np.arange(10)
    for shift, view in ((-0.2, "mean"), (0.2, "worst")):
        left.barh(places + shift, result[f"W_{view}"][:, best], 0.4, label=view)
    names = [name.removeprefix("mean ") for name in data.feature_names[:10]]
    left.set_yticks(places, names, fontsize=8)
    left.set(xlabel="weight in the component")
    left.legend(frameon=False, fontsize=8)
    bins = np.linspace(0, result["H"][best].max(), 30)
    for kind, label in ((~malignant, "benign"), (malignant, "malignant")):
        right.hist(result["H"][best][kind], bins, alpha=0.7, label=label)
    right.set(xlabel="coefficient of the component", ylabel="tumors")
    right.legend(frameon=False, fontsize=8)
    figure.savefig(output, dpi=120)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/coupled_views.png")
