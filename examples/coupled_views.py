"""Two views of the same samples
=============================

For each of 569 tumors we know ten measures of its cells, as means and as worst values. A coupled
factorization explains both tables by the same three coefficients for each tumor.

The bars show the component that best tells malignant tumors from benign ones, the histogram its
coefficients. The better view alone separates them just as well. If the worst values of half of the
tumors are hidden, the shared coefficients predict them from the means with half the error of an
average. A regression on the means is better still, but it needs all of them.
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
    figure, (upper, lower) = plt.subplots(2, 1, figsize=(5.2, 5.6), layout="constrained")
    places = np.arange(10)
    for shift, view in ((-0.2, "mean"), (0.2, "worst")):
        upper.barh(places + shift, result[f"W_{view}"][:, best], 0.4, label=view)
    names = [name.removeprefix("mean ") for name in data.feature_names[:10]]
    upper.set_yticks(places, names, fontsize=8)
    upper.set(xlabel="weight in the component")
    upper.legend(frameon=False, fontsize=8)
    bins = np.linspace(0, result["H"][best].max(), 30)
    for kind, label in ((~malignant, "benign"), (malignant, "malignant")):
        lower.hist(result["H"][best][kind], bins, alpha=0.7, label=label)
    lower.set(xlabel="coefficient of the component", ylabel="tumors")
    lower.legend(frameon=False, fontsize=8)
    figure.savefig(output, dpi=160)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/coupled_views.png")
