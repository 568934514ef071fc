"""Consensus clustering of tumors
==============================

Can the expression of genes alone tell subtypes of leukemia apart? Consensus clustering (Brunet and
others, 2004) factorizes the data from several random starts and counts how often two samples end up
in the same group. If the runs agree, every pair is always together or never, and the dispersion is
1.

Blue blocks are samples that are in one group in every run. Orange lines separate the known
subtypes, which the factorization never sees: two kinds of ALL, and AML.
"""

import sys
import tempfile

import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import NMF
from sklearn.metrics import adjusted_rand_score

import conicnmf as cn
from conicnmf.study import stability

GENES, RANKS, STARTS = 600, (2, 3, 4), 6


def by_scikit_learn(V, rank):
    """Return the groups of each run of Kullback–Leibler NMF by multiplicative updates."""
    model = NMF(rank, init="random", solver="mu", beta_loss="kullback-leibler", max_iter=500)
    return [model.set_params(random_state=k).fit_transform(V.T).argmax(1) for k in range(STARTS)]


def agreement(groups):
    """Return the share of runs in which two samples are together, and its dispersion."""
    consensus = np.mean([g[:, None] == g for g in groups], axis=0)
    return consensus, float(np.mean((2 * consensus - 1) ** 2))


def main(output):
    """Group the samples by both packages and save a picture of the consensus."""
    try:
        tumors = cn.datasets.load("all_aml")
    except cn.InputError as error:
        print(error)
        return
    V = tumors.V[np.argsort(-tumors.V.var(axis=1))[:GENES]]  # the genes that vary most
    V = V / V.max()
    figure, panels = plt.subplots(1, 3, figsize=(5.2, 2.7), layout="constrained", sharey=True)
    for axes, rank in zip(panels, RANKS, strict=True):
        stop = cn.MaxIter(200) | cn.RelDecrease(1e-5)
        runs = stability(cn.factorize(V, rank, loss="kl"), n_starts=STARTS, stop=stop)
        ours = [result.H.argmax(axis=0) for result in runs.results]
        for name, groups in {"scikit-learn": by_scikit_learn(V, rank), "conicnmf": ours}.items():
            consensus, clean = agreement(groups)
            match = [adjusted_rand_score(tumors.target, g) for g in groups]
            print(f"rank {rank}, {name:<12} dispersion {clean:.3f}", end="")
            print(f", subtypes (adjusted Rand index) {np.mean(match):.2f}")
        axes.imshow(consensus, cmap="Blues", vmin=0, vmax=1)
        axes.set_title(f"{rank} groups\ndispersion {clean:.2f}", fontsize=9)
        edges = np.flatnonzero(np.diff(tumors.target)) + 0.5
        for edge in edges:  # samples are sorted by subtype
            axes.axhline(edge, color="#d55e00", lw=1)
            axes.axvline(edge, color="#d55e00", lw=1)
        middles = np.diff([-0.5, *edges, len(consensus) - 0.5]) / 2 + [-0.5, *edges]
        names = [str(name).replace("_", ", ") for name in tumors.extra["label_names"]]
        axes.set_xticks([])
        axes.set_yticks(middles, names, fontsize=8)
        axes.tick_params(length=0)
    shade = figure.colorbar(axes.images[0], ax=panels, location="bottom", shrink=0.6)
    shade.set_label("share of runs in which two samples are in one group", fontsize=9)
    figure.savefig(output, dpi=160)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/consensus_genes.png")
