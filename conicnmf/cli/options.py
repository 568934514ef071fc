"""Options that `fit` and `compare` share, and the problem they state."""

from __future__ import annotations

from difflib import get_close_matches
from typing import Annotated, Any

import typer

from conicnmf.constraints import NonNegative, Sparseness
from conicnmf.errors import InputError
from conicnmf.penalties import L1
from conicnmf.problem import Problem, factorize
from conicnmf.solvers import SOLVERS, Chain, JointNLP, Solver
from conicnmf.stop import MaxIter, RelDecrease, Stop
from conicnmf.terms import Term

Data = Annotated[
    str, typer.Argument(metavar="DATA", help="A data set (see `conicnmf datasets`) or a file "
    ".npz, .npy, .csv, .mtx; columns are samples.")
]  # fmt: skip
Rank = Annotated[int, typer.Option(help="The number of components.")]
SparseW = Annotated[
    float | None, typer.Option(help="Least Hoyer sparseness of each column of W, 0 to 1.")
]
SparseWMax = Annotated[
    float | None, typer.Option(help="Largest sparseness of each column of W, 0 to 1.")
]
SparseH = Annotated[float | None, typer.Option(help="Least sparseness of each row of H, 0 to 1.")]
L1H = Annotated[
    float | None, typer.Option("--l1-h", help="Weight of the sum of H, added to the objective.")
]
MaxIterations = Annotated[
    int | None, typer.Option("--max-iter", help="Iteration limit; each solver has its own.")
]
Limit = Annotated[float | None, typer.Option("--time-limit", help="Seconds for each run.")]
ImageShape = Annotated[
    str | None, typer.Option(metavar="16x16", help="Rows and columns of a sample as an image.")
]
SamplesAreRows = Annotated[bool, typer.Option("--samples-are-rows", help="Transpose DATA.")]
Samples = Annotated[
    int | None, typer.Option("--samples", help="Use only so many samples, drawn at random.")
]
Output = Annotated[
    str | None, typer.Option("--output", "-o", metavar="FOLDER", help="Where files are written.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]


USUAL = tuple(kind for kind in SOLVERS if kind is not JointNLP)
"""What is compared unless solvers are named; a joint program may take hours on real data."""


def state_problem(
    V: Any,
    rank: int,
    sparse_w: float | None = None,
    sparse_w_max: float | None = None,
    sparse_h: float | None = None,
    l1_h: float | None = None,
) -> Problem:
    """Return the problem that the options state.

    Examples
    --------
    >>> import numpy as np
    >>> state_problem(np.ones((4, 3)), 2, sparse_w=0.6, l1_h=0.1).H
    (NonNegative(), L1(weight=0.1))
    """
    W: list[Term] = [NonNegative()]
    H: list[Term] = [NonNegative()]
    if sparse_w is not None or sparse_w_max is not None:
        W.append(Sparseness(sparse_w or 0.0, 1.0 if sparse_w_max is None else sparse_w_max))
    if sparse_h is not None:
        H.append(Sparseness(sparse_h))
    if l1_h is not None:
        H.append(L1(l1_h))
    return factorize(V, rank, W=W, H=H)


def find_solver(name: str) -> Solver:
    """Return the solver of this name, in whatever case it is written; a + makes a chain.

    Examples
    --------
    >>> find_solver("hals").name
    'HALS'
    >>> find_solver("TangentPlane+HALS").name
    'TangentPlane → HALS'
    """
    if "+" in name:
        return Chain(tuple(find_solver(part.strip()) for part in name.split("+")))
    known = {kind.__name__.lower(): kind for kind in SOLVERS}
    if name.lower() in known:
        return known[name.lower()]()
    close = get_close_matches(name.lower(), known, n=1)
    hint = f"did you mean {known[close[0]].__name__}? " if close else ""
    listed = ", ".join(kind.__name__ for kind in SOLVERS)
    raise InputError(f"no solver is called {name!r}; {hint}The names are {listed}")


def stop_rule(max_iter: int | None) -> Stop | None:
    """Return a rule with this limit that still ends when the objective no longer falls."""
    return None if max_iter is None else MaxIter(max_iter) | RelDecrease(1e-5)
