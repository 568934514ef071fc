"""Words beyond chance
===================

Which words occur in a post more often than their frequency alone would explain? The data are zeros
and ones, so the model describes log-odds. A known column accounts for how common each word is, and
five topics describe the rest.

The top row shows the top words of each topic, the bottom row how strong the topic is in each group
of newsgroups.
"""

import sys
import tempfile

import matplotlib.pyplot as plt
import numpy as np

import conicnmf as cn

TOPICS, WORDS, POSTS = 5, 8, 1000


def main(output):
    """Fit log-odds, judge them by entries that were held out and save a picture."""
    try:
        posts = cn.datasets.load("newsgroups_w100", n_samples=POSTS)
    except cn.InputError as error:
        print(error)
        return
    V = posts.V.toarray()
    seen = np.random.default_rng(0).random(V.shape) > 0.1
    ones = (V * seen).sum(axis=1) + 0.5
    common = np.log(ones / (seen.sum(axis=1) + 1 - ones))[:, None]

    def surprise(odds):
        return np.mean(np.logaddexp(0, odds) - V[~seen] * odds)

    chance = np.broadcast_to(common, V.shape)[~seen]
    print(f"held-out entries cost {surprise(chance):.4f} nats by how common each word is")
    known = np.eye(1, TOPICS + 1, dtype=bool)  # the first column of W, the first row of H
    column, row = np.repeat(known, len(V), axis=0), np.repeat(known.T, POSTS, axis=1)
    for price in (0.2, 1.0):
        problem = cn.factorize(
            V,
            TOPICS + 1,
            loss=cn.Logistic(weights=seen),
            W=[cn.Fixed(column, common), cn.L2(price)],
            H=[cn.NonNegative(), cn.Fixed(row, 1.0), cn.L2(price)],
        )
        result = problem.solve(stop=cn.MaxIter(100) | cn.RelDecrease(1e-4))
        cost = surprise(result.predict_entries(*np.nonzero(~seen)))
        print(f"{cost:.4f} with {TOPICS} topics and L2({price:g}), {result.status.name}")

    names = [str(name) for name in posts.extra["label_names"]]
    means = np.array([result.H[:, posts.target == k + 1].mean(axis=1) for k in range(len(names))])
    figure, panels = plt.subplots(2, TOPICS, figsize=(5.2, 4.6), layout="constrained", sharey="row")
    for (words, groups), j in zip(panels.T, range(1, TOPICS + 1), strict=True):
        top = np.argsort(-result.W[:, j])[:WORDS]
        print(", ".join(posts.feature_names[top]))
        words.barh(range(WORDS), result.W[top, j], color="#9dbad6")
        for place, word in enumerate(posts.feature_names[top]):
            words.text(0.05, place, word, va="center", fontsize=8)
        words.set(yticks=[], ylim=(WORDS - 0.4, -0.6), xlabel="log-odds")
        groups.bar(names, means[:, j], color="#d55e00")
        groups.tick_params(axis="x", labelsize=8, rotation=90)
    panels[1, 0].set_ylabel("mean strength")
    figure.savefig(output, dpi=160)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/words_beyond_chance.png")
