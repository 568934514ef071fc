"""Section IV-B of Thom et al. (2011): a linear SVM on the codes of 192 filters."""

from __future__ import annotations

import time

import numpy as np
import pandas as pd

from conicnmf.families.autoencoders import encode
from conicnmf.report import plot_basis
from conicnmf.results import Result
from conicnmf.types import Array
from experiments.experiment import Experiment, Outcome, Setup, judged
from experiments.thom_digits import (
    IMAGE,
    PAPER,
    Digits,
    Learning,
    code_sparseness,
    svm_error,
)

LIMITS = {1000: 16.0, 10000: 4.5, 60000: 2.8}
"""Test errors in percent up to which the filters count as good as published."""
PUBLISHED = {60000: 2.48}


def run(setup: Setup) -> Outcome:
    """Learn filters, infer the codes of all digits, and classify them."""
    sizes = (1000,) if setup.quick else (10000, 60000)
    n, tests = (64, 2000) if setup.quick else (192, 10000)
    rows, figures = [], {}
    for count in sizes:
        digits = Digits.load(count, tests)
        plan = Learning(n, iterations=60 if setup.quick else 600, name=_name(setup, count))
        for seed in setup.runs(quick=1, full=1):
            result = plan.run(digits.V, seed=seed, progress=setup.progress)
            rows.append(_row(result, digits, plan))
        figures[f"filters-{count}"] = plot_basis(result.W[:, :64], IMAGE, columns=16, signed=True)
    table = pd.DataFrame(rows)
    good = all(table["test error %"] <= table["digits"].map(LIMITS))
    near = abs(table["code sparseness"] / table["estimate"] - 1).max()
    return Outcome(
        table,
        figures,
        judged(good, near <= 0.03),
        f"{_errors(table)}; the mean sparseness of code words is within {near:.1%} of the paper's "
        f"estimate, and inference takes at most {table['inference / product'].max():.2f} times its "
        "matrix product.",
        NOTES,
    )


def _name(setup: Setup, count: int) -> str:
    return "" if setup.quick else f"thom-mnist-{count}"


def _row(result: Result, digits: Digits, plan: Learning) -> dict[str, object]:
    f = result.factors
    codes, tested = (encode(V, f["W"], f["theta"], f["beta"], 3) for V in (digits.V, digits.V_test))
    error, cost = svm_error(codes, digits.y, tested, digits.y_test)
    notes = result.history[-1].notes
    mean, estimate, near = code_sparseness(result, plan.sparseness_h)
    count = len(digits.y)
    return {
        "digits": count,
        "filters": plan.rank,
        "published %": PUBLISHED.get(count, np.nan),
        "test error %": error,
        "C": cost,
        "relative error": notes["reconstruction"],
        "inference error": notes["inference"],
        "code sparseness": mean,
        "estimate": estimate,
        "within 0.1": near,
        "inference / product": _price(f, digits.V_test),
        "iterations": result.n_iter,
        "minutes": result.seconds / 60,
    }


def _price(f: dict[str, Array], X: Array) -> float:
    """Return the time of inference over that of its matrix product, both the best of five."""
    best = [np.inf, np.inf]
    for _ in range(5):
        for side in (0, 1):
            begin = time.perf_counter()
            if side:
                encode(X, f["W"], f["theta"], f["beta"], 3)
            else:
                f["W"].T @ X
            best[side] = min(best[side], time.perf_counter() - begin)
    return best[1] / best[0]


def _errors(table: pd.DataFrame) -> str:
    pairs = zip(table["digits"], table["test error %"], strict=True)
    return "the test error is " + " and ".join(f"{e:.2f} % from {n} digits" for n, e in pairs)


NOTES = (
    "The paper leaves out β, the exponent, schedules, steps, starts and the balance of the "
    "errors. Here each error is divided by its own scale, q = 3, θ and one β a filter are learned, "
    "α_I rises to ½ over the first 20 iterations, and filters start as random digits seen through "
    "Gaussian windows.",
    "The start decides: on 2000 digits and 120 iterations, errors were 5.7 % from windows and "
    "7.0 to 7.4 % from noise, whole digits or differences of digits, whose filters stay scattered "
    "for long.",
    "Tried on 2000 digits: α_I = 0.05 is worse (8.4 %, codes that cannot be inferred), 0.8 about "
    "equal to ½; rows of H of norm 0.4√M, where f saturates, about equal; non-negative factors a "
    "little better than signed ones from noise; q = 5 clearly worse (10 %).",
    "A slow rise of α_I is worse: within it some filters grow large and have codes that no encoder "
    "finds again. With 10000 digits and 400 iterations the mean inference error is 0.017 after 20 "
    "or 60 iterations of rise, 0.036 after 120 and 0.051 after 180.",
    "With α_I rising over 45 % of the iterations, and before steps on θ and β were shortened filter "
    "by filter, all 60000 digits gave test errors of 2.93 % after 240 iterations, 2.81 % after 400 "
    "and 3.18 % after 800 (15.5 minutes, inference error 0.139). The shorter rise was then chosen "
    "by inference error and held-out training digits, and run once on all.",
    "The SVM (LIBLINEAR, squared hinge, one for each pair of classes) sees codes standardized "
    "over the training digits; C is the best of 0.003, 0.01 and 0.03 on a sixth of them.",
    "Single precision, one thread; times are of this machine, which was shared.",
)


EXPERIMENT = Experiment(
    id="thom-mnist",
    paper=f"{PAPER}, Section IV-B",
    title="Digits classified by a linear SVM on codes of 192 filters",
    published="2.48 % test error with 192 filters, (σ_W, σ_H) = (0.8, 0.7), all 60000 training "
    "digits.",
    data="MNIST: 10000 and all 60000 training digits, 10000 test digits (quick: 1000, 64 filters, "
    "2000 test digits).",
    run=run,
)
