"""Section IV-B of Thom et al. (2011): a linear SVM on the codes of 192 filters."""

from __future__ import annotations

import time
from dataclasses import dataclass
from itertools import product
from typing import Any

import numpy as np
import pandas as pd
from joblib import Parallel, delayed
from matplotlib.figure import Figure

from conicnmf.families.autoencoders import encode
from conicnmf.report import plot_basis
from conicnmf.results import Result
from conicnmf.types import Array
from experiments.experiment import Experiment, Outcome, Setup, judged_by
from experiments.thom_digits import (
    IMAGE,
    NEARLY_ALL,
    PAPER,
    SPARSE,
    Digits,
    Learning,
    code_sparseness,
    how_chosen,
    how_sure,
    svm_error,
)

PAPERS_PAIR = (0.8, 0.7)
PAIRS = tuple(product((0.5, 0.65, 0.8), (0.55, 0.65, 0.7)))
"""Sparseness of filters and of codes, to choose from on held-out training digits."""
PUBLISHED = 2.48
"""The published test error in percent."""

Pair = tuple[float, float]


@dataclass(frozen=True)
class Plan:
    """Training digits, test digits, filters, iterations; digits and iterations to choose pairs by."""

    count: int = 60000
    tests: int = 10000
    rank: int = 192
    iterations: int = 160
    trial: int = 10000
    trial_iterations: int = 100

    def learning(self, pair: Pair, iterations: int, name: str = "") -> Learning:
        """Return how filters are learned at a pair."""
        return Learning(self.rank, *pair, iterations=iterations, name=name)


FULL = Plan()
QUICK = Plan(1000, 2000, 64, 60, 800, 40)


def run(setup: Setup) -> Outcome:
    """Choose a pair on held-out digits, learn filters there and at the paper's, and classify codes."""
    plan, seeds = QUICK if setup.quick else FULL, setup.runs(quick=1, full=3)
    pairs = (PAPERS_PAIR, (0.65, 0.65)) if setup.quick else PAIRS
    with Parallel(n_jobs=setup.n_jobs) as pool:
        rows = list(pool(delayed(_tried)(plan, pair, setup.progress) for pair in pairs))
        chosen = pairs[int(np.argmin([row["error %"] for row in rows]))]
        tests = [(pair, seed) for pair in dict.fromkeys((chosen, PAPERS_PAIR)) for seed in seeds]
        learned = pool(delayed(_tested)(plan, *test, setup) for test in tests)
    figures = {}
    for (pair, _), (row, W) in zip(tests, learned, strict=True):
        rows.append(row)
        filters = plot_basis(W[:, :32], IMAGE, columns=8, signed=True)
        figures[f"filters-{pair[0]:g}-{pair[1]:g}"] = filters
    return _outcome(pd.DataFrame(rows), figures, chosen, plan)


def _outcome(table: pd.DataFrame, figures: dict[str, Figure], chosen: Pair, plan: Plan) -> Outcome:
    rows = table[table["judged on"] == "test"]
    errors = rows.groupby(["σ_W", "σ_H"])["error %"].mean()
    near = abs(rows["code sparseness"] / rows["estimate"] - 1).max()
    alike = float(rows["within 0.1"].min())
    verdict, said = judged_by(
        {
            f"at most {PUBLISHED:g} % at the pair chosen without the test digits": errors[chosen]
            <= PUBLISHED,
            f"at most {PUBLISHED:g} % at the paper's own pair": errors[PAPERS_PAIR] <= PUBLISHED,
            "the paper's pair is the best of those tried": chosen == PAPERS_PAIR,
            "code words are as sparse as the paper estimates": near <= SPARSE,
            f"{NEARLY_ALL:.0%} of them within 0.1 of the mean": alike >= NEARLY_ALL,
        }
    )
    means = " and ".join(
        f"{errors[pair]:.2f} % at (σ_W, σ_H) = ({pair[0]:g}, {pair[1]:g})"
        for pair in dict.fromkeys((chosen, PAPERS_PAIR))
    )
    return Outcome(
        table,
        figures,
        verdict,
        f"mean test errors are {means} (seeds {_seeds(rows)}; held-out digits chose the pair "
        f"({chosen[0]:g}, {chosen[1]:g})); the mean sparseness of code words is within {near:.1%} of "
        f"the paper's estimate. {said}",
        _notes(rows, plan),
    )


def _seeds(tested: pd.DataFrame) -> str:
    return ", ".join(str(seed) for seed in sorted(set(tested["seed"])))


def _tried(plan: Plan, pair: Pair, progress: bool) -> dict[str, Any]:
    """Return the row of a pair that is judged on held-out training digits."""
    digits = Digits.held_out(plan.trial, plan.trial)
    learning = plan.learning(pair, plan.trial_iterations)
    result = learning.run(digits.V, progress=progress)
    return _row(result, digits, learning, 0) | {"judged on": "held-out"}


def _tested(plan: Plan, pair: Pair, seed: int, setup: Setup) -> tuple[dict[str, Any], Array]:
    """Return the row of a pair that is judged on the test digits, and its filters."""
    digits = Digits.load(plan.count, plan.tests)
    name = "" if setup.quick else f"thom-mnist-{pair[0]:g}-{pair[1]:g}"
    learning = plan.learning(pair, plan.iterations, name)
    result = learning.run(digits.V, seed=seed, progress=setup.progress)
    return _row(result, digits, learning, seed), result.W


def _row(result: Result, digits: Digits, plan: Learning, seed: int) -> dict[str, Any]:
    f = result.factors
    codes, tested = (encode(V, f["W"], f["theta"], f["beta"], 3) for V in (digits.V, digits.V_test))
    error, cost = svm_error(codes, digits.y, tested, digits.y_test)
    notes = result.history[-1].notes
    mean, estimate, near = code_sparseness(result, plan.sparseness_h)
    return {
        "judged on": "test",
        "σ_W": plan.sparseness_w,
        "σ_H": plan.sparseness_h,
        "digits": len(digits.y),
        "filters": plan.rank,
        "iterations": result.n_iter,
        "seed": seed,
        "error %": error,
        "C": cost,
        "relative error": notes["reconstruction"],
        "inference error": notes["inference"],
        "code sparseness": mean,
        "estimate": estimate,
        "within 0.1": near,
        "inference / product": _price(f, digits.V_test),
        "minutes": result.seconds / 60,
    }


def _price(f: dict[str, Array], X: Array) -> float:
    """Return the processor time of inference over that of its product, both the best of five."""
    best = [np.inf, np.inf]
    for _ in range(5):
        for side in (0, 1):
            begin = time.process_time()
            if side:
                encode(X, f["W"], f["theta"], f["beta"], 3)
            else:
                f["W"].T @ X
            best[side] = min(best[side], time.process_time() - begin)
    return best[1] / best[0]


def _notes(tested: pd.DataFrame, plan: Plan) -> tuple[str, ...]:
    spread = tested.groupby(["σ_W", "σ_H"])["error %"].agg(["min", "max"])
    ranges = " and ".join(f"{low:.2f} to {high:.2f} %" for low, high in spread.to_numpy())
    return (
        "The paper leaves out β, the exponent, schedules, steps, starts and the balance of the errors. "
        "Here each error is divided by its own scale, q = 3, θ and one β a filter are learned, α_I "
        "rises to ½ over the first 20 iterations, and filters start as random digits seen through "
        "Gaussian windows.",
        "The pair is chosen on training digits that no filter saw, with one seed and fewer iterations. "
        f"{how_chosen(plan.count)} Test digits are used once, by the rows that say so.",
        f"From seed to seed test errors go from {ranges}. "
        f"{how_sure(float(tested['error %'].mean()), plan.tests)}",
        "The SVM has the squared hinge of LIBLINEAR, one for each pair of classes, on codes "
        "standardized over the training digits.",
        f"Inference takes at most {tested['inference / product'].max():.2f} times its matrix product. "
        "Single precision, one thread; times are of this machine, which was shared.",
    )


EXPERIMENT = Experiment(
    id="thom-mnist",
    paper=f"{PAPER}, Section IV-B",
    title="Digits classified by a linear SVM on codes of 192 filters",
    published="2.48 % test error with 192 filters at (σ_W, σ_H) = (0.8, 0.7), the lowest of all pairs, "
    "from all 60000 training digits.",
    data="MNIST: all 60000 training digits and 10000 test digits; pairs are chosen on 10000 training "
    "digits held out from 10000 others (quick: 1000, 64 filters, 2000 test digits, 800 and 800).",
    run=run,
)
