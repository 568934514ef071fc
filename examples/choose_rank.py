"""How many components?
====================

A larger rank always fits better, so the fit alone cannot tell you the rank. Two other questions
can. Does the model predict entries that were hidden from it? Do runs from different seeds find the
same components?

The data have four components, marked by the gray line. Beyond four the error of the hidden entries
grows, although the fitted error still falls, and the seeds stop agreeing.
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
    figure, (upper, lower) = plt.subplots(2, 1, figsize=(5.2, 5.2), layout="constrained")
    table = choice.table
    upper.errorbar(RANKS, table["held_out"], table["standard_error"], label="held-out entries")
    upper.plot(RANKS, table["fitted"], "--", label="fitted entries")
    upper.set(title="relative error", xlabel="rank", yscale="log")
    lower.plot(RANKS, [runs.score for runs in found.values()], "o-", label="components found again")
    lower.plot(
        RANKS, [runs.dispersion for runs in found.values()], "s--", label="samples grouped alike"
    )
    lower.set(title="agreement of ten seeds", xlabel="rank", ylim=(None, 1.02))
    for axes in (upper, lower):
        axes.axvline(TRUE, color="gray", linewidth=6, alpha=0.25, label="true rank")
        axes.legend(fontsize=8)
        axes.grid(alpha=0.3)
    figure.savefig(output, dpi=160)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/choose_rank.png")
