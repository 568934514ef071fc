"""A problem is known again by its digest, and no other problem has the same."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import dataclass

import cvxpy as cp
import numpy as np
import pytest
import scipy.sparse as sp
from scipy.sparse.linalg import aslinearoperator

import conicnmf as cn
from conicnmf.extend import Penalty
from conicnmf.families import autoencoders, one_factor
from conicnmf.model.digest import differences
from conicnmf.model.hashing import hash_of

V = np.random.default_rng(0).random((6, 5))
N = cn.NonNegative()
LIMIT = 0.5


def limited(H):
    return cp.max(H) <= LIMIT


def stated_in_cvxpy(weight=0.1, top=2.0):
    W, H = cp.Variable((6, 2), nonneg=True), cp.Variable((2, 5), nonneg=True)
    loss = cp.sum(cp.abs(V - W @ H)) + weight * cp.sum_squares(H)
    return cn.Problem(cp.Minimize(loss), [cp.sum(W, axis=0) <= top])


class Bend(Penalty):
    """A penalty that is no dataclass."""

    def __init__(self, strength):
        self.strength = strength

    def value(self, B):
        return self.strength * float(np.sum(B**4))


@dataclass(frozen=True, eq=False)
class Shaped(Penalty):
    """A penalty with a function and no CVXPY."""

    fn: object

    def value(self, B):
        return float(self.fn(B))


MODELS = {
    "plain": lambda: cn.factorize(V, 2),
    "other data": lambda: cn.factorize(V + 1e-15 * (V > 0.9), 2),
    "single precision": lambda: cn.factorize(V.astype(np.float32), 2),
    "sparse": lambda: cn.factorize(sp.csr_array(V), 2),
    "rank": lambda: cn.factorize(V, 3),
    "mask": lambda: cn.factorize(V, 2, loss=cn.WeightedFrobenius(V > 0.3)),
    "other mask": lambda: cn.factorize(V, 2, loss=cn.WeightedFrobenius(V < 0.7)),
    "weights": lambda: cn.factorize(V, 2, loss=cn.WeightedFrobenius(V)),
    "scale": lambda: cn.factorize(V, 2, loss=cn.Frobenius(scale=0.5)),
    "L1": lambda: cn.factorize(V, 2, H=[N, cn.L1(0.1)]),
    "L1 on W": lambda: cn.factorize(V, 2, W=[N, cn.L1(0.1)]),
    "more L1": lambda: cn.factorize(V, 2, H=[N, cn.L1(0.2)]),
    "box": lambda: cn.factorize(V, 2, W=[cn.Box(0, np.full((6, 2), 2.0))]),
    "other box": lambda: cn.factorize(V, 2, W=[cn.Box(0, np.full((6, 2), 2.5))]),
    "lambda": lambda: cn.factorize(V, 2, H=[N, cn.Convex(lambda H: cp.sum(H) <= 3)]),
    "other lambda": lambda: cn.factorize(V, 2, H=[N, cn.Convex(lambda H: cp.sum(H) <= 4)]),
    "function": lambda: cn.factorize(V, 2, H=[N, cn.Convex(limited)]),
    "convex penalty": lambda: cn.factorize(V, 2, H=[N, cn.ConvexPenalty(cp.sum_squares)]),
    "other penalty": lambda: cn.factorize(V, 2, H=[N, cn.ConvexPenalty(cp.norm)]),
    "no dataclass": lambda: cn.factorize(V, 2, H=[N, Bend(1.0)]),
    "no dataclass 2": lambda: cn.factorize(V, 2, H=[N, Bend(2.0)]),
    "their function": lambda: cn.factorize(V, 2, H=[N, Shaped(lambda B: B.sum())]),
    "their function 2": lambda: cn.factorize(V, 2, H=[N, Shaped(lambda B: (B * V[0, 0]).sum())]),
    "cvxpy": lambda: stated_in_cvxpy(),
    "cvxpy weight": lambda: stated_in_cvxpy(weight=0.2),
    "cvxpy bound": lambda: stated_in_cvxpy(top=3.0),
    "two views": lambda: cn.factorize({"a": V, "b": V[:4]}, 2),
    "two other views": lambda: cn.factorize({"a": V, "b": V[1:5]}, 2),
    "projection": lambda: one_factor.QuadraticProjection(V @ V.T, 2),
    "other projection": lambda: one_factor.QuadraticProjection(V @ V.T + np.eye(6), 2),
    "operator": lambda: one_factor.QuadraticProjection(aslinearoperator(V @ V.T), 2),
    "other operator": lambda: one_factor.QuadraticProjection(aslinearoperator(V @ V.T / 2), 2),
    "machine": lambda: autoencoders.SymmetricMachine(V, 2),
    "other machine": lambda: autoencoders.SymmetricMachine(V, 2, alpha_s=0.3),
    "codes": lambda: autoencoders.PredictiveCodes(V, 2),
}


def test_no_two_models_have_one_digest():
    seen = {}
    for name, model in MODELS.items():
        mine = json.dumps(model().digest, sort_keys=True)
        assert mine not in seen, f"{name} and {seen[mine]} are told apart by nothing"
        seen[mine] = name


_ELSEWHERE = """
import json, sys
sys.path.insert(0, sys.argv[1])
import cvxpy as cp
cp.Variable(3)  # so that variables have other numbers there
from test_digest import MODELS
print(json.dumps({name: model().digest for name, model in MODELS.items()}))
"""


def test_the_same_model_has_the_same_digest_in_another_process(request):
    call = [sys.executable, "-c", _ELSEWHERE, str(request.path.parent)]
    there = json.loads(subprocess.run(call, check=True, capture_output=True, text=True).stdout)
    for name, model in MODELS.items():
        assert there[name] == model().digest, name


def test_by_which_door_a_problem_came_does_not_count():
    W, H = cp.Variable((6, 2), nonneg=True), cp.Variable((2, 5), nonneg=True)
    read = cn.Problem(cp.Minimize(cp.sum_squares(V - W @ H) + 0.1 * cp.sum(H)))
    assert read.digest == MODELS["L1"]().digest


def test_solving_does_not_change_a_digest():
    problem, same = (cn.factorize(V, 2, H=[N, Bend(1.0)]) for _ in range(2))
    problem.objective({"W": np.ones((6, 2)), "H": np.ones((2, 5))})
    _ = problem.unit, problem.blocks
    assert problem.digest == same.digest


@pytest.mark.parametrize("kind", ["csr", "csc", "coo", "lil", "dok", "bsr", "dia"])
def test_the_format_and_the_order_in_memory_do_not_count(kind):
    S = sp.random_array((30, 20), density=0.2, rng=np.random.default_rng(0))
    assert hash_of(S.asformat(kind)) == hash_of(S.tocsr())
    X = S.toarray()
    assert hash_of(np.asfortranarray(X)) == hash_of(X[::-1][::-1]) == hash_of(X)
    assert hash_of(X) != hash_of(X.T)
    assert hash_of(X) != hash_of(X.reshape(20, 30))


def test_duplicate_entries_count_once():
    twice = sp.coo_array((np.ones(3), ([0, 0, 1], [1, 1, 0])), shape=(2, 2))
    assert hash_of(twice) == hash_of(sp.csr_array([[0.0, 2.0], [1.0, 0.0]]))
    assert twice.nnz == 3


def test_what_holds_itself_has_a_hash():
    ring = [1]
    ring.append(ring)
    assert hash_of(ring) == hash_of(ring)
    assert hash_of(ring) != hash_of([1, [1]])


def test_differences_are_told_in_words():
    told = list(differences(MODELS["plain"]().digest, MODELS["rank"]().digest))
    assert told == ["its variables is W 6 × 2, H 2 × 5, not W 6 × 3, H 3 × 5"]
    told = list(differences(MODELS["plain"]().digest, MODELS["other data"]().digest))
    assert told == ["its data V is another one"]


def test_a_loaded_result_is_certified_for_its_own_problem_only(tmp_path):
    result = MODELS["L1"]().solve("HALS", stop=3)
    loaded = cn.load(result.save(tmp_path / "run"))
    assert loaded.digest == result.digest == MODELS["L1"]().digest
    assert loaded.certificate(MODELS["L1"]()).checks
    with pytest.raises(cn.InputError, match=r"another problem: its data V is another one"):
        loaded.certificate(cn.factorize(V + 1, 2, H=[N, cn.L1(0.1)]))
    with pytest.raises(cn.InputError, match=r"terms on H is .*L1.weight=0.1.*, not NonNeg"):
        result.certificate(MODELS["plain"]())
