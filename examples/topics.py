"""Topics of news
==============

What are 395 news articles about? Each topic is a list of weighted words. In plain NMF, each
document is a mixture of many topics. With a cost for each topic that a document uses, most documents
use little more than one.

Each panel is a topic: its top words, and the number of documents that use it.
"""

import sys
import tempfile

import matplotlib.pyplot as plt
import numpy as np
from sklearn.feature_extraction.text import TfidfTransformer

import conicnmf as cn

TOPICS, WORDS = 12, 7


def main(output):
    """Learn topics with and without sparse codes, print them and save a picture."""
    try:
        news = cn.datasets.load("reuters_395")
    except cn.InputError as error:
        print(error)
        return
    V = TfidfTransformer().fit_transform(news.V.T).T  # common words and long texts count less
    problem = cn.factorize(V, TOPICS)
    plain = problem.solve(cn.HALS())
    sparse = problem.solve(cn.Coded(cn.coding.L0(0.004)), init=(plain.W, plain.H))
    for name, result in {"plain NMF": plain, "l0-sparse": sparse}.items():
        used = np.count_nonzero(result.H, axis=0).mean()
        print(f"{name}: {used:.1f} topics per document, relative error {result.relative_error:.3f}")

    figure, panels = plt.subplots(4, 3, figsize=(5.2, 6.6), layout="constrained", sharex=True)
    order = np.argsort(-np.count_nonzero(sparse.H, axis=1))
    for axes, j in zip(panels.flat, order, strict=True):
        top = np.argsort(-sparse.W[:, j])[:WORDS]
        words = news.feature_names[top]
        documents = np.count_nonzero(sparse.H[j])
        print(f"{documents:4} documents: {', '.join(words)}")
        print(f"     above all: {news.sample_names[sparse.H[j].argmax()]}")
        axes.barh(range(WORDS), sparse.W[top, j], color="#9dbad6", height=0.9)
        for place, word in enumerate(words):
            axes.text(0.01, place, word, va="center", fontsize=9)
        axes.set_title(f"{documents} documents", fontsize=9, loc="left")
        axes.set(xticks=[], yticks=[], ylim=(WORDS - 0.4, -0.6))
        axes.spines[:].set_visible(False)
    figure.supxlabel("weight of the word in the topic", fontsize=9)
    figure.savefig(output, dpi=160)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/topics.png")
