"""How many components?
====================

Ask entries held out of the fit, and whether other seeds agree.
"""

import sys
import tempfile

import matplotlib.pyplot as plt

import conicnmf as cn
from conicnmf.study import cross_validate_rank, stability

TRUE, RANKS = 4, range(1, 7)


def main(output):
    """Judge every rank in two ways and save a picture of both."""
    V = cn.datasets.low_rank(40, 50, TRUE, noise=0.15, density=0.5, seed=0).V
    choice = cross_validate_rank(V, RANKS, folds=3)
    print(choice)
    found = {rank: stability(cn.factorize(V, rank), cn.HALS(), n_starts=10) for rank in RANKS}
    print(found[TRUE])

    plt.style.use("tableau-colorblind10")
    figure, (left, right) = plt.subplots(1, 2, figsize=(7.2, 3), layout="constrained")
    table = choice.table
    left.errorbar(RANKS, table["held_out"], table["standard_error"], label="held-out entries")
    left.plot(RANKS, table["fitted"], "--", label="fitted entries")
    left.set(title="relative error", xlabel="rank", yscale="log")
    right.plot(RANKS, [runs.score for runs in found.values()], "o-", label="components found again")
    right.plot(
        RANKS, [runs.dispersion for runs in found.values()], "s--", label="samples grouped alike"
    )
    right.set(title="agreement of ten seeds", xlabel="rank", ylim=(None, 1.02))
    for axes in (left, right):
        axes.axvline(TRUE, color="gray", linewidth=6, alpha=0.25, label="true rank")
        axes.legend(fontsize=8)
        axes.grid(alpha=0.3)
    figure.savefig(output, dpi=120)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/choose_rank.png")
