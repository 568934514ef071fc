"""A fair comparison of solvers
============================

Which solver is best for your problem? `compare` gives each of them the same starts and the same
time, so the answer does not depend on luck. A solver that does not fit the problem is listed with
the reason.

Each line is one run: how far its objective is above the best of all runs, over time. Dots mark the
end of a run.
"""

import sys
import tempfile

import conicnmf as cn
from conicnmf.report import plot_convergence, to_markdown


def main(output):
    """Compare on data whose true components are known to be sparse, and save a picture."""
    data = cn.datasets.paatero()
    problem = cn.factorize(data.V, rank=4, W=[cn.NonNegative(), cn.Sparseness(min=0.6)])
    solvers = [
        cn.TangentPlane(),
        cn.SparsityMaximization(),
        cn.HALS(),
        cn.ProjectedGradient(),
        cn.Multiplicative(),
    ]
    cn.compare(problem, solvers, seeds=[0], stop=2)  # first calls compile, which is not timed
    comparison = cn.compare(problem, solvers, seeds=range(3), time_limit=2)
    print(to_markdown(comparison))
    skipped = comparison.table.query("status == 'SKIPPED'").drop_duplicates("solver")
    for line in skipped.itertuples():
        print(f"{line.solver} was left out: {line.reason}")

    best = comparison.best()
    print(f"\nThe best result is {best.solver}'s:\n{best.certificate()}")
    plot_convergence(comparison.results).savefig(output, dpi=160, facecolor="white")
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/compare_solvers.png")
