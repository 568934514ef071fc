"""Topics of 9394 documents
========================

A table of 36771 terms and 9394 documents would take over a gigabyte if it were dense. Sparse data
stay sparse throughout the solve, and thirty topics take seconds.

On the left: the documents of each label (rows), by their strongest topic (columns). Many labels
have a topic of their own, although topics are found without labels. On the right: the error over
time.
"""

import sys
import tempfile

import matplotlib.pyplot as plt
import numpy as np
from scipy.optimize import linear_sum_assignment
from sklearn.feature_extraction.text import TfidfTransformer

import conicnmf as cn

TOPICS = 30


def main(output):
    """Factorize, compare topics with the labels, print sizes and times and save a picture."""
    try:
        texts = cn.datasets.load("tdt2")
    except cn.InputError as error:
        print(error)
        return
    V = TfidfTransformer().fit_transform(texts.V.T).T.astype(np.float32).tocsr()
    stored = (V.data.nbytes + V.indices.nbytes + V.indptr.nbytes) / 1e6
    dense = V.dtype.itemsize * np.prod(V.shape) / 1e6
    print(f"{V.shape[0]} × {V.shape[1]}: {stored:.0f} MB as stored, {dense:.0f} MB if dense")
    result = cn.factorize(V, TOPICS).solve(cn.HALS(), stop=15)
    history = result.history.to_frame()
    print(f"{result.n_iter} iterations in {result.seconds:.1f} s, {result.status.name}")

    # How many documents of each label have each topic as their strongest.
    topic = (result.H * np.linalg.norm(result.W, axis=0)[:, None]).argmax(axis=0)
    table = np.zeros((TOPICS, TOPICS))
    np.add.at(table, (texts.target - 1, topic), 1)
    labels, topics = linear_sum_assignment(-table)
    agree = table[labels, topics].sum() / V.shape[1]
    print(f"{agree:.0%} of the documents are in the topic matched to their label")

    figure, (left, right) = plt.subplots(1, 2, figsize=(5.2, 2.9), layout="constrained")
    shares = table[:, topics] / table.sum(axis=1, keepdims=True)
    left.imshow(shares, cmap="Blues", vmin=0, vmax=1)
    left.set(xlabel="topic", ylabel="label")
    left.set_title("documents of a label, by topic", fontsize=9)
    right.plot(history["seconds"], history["objective"] / np.sum(V.data**2), marker=".")
    right.set_title(f"{dense / stored:.0f}× less memory", fontsize=9)
    right.set(xlabel="seconds", ylabel="relative error")
    figure.savefig(output, dpi=160)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/large_text.png")
