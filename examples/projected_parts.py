"""Parts of digits that do not overlap
===================================

In projective NMF the codes are the projections of the data, V ≈ W Wᵀ V, so W is the only variable.
Its parts hardly overlap. The orthogonality ρ measures this: it is 1 for parts without any overlap.

The picture compares ordinary NMF, projective NMF by quasi-Newton steps and by the published rule,
and an online rule that reads the data three times, sample by sample.
"""

import sys
import tempfile

import matplotlib.pyplot as plt
import numpy as np

import conicnmf as cn
from conicnmf.families.one_factor import OnlineHebbian, ProjectionRule, ProjectiveNMF
from conicnmf.study.measures import orthogonality

RANK = 16


def tiles(W):
    """Return sixteen components of 8×8 pixels as one image, each on its own scale."""
    images = (W / W.max(axis=0)).T.reshape(4, 4, 8, 8)
    framed = np.pad(images, [(0, 0), (0, 0), (0, 1), (0, 1)], constant_values=np.nan)
    return framed.swapaxes(1, 2).reshape(36, 36)[:-1, :-1]


def main(output):
    """Learn parts three ways, print how far they overlap and save a picture."""
    V = cn.datasets.load("digits").V
    projection = ProjectiveNMF(V, RANK)
    results = {
        "V ≈ W H": cn.factorize(V, RANK).solve(),
        "V ≈ W Wᵀ V": cn.solve(projection, stop=2000),
        "published rule": cn.solve(projection, ProjectionRule(), stop=2000),
        "three passes online": cn.solve(projection, OnlineHebbian()),
    }
    figure, panels = plt.subplots(2, 2, figsize=(4.8, 6), layout="constrained")
    for axes, (title, result) in zip(panels.flat, results.items(), strict=True):
        found = f"ρ = {orthogonality(result.W):.3f}, error {result.relative_error:.2f}"
        print(f"{title}: {found}")
        axes.imshow(tiles(result.W), cmap="Blues")
        axes.set(xticks=[], yticks=[])
        axes.set_title(title, fontsize=10)
        axes.set_xlabel(found, fontsize=9)
        axes.spines[:].set_visible(False)
    figure.savefig(output, dpi=160)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/projected_parts.png")
