"""Topics of word counts
=====================

Word counts are not measured with noise of the same size everywhere, so Poisson's likelihood (the
Kullback–Leibler divergence) should suit them better than squares. To find out, a tenth of all words
are held out, and each model says how likely they were.

Topics predict held-out words much better than one distribution for all documents. Between the two
losses there is little difference on these data. Each panel is a topic of the Poisson model.
"""

import sys
import tempfile

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

import conicnmf as cn

TOPICS, WORDS = 12, 8


def bits(test, common, W, H):
    """Return the bits that a held-out word costs; a tenth of all words are said to be any words."""
    rows, columns = test.nonzero()
    model = np.einsum("ij,ji->i", W[rows], H[:, columns]) / (W.sum(axis=0) @ H)[columns]
    return -float(test.data @ np.log2(0.9 * model + 0.1 * common[rows])) / test.sum()


def main(output):
    """Learn topics from nine words in ten, print them and save a picture."""
    try:
        news = cn.datasets.load("reuters_395")
    except cn.InputError as error:
        print(error)
        return
    counts = sp.csr_array(news.V)
    test = counts.copy()
    test.data = np.random.default_rng(0).binomial(counts.data.astype(int), 0.1).astype(float)
    train = sp.csr_array(counts - test)
    test.eliminate_zeros()
    common = (train.sum(axis=1) + 0.5) / (train.sum() + 0.5 * train.shape[0])
    ones = np.ones((1, train.shape[1]))
    alone = bits(test, common, common[:, None], ones)
    print(f"one topic for all: {alone:.2f} bits per held-out word")
    found = {}
    for loss in ("frobenius", "kl"):
        result = cn.factorize(train, TOPICS, loss=loss).solve(init=cn.NNDSVD(), stop=100)
        found[loss] = result
        cost = bits(test, common, result.W, result.H)
        print(
            f"{loss}: {cost:.2f} bits per held-out word, {result.solver.partition('(')[0]}", end=""
        )
        print(f", {result.n_iter} iterations in {result.seconds:.1f} s")

    figure, panels = plt.subplots(4, 3, figsize=(5.2, 7.2), layout="constrained")
    W, H = found["kl"].W, found["kl"].H * found["kl"].W.sum(axis=0)[:, None]
    for axes, j in zip(panels.flat, np.argsort(-H.sum(axis=1)), strict=True):
        # Words that the topic has more than the others, not those that all of them have.
        top = np.argsort(-(W[:, j] / W[:, j].sum()) * W[:, j] / W.sum(axis=1))[:WORDS]
        print(f"{H[j].sum() / H.sum():4.0%} {', '.join(news.feature_names[top])}")
        print(f"     above all: {news.sample_names[H[j].argmax()]}")
        axes.barh(range(WORDS), W[top, j], color="#9dbad6", height=0.9)
        for place, word in enumerate(news.feature_names[top]):
            axes.text(0, place, f" {word}", va="center", fontsize=9)
        axes.set_title(f"{H[j].sum() / H.sum():.0%} of all words", fontsize=9, loc="left")
        axes.set(xticks=[], yticks=[], ylim=(WORDS - 0.4, -0.6))
        axes.spines[:].set_visible(False)
    figure.supxlabel("weight of the word in the topic", fontsize=9)
    figure.savefig(output, dpi=160)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/topics_of_counts.png")
