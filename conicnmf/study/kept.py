"""A finished solve in a file of its own, which says for itself what it is a solve of."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from conicnmf.archive import UnwritableError
from conicnmf.errors import InputError
from conicnmf.model.base import BaseProblem
from conicnmf.model.digest import Digest, differences, part
from conicnmf.results import Result, Status
from conicnmf.results.saved import RESULT, read_result, write_result
from conicnmf.solve.engine import solve

_WATCHING = ("callback", "progress")
"""Options of a solve that do not change its answer."""


@dataclass(frozen=True)
class Kept:
    """The place of a result, and what it must have been made of to be taken from there.

    Examples
    --------
    >>> import tempfile
    >>> import numpy as np, conicnmf as cn
    >>> result = cn.factorize(np.ones((4, 3)), 1).solve(cn.HALS())
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     place = Kept(Path(folder) / "one.npz", {"seed": "0"})
    ...     nothing = place.read()
    ...     place.write(result)
    ...     again = place.read()
    >>> nothing, again.objective == result.objective
    (None, True)
    """

    file: Path
    claim: Digest

    def write(self, result: Result) -> None:
        """Keep a result, in the place of one that was there."""
        write_result(result, self.file, claim=self.claim)

    def read(self) -> Result | None:
        """Return the result, None where there is none; refuse one of something else."""
        if not self.file.exists():
            return None
        result, values = read_result(self.file)
        with RESULT.explained(self.file):
            made = dict(values["claim"])
        for difference in differences(made | result.digest, self.claim):
            raise InputError(f"{self.file} is a run of something else: {difference}; delete it")
        return result


def solve_or_recall(
    problem: BaseProblem, solver: Any, folder: Path | None, **options: Any
) -> Result:
    """Return the result of a solve, from a folder where it is finished already.

    What is under way is kept there too, so a solve that was killed or raised goes on. Files that are
    damaged, or of something else, are replaced. Failures are returned, not raised; where a file
    cannot be written, the result has a remark.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> solve_or_recall(cn.factorize(np.ones((4, 3)), 1), cn.HALS(), None, seed=0).status.name
    'CONVERGED'
    """
    if folder is None:
        return solve(problem, solver, throw=False, **options)
    claim = {name: part(how) for name, how in options.items() if name not in _WATCHING}
    place = Kept(folder / "result.npz", problem.digest | claim | {"solver": part(solver)})
    running = folder / "running.npz"
    try:
        kept = place.read()
    except InputError:
        kept = None
    if kept is not None:
        return replace(kept, problem=problem, identity={})
    how = {"throw": False, **options}
    try:
        result = solve(problem, solver, checkpoint=running, **how)
    except UnwritableError as error:
        return _remarked(solve(problem, solver, **how), error)
    except InputError:
        if not running.exists():
            raise
        running.unlink()
        result = solve(problem, solver, checkpoint=running, **how)
    if not result.interrupted and result.status is not Status.ERROR:
        try:
            place.write(result)
        except UnwritableError as error:  # what is under way stays, to go on from
            return _remarked(result, error)
        running.unlink(missing_ok=True)
    return result


def _remarked(result: Result, error: UnwritableError) -> Result:
    return replace(result, remarks=(*result.remarks, f"The result was not stored: {error}"))
