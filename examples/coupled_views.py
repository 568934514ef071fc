"""Two views of the same samples
=============================

Two noisy measurements share their coefficients H; together they find it better than either alone.
"""

import sys
import tempfile

import matplotlib.pyplot as plt
import numpy as np

import conicnmf as cn

NOISE, SEEDS, RANK = (0.2, 0.6, 1.0), range(3), 4


def sparse(rng, *shape):
    """Return a matrix of which two fifths are not zero."""
    return rng.random(shape) * (rng.random(shape) < 0.4)


def measure(clean, noise, rng):
    """Return what a noisy instrument shows of clean data."""
    return np.maximum(clean + noise * clean.std() * rng.standard_normal(clean.shape), 0)


def recovered(V, H):
    """Return how well the planted H is found again, as the mean cosine of its rows."""
    result = cn.factorize(V, RANK).solve(init="nndsvd", stop=200)
    return np.mean(cn.measures.match_columns(H.T, result["H"].T)[2])


def main(output):
    """Factorize two views together and apart, and save a picture."""
    found = {"first alone": [], "second alone": [], "together": []}
    for noise in NOISE:
        scores = []
        for seed in SEEDS:
            rng = np.random.default_rng(seed)
            H = sparse(rng, RANK, 60)
            first, second = (measure(sparse(rng, m, RANK) @ H, noise, rng) for m in (25, 20))
            views = {"first": first, "second": second}
            scores.append([recovered(V, H) for V in (first, second, views)])
        for name, score in zip(found, np.mean(scores, axis=0), strict=True):
            found[name].append(score)
            print(f"noise {noise:.1f}, {name:<12}  mean cosine {score:.3f}")

    figure, axes = plt.subplots(figsize=(5.2, 3.2), layout="constrained")
    for name, line in found.items():
        axes.plot(NOISE, line, "o-", label=name)
    axes.set(xlabel="noise, in standard deviations of the data", ylabel="cosine with planted H")
    axes.legend(frameon=False)
    figure.savefig(output, dpi=120)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/coupled_views.png")
