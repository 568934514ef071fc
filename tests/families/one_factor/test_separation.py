"""Several orthonormal columns, against every way to share out the rows."""

from itertools import product

import numpy as np
import pytest

import conicnmf as cn
from conicnmf.families.one_factor import (
    ConeAscent,
    ProjectedDescent,
    ProjectionRule,
    QuadraticProjection,
    Separation,
)


def best_over_partitions(A, rank):
    """Return the largest ½tr(WᵀAW): entries of an A ≥ 0 make the top vector of a part ≥ 0."""
    m = len(A)
    tops = {
        rows: np.linalg.eigvalsh(A[np.ix_(rows, rows)])[-1]
        for mask in range(1, 2**m)
        for rows in [tuple(i for i in range(m) if mask >> i & 1)]
    }
    best = -np.inf
    for owners in product(range(rank), repeat=m):
        parts = [tuple(i for i in range(m) if owners[i] == j) for j in range(rank)]
        if all(parts):
            best = max(best, 0.5 * sum(tops[part] for part in parts))
    return best


@pytest.mark.parametrize("seed", range(6))
def test_it_comes_near_the_best_of_all_partitions(seed):
    X = np.random.default_rng(seed).random((7, 4)) ** 3
    A = X @ X.T
    best = best_over_partitions(A, 2)
    result = cn.solve(QuadraticProjection(A, 2), Separation(), seed=0)
    assert result.max_violation < 1e-9
    assert -result.objective <= best * (1 + 1e-9)
    assert -result.objective >= 0.97 * best


@pytest.mark.parametrize("sign", [-1, 0, 1])
def test_it_is_the_default_and_ends_converged_whatever_the_sign_of_A(sign):
    X = np.random.default_rng(3).standard_normal((30, 40))
    A = sign * (X @ X.T) if sign else X[:, :30] + X[:, :30].T
    problem = QuadraticProjection(A, 3)
    result = cn.solve(problem, seed=0)
    assert result.solver.startswith("Separation")
    assert result.status.kind == "converged"
    units = -0.5 * np.sort(np.diag(A))[-3:].sum()
    assert result.objective <= units
    others = [ConeAscent(), ProjectedDescent(), ProjectionRule()]
    ends = [cn.solve(problem, other, seed=0).objective for other in others]
    assert result.objective <= min(ends) + 0.05 * abs(min(ends))


def test_a_checkpoint_goes_on_where_the_columns_still_overlap(tmp_path):
    A = np.random.default_rng(5).random((20, 20))
    problem, file = QuadraticProjection(A + A.T, 3), tmp_path / "run.npz"
    cn.solve(problem, Separation(), seed=0, stop=7, checkpoint=file)
    whole = cn.solve(problem, Separation(), seed=0, stop=12)
    later = cn.solve(problem, Separation(), seed=0, stop=12, checkpoint=file)
    assert later.objective == pytest.approx(whole.objective, rel=1e-12)


def test_one_column_or_a_norm_of_its_own_is_refused_with_the_reason():
    problem = QuadraticProjection(np.eye(3), 1, norm=np.eye(3))
    assert "has one column" in " ".join(Separation().mismatches(problem))
