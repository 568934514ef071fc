"""Coherence of topics
===================

A topic makes sense if its top words occur together, also in documents that were not used to learn
it. We learn topics from half of the articles, and measure the coherence of their top words in the
other half.

The picture compares plain NMF of tf-idf weights by scikit-learn and by conicnmf, and topics with a
lower bound on their sparseness. Each dot is one split of the documents. All three
get about the same processor time, without what the first call compiles.
"""

import sys
import tempfile
import time

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp
from sklearn.decomposition import NMF
from sklearn.feature_extraction.text import TfidfTransformer

import conicnmf as cn

TOPICS, WORDS, SPLITS = 12, 8, range(10, 13)  # all settings were chosen on other splits
SPARSE = [cn.NonNegative(), cn.Sparseness(min=0.9)]


def coherence(W, documents):
    """Return the mean NPMI of all pairs of top words: 1 always together, 0 by chance, −1 never."""
    found = []
    for topic in W.T:
        occurs = (documents[np.argsort(-topic)[:WORDS]].toarray() > 0).astype(float)
        both = occurs @ occurs.T / documents.shape[1]
        single = np.diag(both)
        with np.errstate(divide="ignore", invalid="ignore"):
            npmi = np.log(both / np.outer(single, single)) / -np.log(both)
        found.append(np.where(both > 0, npmi, -1.0)[np.triu_indices(WORDS, 1)])
    return float(np.mean(found))


def main(output):
    """Learn topics from half of the documents, judge them on the others and save a picture."""
    try:
        news = cn.datasets.load("reuters_395")
    except cn.InputError as error:
        print(error)
        return
    scores = {"scikit-learn": [], "conicnmf": [], "conicnmf, sparse topics": []}
    seconds = dict.fromkeys(scores, 0.0)
    for split in SPLITS:
        half = np.random.default_rng(split).random(news.V.shape[1]) < 0.5
        V = sp.csr_array(TfidfTransformer().fit_transform(news.V[:, half].T).T)
        theirs, start = NMF(TOPICS, init="nndsvd", max_iter=1000, tol=1e-5), cn.NNDSVD()
        plain, sparse = cn.factorize(V, TOPICS), cn.factorize(V, TOPICS, W=SPARSE)
        models = {
            "scikit-learn": lambda V=V, model=theirs: model.fit(V.T),
            "conicnmf": lambda problem=plain, start=start: problem.solve(init=start),
            "conicnmf, sparse topics": lambda p=sparse, start=start: p.solve(init=start, stop=20),
        }
        for name, fit in models.items():
            if split == SPLITS[0]:
                fit()  # compiles what is needed
            begun = time.process_time()
            model = fit()
            seconds[name] += (time.process_time() - begun) / len(SPLITS)
            W = model.W if isinstance(model, cn.Result) else model.components_.T
            scores[name].append(coherence(W, sp.csr_array(news.V[:, ~half])))
    for name, values in scores.items():
        print(f"{name:<24} mean NPMI {np.mean(values):.3f}, splits {np.round(values, 3)}", end="")
        print(f", {seconds[name]:.2f} s per fit")

    figure, axes = plt.subplots(figsize=(5.2, 2.6), layout="constrained")
    for place, values in enumerate(scores.values()):
        axes.plot(values, [place] * len(values), "o", color="#3c79ad", alpha=0.6)
        axes.plot(np.mean(values), place, "|", color="#d55e00", ms=22, mew=3)
    axes.set(
        yticks=range(len(scores)),
        yticklabels=[name.replace(", ", ",\n") for name in scores],
        ylim=(2.5, -0.5),
    )
    axes.set_xlabel("coherence (NPMI) on other documents;\nline: mean of the splits")
    figure.savefig(output, dpi=160)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/topic_coherence.png")
