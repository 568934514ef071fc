"""Smooth components
=================

Four smooth profiles are mixed with a lot of noise. A bound on sparseness alone finds components
with many spikes. We add a constraint on the second differences of each component, written in
CVXPY, which the package passes to a cone solver unchanged.

With both constraints, the profiles are recovered.
"""

import sys
import tempfile

import cvxpy as cp
import matplotlib.pyplot as plt
import numpy as np

import conicnmf as cn


def main(output):
    """Recover smooth profiles from noisy mixtures and save a picture."""
    data = cn.datasets.paatero(m=60, n=40, noise=0.2)
    W = cp.Variable((60, 4), nonneg=True, name="W")
    H = cp.Variable((4, 40), nonneg=True, name="H")
    sparse = [cn.sparseness(W, axis=0) >= 0.6, H <= 1]
    bends = cp.norm(cp.diff(W, k=2, axis=0), 2, axis=0)
    models = {"sparse": sparse, "sparse and smooth": [*sparse, bends <= 0.2]}

    plt.style.use("tableau-colorblind10")
    figure, panels = plt.subplots(1, 3, figsize=(5.2, 2.3), sharey=True, layout="constrained")
    panels[0].plot(data.truth["W"])
    panels[0].set_title("true profiles", fontsize=9)
    panels[0].set_xlabel("feature")
    for axes, (title, constraints) in zip(panels[1:], models.items(), strict=True):
        problem = cn.Problem(cp.Minimize(cp.sum_squares(data.V - W @ H)), constraints)
        result = problem.solve(cn.TangentPlane(), seed=1, stop=cn.MaxIter(20))
        print(f"{title}: {result.status.name} in {result.seconds:.1f} s, largest violations")
        for constraint, violation in result.violation.items():
            print(f"  {violation:.0e}  {constraint}")
        axes.plot(result.W[:, np.argsort(result.W.argmax(axis=0))])
        axes.set_title(title, fontsize=9)
        axes.set_xlabel("feature")
    figure.savefig(output, dpi=160)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/smooth_profiles.png")
