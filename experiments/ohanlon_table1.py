"""Table I and Figure 2 of O'Hanlon and Plumbley (2013): which dictionaries are recovered."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from matplotlib.figure import Figure

import conicnmf as cn
from conicnmf.families import coding
from conicnmf.report.style import GRID, INK, legend_below, new_figure, series, styled
from conicnmf.solve.monitor import CountBar
from conicnmf.types import Array
from experiments.experiment import Experiment, Outcome, Setup, Verdict, judged

DENSITIES = (0.5, 0.25, 0.1)
SUCCESS = 0.95
L0 = "l0, λ = 0.02"
NMF = "NMF"
CONSTRAINED = "l0, then η = 0.02 on the dictionary"
Stages = tuple[cn.Coded, ...]
"""Solvers that take turns: the last from `Size.switch` on."""
METHODS: dict[str, Stages] = {
    L0: (cn.Coded(coding.L0(0.02)),),
    NMF: (cn.Coded(coding.LeastSquares()),),
    "T-NNLS, √0.02": (cn.Coded(coding.Threshold(0.02**0.5)),),
    # The paper halves the square, the coder does not.
    "l1, λ = 0.02": (cn.Coded(coding.Lasso(2 * 0.02)),),
    "l1, 2λ": (cn.Coded(coding.Lasso(2 * 0.04)),),
    "OMP": (cn.Coded(coding.OMP(max_atoms=15, rel_error=0.05)),),
}
EXTENDED: dict[str, Stages] = {
    CONSTRAINED: (cn.Coded(coding.L0(0.02)), cn.Coded(coding.L0(0.02), coding.L0(0.02))),
}
MORE: dict[str, Stages] = {
    "l1, 4λ": (cn.Coded(coding.Lasso(2 * 0.08)),),
    "l1, 8λ": (cn.Coded(coding.Lasso(2 * 0.16)),),
    "l1², λ = 0.02": (cn.Coded(coding.SquaredLasso(2 * 0.02)),),
}
PUBLISHED: dict[str, dict[float, tuple[float, float]]] = {
    name: dict(zip(DENSITIES, figures, strict=True))
    for name, figures in zip(
        METHODS,
        (
            ((0.992, 27), (0.992, 12), (0.973, 10)),
            ((0.408, np.nan), (0.507, np.nan), (0.660, np.nan)),
            ((0.990, 17), (0.970, 14), (0.897, np.nan)),
            ((0.432, np.nan), (0.555, np.nan), (0.865, np.nan)),
            ((0.476, np.nan), (0.893, np.nan), (0.995, 21)),
            ((0.818, np.nan), (0.958, 15), (0.976, 11)),
        ),
        strict=True,
    )
}
LIMITS = {0.5: 0.98, 0.25: 0.98, 0.1: 0.96}
"""What every run of the l0 row must reach to agree with the published one,"""
MOST_ROUNDS = 30
"""and the rounds in which it must reach 0.95."""


class Size(NamedTuple):
    """Features, atoms, samples, the active atoms of a sample, rounds, and those of a first stage."""

    m: int
    k: int
    n: int
    active: tuple[int, int]
    rounds: int
    switch: int


FULL = Size(200, 400, 1600, (5, 10), rounds=50, switch=15)
QUICK = Size(100, 150, 1000, (3, 6), rounds=16, switch=10)


class Curve(NamedTuple):
    """One run: the similarity after each round, and what the last round has."""

    similarity: Array
    atoms: float
    error: float


def learn(solvers: Stages, size: Size, density: float, seed: int) -> Curve:
    """Learn a dictionary from a random one of the same density.

    Examples
    --------
    >>> tiny = Size(12, 16, 60, (1, 2), rounds=3, switch=2)
    >>> len(learn(METHODS[L0], tiny, 0.25, 0).similarity)
    4
    """
    data = cn.datasets.synthetic_dictionary(*size[:3], density, size.active, seed)
    start = cn.datasets.synthetic_dictionary(*size[:2], 1, density, (1, 1), 1000 + seed).truth["W"]
    truth = data.truth["W"]
    curve = [cn.measures.dictionary_similarity(truth, start)]

    def watch(_: Any, factors: dict[str, Array]) -> None:
        curve.append(cn.measures.dictionary_similarity(truth, factors["W"]))

    problem = cn.factorize(data.V, size.k)
    edges = (0, size.rounds) if len(solvers) == 1 else (0, size.switch, size.rounds)
    init = cn.Given(W=start)
    for solver, rounds in zip(solvers, np.diff(edges), strict=True):
        result = problem.solve(solver, init=init, stop=int(rounds), callback=watch)
        init = cn.Given(result.W, result.H)
    atoms = float(np.count_nonzero(result.H) / size.n)
    return Curve(np.array(curve), atoms, result.relative_error)


Runs = dict[tuple[str, float], list[Curve]]


def _all_runs(setup: Setup, methods: dict[str, Stages], size: Size) -> Runs:
    seeds = setup.runs(quick=1, full=3)
    tasks = [
        (name, density, seed)
        for density in DENSITIES
        for seed in seeds
        for name in methods
        if name not in MORE or seed == seeds[0]  # what explains the table needs no spread
    ]
    work = (delayed(learn)(methods[name], size, density, seed) for name, density, seed in tasks)
    bar = CountBar("learning dictionaries", len(tasks)) if setup.progress else None
    runs: Runs = {}
    try:
        with Parallel(n_jobs=setup.n_jobs, return_as="generator") as pool:
            for (name, density, _), curve in zip(tasks, pool(work), strict=True):
                runs.setdefault((name, density), []).append(curve)
                if bar is not None:
                    bar.step()
    finally:
        if bar is not None:
            bar.close()
    return runs


def run(setup: Setup) -> Outcome:
    """Learn dictionaries of three densities with every method."""
    methods = METHODS | EXTENDED | ({} if setup.quick else MORE)
    runs = _all_runs(setup, methods, QUICK if setup.quick else FULL)
    table = pd.DataFrame([_row(name, density, own) for (name, density), own in runs.items()])
    return Outcome(table, {"convergence": _figure(runs)}, *_judged(table), NOTES)


def _row(name: str, density: float, runs: list[Curve]) -> dict[str, Any]:
    last = [curve.similarity[-1] for curve in runs]
    rounds = [cn.measures.rounds_to(curve.similarity, SUCCESS) for curve in runs]
    reached = [number for number in rounds if number is not None]
    published = PUBLISHED.get(name, {}).get(density, (np.nan, np.nan))
    return {
        "density": density,
        "method": name,
        "seeds": len(runs),
        "published P": published[0],
        "P": np.mean(last),
        "lowest P": np.min(last),
        "published I": published[1],
        "I": np.max(reached) if len(reached) == len(runs) else np.nan,
        "atoms a sample": np.mean([curve.atoms for curve in runs]),
        "relative error": np.mean([curve.error for curve in runs]),
    }


def _judged(table: pd.DataFrame) -> tuple[Verdict, str]:
    ours, plain, extended = (
        table[table["method"] == name].set_index("density") for name in (L0, NMF, CONSTRAINED)
    )
    held = (
        bool((ours["lowest P"] >= pd.Series(LIMITS)).all()),
        bool((ours["I"] <= MOST_ROUNDS).all()),
        bool((plain["P"] < SUCCESS).all()),
    )
    pairs = zip(ours["P"], ours["I"], strict=True)
    reached = " / ".join(f"{similarity:.3f} ({rounds:.0f})" for similarity, rounds in pairs)
    theirs = " / ".join("{:.3f} ({})".format(*figures) for figures in PUBLISHED[L0].values())
    gain = extended["P"] - ours["P"]
    return (
        judged(*held),
        f"at 50 / 25 / 10 % density l0 reaches {reached} for published {theirs}, NMF stays at or "
        f"below {plain['P'].max():.3f}; a sparse dictionary changes P by "
        f"{' / '.join(f'{change:+.4f}' for change in gain)}.",
    )


NOTES: tuple[str, ...] = (
    "P is the similarity after the last round, a mean over seeds; I is the first round with "
    f"P ≥ {SUCCESS} in the slowest seed, and missing unless every seed reaches it.",
    "The text gives 800 samples and a coefficient matrix with fewer rows than the dictionary has "
    "columns; here 400 rows and 1600 samples. The number of samples explains most of what is better "
    "here than printed. With 800 of them, one seed: T-NNLS fails at 10 % as printed (P = 0.924, "
    "printed 0.897), OMP ends at 0.814 at 50 % (printed 0.818) and at 0.951 at 10 % (0.976), l0 at "
    "0.956 at 10 % (0.973). T-NNLS at 25 % then ends at 0.920, below the printed 0.970.",
    "The printed start is not known; ours is a random dictionary of the same density.",
    "l1 with the printed objective, half the square plus λ, needs about twice the printed λ: our row "
    "2λ fails everywhere as the printed λ does, and our row 4λ succeeds at 10 % and fails at 50 % as "
    "the printed 2λ does (10 %: P = 0.998 in 21 rounds, printed 0.995 in 21), but not at 25 %, where "
    "it takes 45 rounds. At 8λ l1 recovers all three dictionaries, and so does l1²: how l1 fares is "
    "a matter of λ, as the paper suspects.",
    "NMF fails everywhere, here with a P lower than printed (0.28 / 0.32 / 0.43 for 0.41 / 0.51 / "
    "0.66). Fewer samples hardly raise it (100 × 200 at 10 %: 0.570, 0.563 and 0.555 for 400, 800 "
    "and 1600 samples), smaller dictionaries do (0.56 for 100 × 200, 0.43 for 200 × 400). What else "
    "differs in the paper's runs could not be found out.",
    "The constraint on the dictionary, which the paper proposes and does not try, sets in after 15 "
    "rounds and makes the 10 % case exact. It suits sparse dictionaries only: at 50 % it makes P "
    "lower. From the first round on it drops entries that belong there: at 10 % P reaches 0.95 in "
    "round 22 instead of 7 and ends at 0.997. Larger η do harm: after 15 rounds without, 0.05 ends "
    "at 0.999, 0.1 at 0.947 and 0.3 at 0.54 (twelve rounds more). η = 0.02 and the late start were "
    "picked from these trials, by P on the first seed at 10 %; the other seeds confirm them there.",
)


def _figure(runs: Runs) -> Figure:
    """Draw the mean similarity over the rounds, a panel a density, of what the table compares."""
    names = [*METHODS, CONSTRAINED]
    looks = series(names)
    looks[CONSTRAINED]["linestyle"] = "--"  # it begins on the line of plain l0
    labels = {CONSTRAINED: "l0, then η = 0.02"}
    with styled():
        figure = new_figure(3.3)
        panels = figure.subplots(1, len(DENSITIES), sharey=True)
        for axes, density in zip(panels, DENSITIES, strict=True):
            axes.axhline(SUCCESS, color=INK, linewidth=0.7, linestyle="--")
            for name in names:
                curves = [curve.similarity for curve in runs[name, density]]
                axes.plot(np.mean(curves, axis=0), label=labels.get(name, name), **looks[name])
            axes.set_title(f"{density:.0%} dense")
            axes.set_xlabel("round")
            axes.grid(color=GRID)
        panels[0].set_ylabel("similarity P")
        legend_below(figure, panels[0])
    return figure


EXPERIMENT = Experiment(
    id="ohanlon-table1",
    paper="O'Hanlon and Plumbley, Learning overcomplete dictionaries with l0-sparse non-negative "
    "matrix factorisation, 2013, Table I and Figure 2",
    title="Recovery of overcomplete dictionaries of three densities",
    published="l0-sparse NMF recovers every dictionary, P = 0.992 / 0.992 / 0.973 at 50 / 25 / 10 % "
    "density after 27 / 12 / 10 rounds to 0.95; NMF recovers none.",
    data="Generated: dictionaries of 200 × 400, 1600 samples of 5 to 10 atoms, 50 rounds, three "
    "seeds (100 × 150, 1000 samples of 3 to 6 atoms, 16 rounds and one seed when quick).",
    run=run,
)
