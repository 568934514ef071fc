"""The options of commands: their types, words of help and what a shell may complete."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated

import typer

from conicnmf.datasets import names
from conicnmf.model.known import LOSSES, TERMS
from conicnmf.model.problem import Problem
from conicnmf.solve.choice import EFFORTS, known_solvers
from conicnmf.solve.methods import Chain
from conicnmf.solve.methods.base import SOLVERS, AnySolver, as_solver
from conicnmf.solve.stop import MaxIter, RelDecrease, Stop

Data = Annotated[
    str,
    typer.Argument(
        metavar="DATA",
        help="A data set (see `conicnmf datasets`), a file .npz, .npy, .mtx, .csv, .tsv or .txt, or "
        "a folder of pictures; columns are samples.",
        autocompletion=lambda incomplete: beginning(incomplete, names()),
    ),
]
Rank = Annotated[int, typer.Option(help="The number of components.")]
SparseW = Annotated[
    float | None, typer.Option(help="Minimum sparseness of each column of W, 0 to 1.")
]
SparseWMax = Annotated[
    float | None, typer.Option(help="Maximum sparseness of each column of W, 0 to 1.")
]
SparseH = Annotated[float | None, typer.Option(help="Minimum sparseness of each row of H, 0 to 1.")]
L1H = Annotated[
    float | None,
    typer.Option(
        "--l1-h",
        help="Weight of the sum of H; the columns of W are kept at norm 1 or less.",
    ),
]
TermsOfW = Annotated[
    list[str] | None,
    typer.Option(
        "--term-w",
        metavar="TERM",
        help="A constraint or penalty on W, such as 'Sparseness(min=0.5)' or 'L1(0.1)'.",
        autocompletion=lambda incomplete: beginning(incomplete, TERMS.names()),
    ),
]
TermsOfH = Annotated[
    list[str] | None,
    typer.Option(
        "--term-h",
        metavar="TERM",
        help="The same on H, such as \"Simplex(each='sample')\".",
        autocompletion=lambda incomplete: beginning(incomplete, TERMS.names()),
    ),
]
Constraints = Annotated[
    list[str] | None,
    typer.Option(
        "--constraint",
        metavar="TEXT",
        help="A constraint on W or H as in CVXPY, convex or reverse-convex, such as "
        "'norm(W, 2, axis=0) >= 1' or 'sum(H, axis=0) == 1'.",
    ),
]
Weights = Annotated[
    str | None,
    typer.Option(metavar="FILE", help="A file with the shape of DATA: the weight of each entry."),
]
LossName = Annotated[
    str | None,
    typer.Option(
        "--loss",
        help="The loss: frobenius, kl, is, huber, absolute, logistic, or "
        "one with values such as 'BetaDivergence(beta=0.5)'.",
        autocompletion=lambda incomplete: beginning(incomplete, LOSSES.names()),
    ),
]
MaxIterations = Annotated[
    int | None, typer.Option("--max-iter", help="Iteration limit; each solver has its own.")
]
Limit = Annotated[float | None, typer.Option("--time-limit", help="Seconds for each run.")]
Effort = Annotated[
    str,
    typer.Option(
        metavar="low|normal|high",
        help="How long to race solvers and starts where a constraint is not convex.",
        autocompletion=lambda incomplete: beginning(incomplete, EFFORTS),
    ),
]
ImageShape = Annotated[
    str | None,
    typer.Option(
        metavar="16x16",
        help="Rows and columns of a sample as an image; pictures in a folder are scaled to it.",
    ),
]
SamplesAreRows = Annotated[bool, typer.Option("--samples-are-rows", help="Transpose DATA.")]
Samples = Annotated[
    int | None, typer.Option("--samples", help="Use only this many samples, drawn at random.")
]
SkipText = Annotated[
    bool, typer.Option("--skip-text", help="Leave out columns of text in a .csv, .tsv or .txt.")
]
Header = Annotated[
    bool | None,
    typer.Option("--header/--no-header", help="Whether line 1 of a table has the column names."),
]
Index = Annotated[
    bool | None,
    typer.Option(
        "--index/--no-index", help="Whether the first column of a table has the row names."
    ),
]
Delimiter = Annotated[
    str | None,
    typer.Option(metavar="CHARACTER", help="The character between the cells: also tab or space."),
]
Decimal = Annotated[
    str | None,
    typer.Option(metavar=". or ,", help="The decimal mark; the other one may group thousands."),
]
Missing = Annotated[
    bool, typer.Option("--missing", help="Leave entries that are empty or NaN out of the loss.")
]
MemoryLimit = Annotated[
    str | None,
    typer.Option(
        "--memory-limit",
        metavar="2GB",
        help="Read DATA (.npy, a folder of .npy files, .zarr, .parquet) in strips within this memory.",
    ),
]
Cluster = Annotated[
    str | None,
    typer.Option(
        "--cluster",
        metavar="local|tcp://…",
        help="Use the workers of a Dask cluster: local, or the address of a scheduler.",
    ),
]
Certify = Annotated[
    bool,
    typer.Option(
        "--certificate/--no-certificate", help="Check the result independently of the solver."
    ),
]
Output = Annotated[
    str | None, typer.Option("--output", "-o", metavar="FOLDER", help="Where files are written.")
]
Json = Annotated[bool, typer.Option("--json", help="Print JSON instead of a table.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Show no progress.")]


def usual_solvers(problem: Problem) -> list[AnySolver]:
    """Return what is compared unless solvers are named: a joint program may take hours."""
    return [solver for solver in known_solvers(problem) if solver.name != "JointNLP"]


def beginning(incomplete: str, choices: Iterable[str]) -> list[str]:
    """Return the choices that a shell may complete a word to."""
    return [choice for choice in choices if choice.startswith(incomplete)]


def complete_solver(incomplete: str) -> list[str]:
    """Return what a name of solvers, joined by commas or plus signs, may go on to.

    Examples
    --------
    >>> complete_solver("HALS,Tan")
    ['HALS,TangentPlane']
    """
    cut = 1 + max(incomplete.rfind(","), incomplete.rfind("+"))
    found = beginning(incomplete[cut:], SOLVERS.names())
    return [incomplete[:cut] + name for name in found]


def find_solver(name: str) -> AnySolver:
    """Return the solver of this name, in upper or lower case; a + makes a chain.

    Examples
    --------
    >>> find_solver("hals").name
    'HALS'
    >>> find_solver("TangentPlane+HALS").name
    'TangentPlane → HALS'
    """
    if "+" in name:
        return Chain(tuple(find_solver(part.strip()) for part in name.split("+")))
    return as_solver(name)


def stop_rule(max_iter: int | None) -> Stop | None:
    """Return a rule with this limit that still ends when the objective no longer falls."""
    return None if max_iter is None else MaxIter(max_iter) | RelDecrease(1e-5)
