"""Threes and eights
=================

Which few pixels tell threes from eights? A discriminant finds one non-negative filter that
separates two classes as well as possible. The published update rule ends far from the optimum; the
discriminant is solved exactly, and a lower bound on sparseness leaves only the most useful pixels.

Blue pixels are evidence for an eight, red ones for a three. The error is measured on new digits.
"""

import sys
import tempfile

import matplotlib.pyplot as plt

import conicnmf as cn
from conicnmf.families.one_factor import Discriminant, MedianFlip, ProjectionRule
from conicnmf.study.measures import equal_error_rate, fisher_ratio


def main(output):
    """Learn on half of the digits, test on the others and save the filters as a picture."""
    digits = cn.datasets.load("digits")
    chosen = (digits.target == 3) | (digits.target == 8)
    V, y = digits.V[:, chosen], digits.target[chosen] == 8
    flip = MedianFlip.learn(V[:, ::2], y[::2], upper=V.max())
    train, test = flip.apply(V[:, ::2]), flip.apply(V[:, 1::2])

    free = Discriminant(train, y[::2], ridge=0.01)
    sparse = Discriminant(train, y[::2], ridge=0.01, constraints=[cn.Sparseness(min=0.8)])
    results = {
        "published rule": cn.solve(free, ProjectionRule(last=True)),
        "optimal": cn.solve(free),
        "sparseness ≥ 0.8": cn.solve(sparse),
    }
    print(results["optimal"].certificate())
    figure, panels = plt.subplots(1, 3, figsize=(5.2, 2.6), layout="constrained")
    for axes, (title, result) in zip(panels, results.items(), strict=True):
        w = result.W[:, 0]
        ratio = fisher_ratio(w @ train, y[::2])
        error = equal_error_rate(w @ test, y[1::2])
        found = f"Fisher ratio {ratio:.1f}, error {error:.1%}"
        print(f"{title}: {found}")
        picture = flip.signed(w).reshape(8, 8)
        reach = abs(picture).max()
        axes.imshow(picture, cmap="RdBu", vmin=-reach, vmax=reach)
        axes.set(xticks=[], yticks=[])
        axes.set_title(title, fontsize=10)
        axes.set_xlabel(found.replace(", ", "\n"), fontsize=9)
        axes.spines[:].set_visible(False)
    figure.savefig(output, dpi=160)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/sparse_discriminant.png")
