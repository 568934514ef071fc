"""Strokes, digits, and a table between them
=========================================

A factorization into three matrices, V ≈ W S H, groups pixels and pictures at the same time: W holds
strokes, H groups pictures, and the small table S tells which strokes make up a group.

The last picture shows how the groups, which were found without labels, are spread over the digits.
"""

import sys
import tempfile

import matplotlib.pyplot as plt
import numpy as np

import conicnmf as cn

STROKES, GROUPS, CLASSES = 12, 6, (0, 1, 4, 6, 7)


def main(output):
    """Find strokes, groups and the table, and save a picture."""
    data = cn.datasets.load("digits")
    kept = np.isin(data.target, CLASSES)
    V, digits = data.V[:, kept], data.target[kept]
    problem = cn.factorize(V, (STROKES, GROUPS))
    result = cn.multistart(problem, n_starts=3, stop=200).best
    print(result)
    # Scales are free: strokes of length one, groups that sum to one, and S in the units of V.
    W, S, H = result["W"], result["S"], result["H"]
    sizes, shares = np.linalg.norm(W, axis=0), H.sum(axis=1)
    S = sizes[:, None] * S * shares
    share = np.array([[h[digits == d].sum() for d in CLASSES] for h in H / shares[:, None]])
    for g, row in enumerate(share):
        print(f"group {g}: {max(row):.0%} of it is digit {CLASSES[int(row.argmax())]}")

    figure = plt.figure(figsize=(5.2, 4.6), layout="constrained")
    parts, tables = figure.subfigures(2, 1)
    for axes, stroke in zip(parts.subplots(2, 6).ravel(), (W / sizes).T, strict=True):
        axes.imshow(stroke.reshape(8, 8), cmap="Blues", vmin=0)
        axes.set(xticks=[], yticks=[])
    parts.suptitle("strokes: W", fontsize=10)
    middle, right = tables.subplots(1, 2)
    middle.imshow(S.T / S.max(), cmap="Blues", vmin=0, aspect="auto")
    middle.set(xlabel="stroke", ylabel="group", xticks=[], title="table: S")
    right.imshow(share, cmap="Blues", vmin=0, vmax=1, aspect="auto")
    right.set_xticks(range(len(CLASSES)), CLASSES)
    right.set(xlabel="digit", yticks=[], title="groups: H")
    for axes in (middle, right):
        axes.title.set_fontsize(10)
    figure.savefig(output, dpi=160)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/three_factors.png")
