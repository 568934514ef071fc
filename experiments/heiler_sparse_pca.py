"""Section 6.3 of Heiler and Schnörr (2005): sparse PCA of three hidden factors."""

from __future__ import annotations

from itertools import permutations
from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure
from sklearn.decomposition import PCA

import conicnmf as cn
from conicnmf.report.style import SIGNED, new_figure, styled
from conicnmf.types import Array
from experiments.experiment import Experiment, Outcome, Setup, judged_by

BLOCKS = (slice(0, 4), slice(4, 8), slice(8, 10))
SEPARATED = 0.8
"""Factors count as separated when every component has this share of its square in its own block."""
REWARD, CAP, RIDGE = 0.6, 0.01, 0.06
BAND, BAND_RIDGE = 0.53, 0.01


def block_share(W: Array) -> float:
    """Return the smallest share of a component's square in a block of its own.

    Examples
    --------
    >>> block_share(np.repeat(np.eye(3), (4, 4, 2), axis=0))
    1.0
    """
    squares = W**2 / (W**2).sum(axis=0)
    shares = np.array([squares[block].sum(axis=0) for block in BLOCKS])
    columns = np.arange(W.shape[1])
    return float(max(shares[list(rows), columns].min() for rows in permutations(range(3))))


def run(setup: Setup) -> Outcome:
    """Compare PCA with the relaxed and the banded form, best of three starts each."""
    copies = setup.runs(quick=1, full=5)
    starts = 3
    rows: list[list[Any]] = []
    shown: dict[str, Array] = {}
    for copy in copies:
        V = cn.datasets.three_factors(seed=copy).V
        V /= np.linalg.norm(V)
        # H is only bounded in norm, so just the row space of V matters: V = U S Zᵀ, and Z is left out.
        U, S, _ = np.linalg.svd(V, full_matrices=False)
        found = {"PCA": (PCA(3).fit(V.T).components_.T, float((S[3:] ** 2).sum()))}
        for form, problem in _forms(U * S).items():
            best = _best(problem, U, S, starts, copy)
            found[form] = (best.W, best.relative_error)
        shown = shown or {form: W for form, (W, _) in found.items()}
        rows += [[form, block_share(W), error] for form, (W, error) in found.items()]
    runs = pd.DataFrame(rows, columns=["method", "share", "error"])
    table = _table(runs)
    counts = dict(zip(table["method"], table.iloc[:, -1], strict=True))
    verdict, said = judged_by(
        {
            "sparse PCA separates the factors": all(
                counts[form] == len(copies) for form in counts if form != "PCA"
            ),
            "PCA does not": counts["PCA"] == 0,
        }
    )
    listed = ", ".join(f"{name} in {count}" for name, count in counts.items())
    return Outcome(
        table,
        {"loadings": _figure(shown)},
        verdict,
        f"the best of {starts} starts separates the variables 1–4, 5–8 and 9–10 in so many of "
        f"{len(copies)} data sets: {listed}. {said}",
        _notes(S, table),
    )


def _notes(S: Array, table: pd.DataFrame) -> tuple[str, ...]:
    """Say what was chosen, with the figures of a set whose singular values are S."""
    plain: Any = table.set_index("method").loc["PCA", "relative error"]
    two = 1 - (S[2:] ** 2).sum() / (S**2).sum()
    block = cn.sparseness(np.repeat([1.0, 0.0], (4, 6))[:, None], axis=0)[0]
    return (
        "V is divided by ‖V‖, which gives the published weight 0.6 a meaning: the loss is the relative "
        f"error. The cap on it, {CAP}, is {CAP / plain:.1f} times the error of PCA with three "
        "components.",
        "The model as printed is not enough. Three signed columns that are nearly the same spike, with "
        "coefficients that cancel each other, fit as well as the blocks and are sparser. Bounding the "
        f"norm of H's rows by 1 and adding {RIDGE}‖W‖² ({BAND_RIDGE}‖W‖² in the banded form) rules "
        "this out.",
        "Starts are random rotations of the PCA solution, which meet the cap.",
        f"The banded form asks for sp(W) ≥ {BAND}, just below the sparseness {block:.4f} of four equal "
        "entries out of ten.",
        "The third factor is a combination of the other two plus noise as small as that of the "
        f"observations, so two components explain {two:.1%}.",
    )


def _forms(V: Array) -> dict[str, cn.Problem]:
    ball = [cn.NormBall(1.0)]
    # Sparseness() bounds nothing, but has W solved for magnitudes first and signs then.
    relaxed = [cn.SparsenessReward(REWARD), cn.Sparseness(), cn.L2(RIDGE)]
    banded = [cn.Sparseness(min=BAND), cn.L2(BAND_RIDGE)]
    return {
        "relaxed": cn.factorize(V, 3, loss=cn.Frobenius(cap=CAP), W=relaxed, H=ball),
        "banded": cn.factorize(V, 3, W=banded, H=ball),
    }


def _best(problem: cn.Problem, U: Array, S: Array, starts: int, seed: int) -> cn.Result:
    """Return the best result from random rotations of the PCA solution."""
    rng = np.random.default_rng(seed)
    results = []
    for _ in range(starts):
        turn = np.linalg.qr(rng.standard_normal((3, 3)))[0]
        H = turn.T @ np.eye(3, len(S)) * S
        norms = np.linalg.norm(H, axis=1)
        start = (U[:, :3] @ turn * norms, H / norms[:, None])
        results.append(problem.solve(cn.TangentPlane(), init=start, throw=False))
    usable = [result for result in results if result.status.kind != "failed"]
    return min(usable or results, key=lambda result: result.objective)


def _table(runs: pd.DataFrame) -> pd.DataFrame:
    groups: Any = runs.groupby("method", sort=False)
    claims = {"PCA": "fails", "relaxed": "separates", "banded": "–"}
    return pd.DataFrame(
        {
            "method": list(groups.groups),
            "published": [claims[method] for method in groups.groups],
            "mean share in own block": groups["share"].mean().to_numpy(),
            "lowest": groups["share"].min().to_numpy(),
            "relative error": groups["error"].mean().to_numpy(),
            f"separated of {len(runs) // len(claims)}": [
                int((own["share"] >= SEPARATED).sum()) for _, own in groups
            ],
        }
    )


def _figure(shown: dict[str, Array]) -> Figure:
    with styled():
        figure = new_figure(2.9)
        for axes, (form, W) in zip(figure.subplots(1, len(shown)), shown.items(), strict=True):
            order = np.argsort([np.average(np.arange(10), weights=w**2) for w in W.T])
            unit = (W * np.sign(W.sum(axis=0)) / np.abs(W).max(axis=0))[:, order]
            axes.imshow(unit, cmap=SIGNED, vmin=-1, vmax=1, aspect="auto", interpolation="none")
            axes.set_title(form)
            axes.set_xticks(range(3), ["1", "2", "3"])
            axes.set_yticks(range(10), [str(i) for i in range(1, 11)])
            axes.grid(False)
            axes.set_xlabel("component")
            for line in (3.5, 7.5):
                axes.axhline(line, color="white", linewidth=2)
        figure.axes[0].set_ylabel("observed variable")
    return figure


EXPERIMENT = Experiment(
    id="heiler-sparse-pca",
    paper="Heiler and Schnörr, Reverse-convex programming for sparse image codes, 2005, "
    "Section 6.3",
    title="Sparse PCA separates three hidden factors",
    published="Sparse PCA (relaxed form, weight 0.6, a cap on the error, best of three runs) "
    "separates the factors, PCA does not.",
    data="Generated: ten noisy observations of three hidden factors, 1000 samples; five data sets "
    "(one when quick).",
    run=run,
)
