"""Digits in parts that do not overlap
===================================

One factor, V ≈ W Wᵀ V, against two.
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
        "Hebbian network": cn.solve(projection, ProjectionRule(), stop=2000),
        "three passes on-line": cn.solve(projection, OnlineHebbian()),
    }
    figure, panels = plt.subplots(1, 4, figsize=(6.8, 2.4), layout="constrained")
    for axes, (title, result) in zip(panels, results.items(), strict=True):
        found = f"ρ = {orthogonality(result.W):.3f}, error {result.relative_error:.2f}"
        print(f"{title}: {found}")
        axes.imshow(tiles(result.W), cmap="Blues")
        axes.set(xticks=[], yticks=[])
        axes.set_title(title, fontsize=10)
        axes.set_xlabel(found, fontsize=8)
        axes.spines[:].set_visible(False)
    figure.savefig(output, dpi=120)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/projected_parts.png")
