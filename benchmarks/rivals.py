"""From the same starts as dbcp on its published examples, dccp, and CVXPY with `nlp=True`.

The models are stated here from their formulas, once, and both sides get the same expressions. Our
time is that of stating the problem and of solving it down to the objective at which the rival ends;
both write CVXPY's expressions before the clock starts. A rival keeps the options that its example
gives it; where a model can be written in several ways, the one that is fastest for the rival counts.
"""

from __future__ import annotations

import contextlib
import io
import math
import warnings
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field, replace
from importlib.util import find_spec
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from sklearn.datasets import make_blobs, make_classification

import conicnmf as cn
from benchmarks.harness import Row, Runs, Setup, SkippedError, clock, guarded, speedup
from conicnmf.errors import ConicNMFError

TARGET, REPEATS = 20, 3
LONG, LIMIT, QUICK_LIMIT = 10.0, 150.0, 20.0
"""Seconds after which a run is not repeated, and after which ours is given up."""
TIE = 1e-5


@dataclass(frozen=True, eq=False)
class Model:
    """Two groups of variables that hold their start, an objective, constraints and options."""

    x: cp.Variable
    y: cp.Variable
    objective: cp.Minimize
    constraints: list[Any] = field(default_factory=list)
    options: dict[str, Any] = field(default_factory=dict)
    sparse: list[Any] = field(default_factory=list)
    """How the constraints that are not convex are written here."""


def quick_start(rank: int) -> Model:
    """State NMF of 5×10."""
    rng = np.random.default_rng(10015)
    A = rng.random((5, rank)) @ rng.random((rank, 10))
    X, Y = cp.Variable((5, rank), nonneg=True), cp.Variable((rank, 10), nonneg=True)
    X.value, Y.value = rng.random(X.shape), rng.random(Y.shape)
    return Model(X, Y, cp.Minimize(cp.sum_squares(X @ Y - A)))


def dictionary(alpha: float) -> Model:
    """State sparse codes of 20 signals in 20 atoms, the dictionary in a ball."""
    rng = np.random.default_rng(10015)
    Y = rng.standard_normal((10, 20))
    D, X = cp.Variable((10, 20)), cp.Variable((20, 20))
    drawn = rng.standard_normal(D.shape)
    D.value, X.value = drawn / np.linalg.norm(drawn), rng.standard_normal(X.shape)
    objective = cp.Minimize(cp.sum_squares(D @ X - Y) + alpha * cp.norm1(X))
    return Model(D, X, objective, [cp.norm(D, "fro") <= 1], _clarabel(abs_tol=1e-1))


def clusters(samples: int) -> Model:
    """State four means and a soft assignment of points in the plane."""
    centers = [[0, 2], [0, -2], [2, 0], [-2, 0]]
    points, _ = make_blobs(samples, centers=centers, cluster_std=0.5, random_state=0)
    C, Z = _assignment(points, 4, np.random.default_rng(1))
    return Model(C, Z, cp.Minimize(_within(points, C, Z)), _simplex(Z))


def bounded_clusters(samples: int) -> Model:
    """State three means, each in a ball round a guess, with outliers."""
    rng = np.random.default_rng(10015)
    means = np.array([[0.25, -0.15], [4.65, 0.2], [2.6, 4.3]])
    pulls = np.array([[3.0, -2.0], [-2.5, 2.0], [1.5, -3.0]])
    spreads = np.array([[[0.45, 0.1], [0.1, 0.3]], [[0.35, -0.08], [-0.08, 0.5]], 0.4 * np.eye(2)])
    guesses = means + rng.normal(0, 1, means.shape)
    core = [rng.multivariate_normal(*p, size=samples) for p in zip(means, spreads, strict=True)]
    far = [c + rng.normal(0, 0.35, (2 * samples // 15, 2)) for c in means + pulls]
    points = np.vstack([*core, *far])
    C, Z = _assignment(points, 3, rng)
    C.value = guesses
    balls = [cp.norm2(C[k] - guess) <= 0.5 for k, guess in enumerate(guesses)]
    options = _clarabel(lbd=10, abs_tol=1e-1)
    return Model(C, Z, cp.Minimize(_within(points, C, Z)), [*_simplex(Z), *balls], options)


def bilinear_logistic(samples: int) -> Model:
    """State a classifier of 20×10 matrices whose coefficients have rank 5."""
    X, labels = make_classification(
        samples, n_features=200, n_informative=180, n_redundant=20, random_state=0
    )
    rng = np.random.default_rng(1)
    U, V = cp.Variable((20, 5)), cp.Variable((10, 5))
    U.value, V.value = rng.standard_normal(U.shape), rng.standard_normal(V.shape)
    signed = (1 - 2 * labels)[:, None] * X.reshape(-1, 20, 10).transpose(0, 2, 1).reshape(-1, 200)
    loss = cp.sum(cp.logistic(signed @ cp.vec(U @ V.T, order="F")))
    return Model(U, V, cp.Minimize(loss), [], _clarabel(lbd=1, abs_tol=1e-2))


def blind_deconvolution() -> Model:
    """State a sparse signal and a smooth blur from their convolution."""
    n, m = 120, 40
    blur = np.exp(-2 * np.linspace(-2, 2, m) ** 2)
    d = np.convolve(np.eye(1, n, 6)[0], blur)
    x, y = cp.Variable((n, 1), nonneg=True), cp.Variable((1, m), nonneg=True)
    rng = np.random.default_rng(1)
    x.value, y.value = rng.random(x.shape), rng.random(y.shape)
    places = (np.arange(n)[:, None] + np.arange(m)).ravel(order="F")
    sums = sp.csr_array((np.ones(n * m), (places, np.arange(n * m))))
    fit = cp.sum_squares(sums @ cp.vec(x @ y, order="F") - d)
    objective = cp.Minimize(fit + 0.1 * cp.norm1(x) + 0.2 * cp.sum_squares(cp.diff(y, axis=1)))
    return Model(x, y, objective, [y <= 1], _clarabel(abs_tol=1e-5, max_iter=200))


def hidden_states(steps: int) -> Model:
    """State three logistic models and which of them is at work at each time."""
    rng = np.random.default_rng(10015)
    truth, stay = np.array([[-1, 0], [2, 6], [2, -6]]), 0.025 + 0.925 * np.eye(3)
    X = np.stack([rng.uniform(-5, 5, steps), np.ones(steps)], axis=1)
    y, state = np.zeros(steps), 0
    for t, x in enumerate(X):
        y[t] = rng.uniform() < 1 / (1 + np.exp(-x @ truth[state]))
        state = rng.choice(3, p=stay[state])
    T, Z = cp.Variable((3, 2)), cp.Variable((steps, 3), nonneg=True)
    drawn = 0.5 + rng.random(Z.shape)
    T.value = np.array([[-1.0, 0.0], [1.0, 1.0], [1.0, -1.0]])
    Z.value = drawn / drawn.sum(axis=1, keepdims=True)
    costs = cp.vstack([cp.logistic(X @ T[k]) - cp.multiply(y, X @ T[k]) for k in range(3)]).T
    smooth = 2 * cp.sum(cp.kl_div(Z[:-1], Z[1:]))
    objective = cp.Minimize(cp.sum(cp.multiply(Z, costs)) + 0.1 * cp.sum_squares(T) + smooth)
    known = [T[0, 0] <= 0, T[1, 0] >= 0, T[2, 0] >= 0, T[1, 1] >= T[2, 1]]
    options = _clarabel(mode="penalty", nu=1e3, lbd=0.1, abs_tol=1e-3)
    return Model(Z, T, objective, [*known, *_simplex(Z)], options)


def _clarabel(**options: Any) -> dict[str, Any]:
    return {"solver": cp.CLARABEL, **options}


def _assignment(
    points: Any, count: int, rng: np.random.Generator
) -> tuple[cp.Variable, cp.Variable]:
    C, Z = cp.Variable((count, 2)), cp.Variable((len(points), count), nonneg=True)
    drawn = rng.random(Z.shape)
    C.value = points[rng.choice(len(points), count, replace=False)]
    Z.value = drawn / drawn.sum(axis=1, keepdims=True)
    return C, Z


def _within(points: Any, C: cp.Variable, Z: cp.Variable) -> cp.Expression:
    distances = [cp.sum(cp.square(points - C[k : k + 1]), axis=1) for k in range(C.shape[0])]
    return cp.sum(cp.multiply(Z, cp.vstack(distances).T))


def _simplex(Z: cp.Variable) -> list[cp.Constraint]:
    return [Z <= 1, cp.sum(Z, axis=1) == 1]


def sparse_nmf(m: int, n: int, r: int, s: float, block: bool = False) -> Model:
    """State NMF, its W of sparseness at least s, in the smooth form; of a block, H is given."""
    V = cn.datasets.paatero(m=m, n=n).V
    rng = np.random.default_rng(3)
    W, H = cp.Variable((m, r), nonneg=True), cp.Variable((r, n), nonneg=True)
    W.value = rng.random((m, r)) * (rng.random((m, r)) < 0.15)
    H.value = rng.random((r, n))
    ratio = np.sqrt(m) - (np.sqrt(m) - 1) * s
    bounds, ours = [], []
    if s > 0:
        columns = [W[:, j] for j in range(r)]
        bounds = [
            cp.sum(w) <= ratio * cp.norm2(w)
            if block
            else cp.square(cp.sum(w)) <= ratio**2 * cp.sum_squares(w)
            for w in columns
        ]
        ours = [cn.sparseness(W, axis=0) >= s]
    fit = cp.sum_squares(V - W @ (H.value if block else H))
    return Model(W, H, cp.Minimize(fit), bounds, sparse=ours)


def reverse_block(kind: str) -> Model:
    """State W for a given H with long parts or parts apart, or H for a given W of low entropy."""
    rng = np.random.default_rng(11)
    V = rng.random((30, 3)) @ rng.random((3, 20)) + 0.1 * rng.random((30, 20))
    W, H = cp.Variable((30, 3), nonneg=True), cp.Variable((3, 20), nonneg=True)
    W.value, H.value = rng.random(W.shape), rng.random(H.shape)
    if kind == "entropy":
        H.value = H.value**8 / np.sum(H.value**8, axis=0)
        limits = [cp.sum(cp.entr(H), axis=0) <= 0.7, cp.sum(H, axis=0) == 1]
        return Model(H, W, cp.Minimize(cp.sum_squares(V - W.value @ H)), limits)
    pairs = ((0, 1), (0, 2), (1, 2))
    long, apart = 3.5, [cp.norm(W[:, i] - W[:, j]) >= 2 for i, j in pairs]
    limits = [cp.norm(W, 2, axis=0) >= long] if kind == "long" else apart
    return Model(W, H, cp.Minimize(cp.sum_squares(V - W @ H.value)), [*limits, W <= 1])


def run(setup: Setup) -> Iterator[Row]:
    """Race all of them."""
    few = 150 if setup.quick else 1000
    small: dict[str, Callable[[], Model]] = {
        "NMF 5×10, r=3": lambda: quick_start(3),
        "NMF 5×10, r=5": lambda: quick_start(5),
        "dictionary, α=0.001": lambda: dictionary(1e-3),
        "dictionary, α=0.1": lambda: dictionary(1e-1),
    }
    # Of models that are neither plain nor sparse factorizations, it counts where both sides end.
    others: dict[str, Callable[[], Model]] = {
        "blind deconvolution": blind_deconvolution,
        "bilinear logistic": lambda: bilinear_logistic(min(few, 300)),
        f"k-means, {few} points": lambda: clusters(few),
        "k-means in balls": lambda: bounded_clusters(few * 9 // 50),
        f"hidden states, {min(few, 300)} steps": lambda: hidden_states(min(few, 300)),
    }
    for case, build in (small | others).items():
        target = TARGET if case in small else None
        yield from guarded(f"dbcp: {case}", _race(f"dbcp: {case}", build, _dbcp, setup, target))
    for m, n in ((30, 20),) if setup.quick else ((30, 20), (100, 80)):
        case = f"dccp: W-step, {m}×{n}, r=3, s=0.6"
        build = lambda m=m, n=n: sparse_nmf(m, n, 3, 0.6, block=True)  # noqa: E731
        yield from guarded(case, _race(case, build, _dccp, setup))
    for kind in ("long", "apart", "entropy"):
        case = f"dccp: {kind}, 30×20, r=3"
        build = lambda kind=kind: reverse_block(kind)  # noqa: E731
        # Both sides solve cone programs here, so again it counts where they end.
        yield from guarded(case, _race(case, build, _dccp, setup, target=None))
    for s in (0.0, 0.6):
        case = f"nlp: 40×30, r=3{f', s={s:g}' if s else ''}"
        build = lambda s=s: sparse_nmf(40, 30, 3, s)  # noqa: E731
        yield from guarded(case, _race(case, build, _nlp, setup))


def _dbcp(model: Model) -> str:
    if find_spec("dbcp") is None:
        raise SkippedError("dbcp is not installed; it needs Python 3.12 or later")
    import dbcp

    problem = dbcp.BiconvexProblem(model.objective, [model.x], [model.y], model.constraints)
    start = [(v, np.array(v.value)) for v in (model.x, model.y)]
    with contextlib.redirect_stdout(io.StringIO()):
        try:
            problem.solve(**model.options)
        except dbcp.problem.SolveError:
            for v, value in start:
                v.save_value(value)
            problem.solve(**model.options | {"solver": cp.SCS})
            return f"{problem.status} by SCS after CLARABEL failed"
    return str(problem.status)


def _dccp(model: Model) -> str:
    if find_spec("dccp") is None:
        raise SkippedError("dccp is not installed")
    import dccp  # noqa: F401, it registers the method

    problem = cp.Problem(model.objective, model.constraints)
    problem.solve(method="dccp", solver=cp.CLARABEL)
    return str(problem.status)


def _nlp(model: Model) -> str:
    solver = next((name for name in ("IPOPT", "UNO") if name in cp.installed_solvers()), None)
    if solver is None:
        raise SkippedError("no non-linear solver is installed")
    problem = cp.Problem(model.objective, model.constraints)
    problem.solve(nlp=True, solver=solver, **({"logger": "SILENT"} if solver == "UNO" else {}))
    return str(problem.status)


def _race(
    case: str,
    build: Callable[[], Model],
    rival: Callable[[Model], str],
    setup: Setup,
    target: int | None = TARGET,
) -> Iterator[Row]:
    """Let both sides solve a model; without a target it is judged by its objective alone."""
    wanted = f"≥ {target}" if target else "not higher"
    model = build()
    used = {v.id for v in model.objective.variables()}
    variables = [v for v in (model.x, model.y) if v.id in used]
    start = {v: np.array(v.value) for v in variables}
    begin = float(model.objective.value)
    theirs, ours = Runs(), Runs()
    limit = QUICK_LIMIT if setup.quick else LIMIT

    def rivals_turn() -> str:
        for v, value in start.items():
            v.save_value(value)
        return rival(model)

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        status = _timed(rivals_turn, theirs, setup)
        value, violation = float(model.objective.value or math.nan), _violation(model)
        answers = not status.startswith("failed") and np.isfinite(value)
        goal = value + TIE * abs(value) + 1e-9 * begin if answers else -math.inf
        note = f"rival: {status} at {value:.6g}, violation {violation:.0e}"
        try:
            _stated(model).solve(init=start, stop=1, throw=False, time_limit=limit)  # compiles
            last = _timed(lambda: _reach(_stated(model), start, goal, limit), ours, setup)
            while len(ours.seconds) < REPEATS and not setup.quick and answers:
                if max(ours.median, theirs.median) > LONG:
                    break
                _timed(rivals_turn, theirs, setup)
                last = _timed(lambda: _reach(_stated(model), start, goal, limit), ours, setup)
        except ConicNMFError as error:
            note += f"; ours refuses: {str(error).splitlines()[0]}"
            yield Row(case, "", clock(theirs.median), 0.0, target=wanted, ok=False, note=note)
            return
        note += (
            f"; {last.solver_text.partition('(')[0]} at {last.objective:.6g} after "
            f"{last.n_iter} iterations"
        )
        reached = last.objective <= goal and last.max_violation <= 1e-6
        if ours.median < LONG:
            alone = _stated(model).solve(init=start, throw=False, time_limit=limit)
            note += f", by itself {alone.status.name.lower()} at {alone.objective:.6g}"
    if not answers:
        yield speedup(case, ours, theirs, None, f"the rival gives no answer; {note}")
        return
    row = speedup(case, ours, theirs, target, note, reached)
    yield row if target else replace(row, target=wanted, ok=reached)


def _stated(model: Model) -> cn.Problem:
    """State the problem; what is not convex in our own words."""
    return cn.Problem(model.objective, model.sparse or model.constraints)


def _reach(
    problem: cn.Problem, start: dict[cp.Variable, Any], goal: float, limit: float
) -> cn.Result:
    def arrived(iteration: Any, _: Any) -> bool:
        return bool(iteration.objective <= goal and iteration.violation <= 1e-6)

    return problem.solve(
        init=start,
        stop=cn.MaxIter(10**4) if goal > -math.inf else None,
        callback=arrived,
        throw=False,
        time_limit=limit,
    )


def _timed(work: Callable[[], Any], runs: Runs, setup: Setup) -> Any:
    begin = setup.timer()
    try:
        value = work()
    except (cp.SolverError, RuntimeError, ValueError) as error:
        if isinstance(error, ConicNMFError):
            raise
        value = f"failed ({type(error).__name__})"
    except Exception as error:
        if type(error).__module__.partition(".")[0] not in ("dbcp", "dccp"):
            raise
        value = f"failed ({type(error).__name__})"
    runs.seconds.append(setup.timer() - begin)
    return value


def _violation(model: Model) -> float:
    """Return the largest violation of a constraint, signs of variables included."""
    if any(v.value is None for v in (model.x, model.y)):
        return math.nan
    parts: Iterable[Any] = (c.violation() for c in model.constraints)
    signs = [-v.value.min() for v in (model.x, model.y) if v.is_nonneg()]
    return max([0.0, *signs, *(float(np.max(p)) for p in parts)])
