"""README's first model: both bounds bind, and the default is the best of README's table."""

import re
from pathlib import Path

import numpy as np
import pytest

import conicnmf as cn
from conicnmf.geometry import hoyer_sparseness

README = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def problem():
    code, *_ = re.findall(r"```python\n(.*?)```", README, flags=re.DOTALL)
    names = {}
    exec(code.partition("result =")[0], names)
    return names["problem"]


def test_both_bounds_of_readme_s_model_bind(problem):
    result = problem.solve(seed=0)
    assert hoyer_sparseness(result.W.T).min() == pytest.approx(0.8, abs=1e-4)
    assert hoyer_sparseness(result.H).max() == pytest.approx(0.05, abs=1e-4)


def test_on_no_seed_of_readme_s_table_a_single_solver_ends_below_the_default(problem):
    first, last = map(int, re.findall(r"over the seeds (\d+) to (\d+)", README)[0])
    (told,) = re.findall(r"\| default \|.*\n.*\n\| (.*) \|", README)
    seeds = range(first, last + 1)
    default = [problem.solve(seed=seed).objective for seed in seeds]
    single = [
        [problem.solve(solver, seed=seed).objective for seed in seeds]
        for solver in (cn.TangentPlane(), cn.ProjectedGradient(), cn.HALS())
    ]
    assert (np.array(default) <= np.min(single, axis=0) * (1 + 1e-9)).all()
    means = [np.mean(default), *np.mean(single, axis=1)]
    assert means == pytest.approx([float(cell) for cell in told.split(" | ")], rel=2e-3)
