"""NMF of a spectrogram in equal time
==================================

librosa's decomposition of a spectrogram calls scikit-learn's NMF, which minimizes the
Kullback–Leibler divergence with multiplicative updates. How far do they get in the time that
conicnmf needs?

Both packages start from the same random factors and get about the same time. Each pair of markers
is one start; lower is better. The settings were chosen on other starts.
"""

import sys
import tempfile
import time
import warnings

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import NMF
from sklearn.exceptions import ConvergenceWarning

import conicnmf as cn

SEEDS, RANK = range(10, 14), 5  # settings were chosen on other seeds
LOSS = cn.KullbackLeibler()


def by_scikit_learn(V, W, H, seconds):
    """Return the divergence that multiplicative updates reach in about so many seconds."""
    steps, used = 10, 0.0
    while True:  # their number for that time: measured, then used
        model = NMF(RANK, init="custom", solver="mu", beta_loss=1, max_iter=steps, tol=0)
        begun = time.perf_counter()
        codes = model.fit_transform(V.T, W=H.T.copy(), H=W.T.copy())
        used = time.perf_counter() - begun
        if used > 0.7 * seconds:
            return LOSS.value(V, np.maximum(model.components_.T, 1e-12), codes.T)
        steps = min(10 * steps, int(steps * seconds / used) + 1)


def main(output):
    """Compare the divergence after equal time from several starts and save a picture."""
    try:
        piano = cn.datasets.load("piano")
    except cn.InputError as error:
        print(error)
        return
    low = piano.extra["freq_hz"] <= 2200
    V = piano.V[low] / piano.V.max()
    problem = cn.factorize(V, RANK, loss=LOSS)
    problem.solve(stop=40)  # compiles what is needed
    ends = {"scikit-learn, mu": [], "conicnmf": []}
    for seed in SEEDS:
        start = problem.start(cn.Random(), np.random.default_rng(seed))
        result = problem.solve(init=start, stop=cn.MaxIter(300) | cn.RelDecrease(1e-6))
        ends["conicnmf"].append(result.objective)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)
            theirs = by_scikit_learn(V, start["W"], start["H"], result.seconds)
        ends["scikit-learn, mu"].append(theirs)
        print(f"seed {seed}: conicnmf {result.objective:.2f} in {result.seconds:.2f} s", end="")
        print(f", scikit-learn {theirs:.2f} in about the same time")
    for name, values in ends.items():
        print(f"{name}: best {min(values):.2f}, median {np.median(values):.2f}")

    plt.style.use("tableau-colorblind10")
    figure, axes = plt.subplots(figsize=(5.2, 2.8), layout="constrained")
    for (name, values), marker in zip(ends.items(), "so", strict=True):
        axes.plot(list(SEEDS), values, marker, label=name, ms=8)
    axes.set(xlabel="seed of the start", ylabel="divergence", xticks=list(SEEDS))
    axes.set_title("Divergence after equal time: lower is better", loc="left", fontsize=10)
    axes.grid(alpha=0.3)
    axes.legend(frameon=False)
    figure.savefig(output, dpi=160)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/audio_starts.png")
