"""What `solve` needs to know about a problem, whatever its variables are.

The engine, comparisons, certificates and reports know this page only. `Problem` is the kind that is
stated from terms or CVXPY expressions and seen as blocks; families of methods bring their own.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from copy import copy
from functools import cached_property
from html import escape
from typing import TYPE_CHECKING, Annotated, Any, ClassVar, Self

import numpy as np

from conicnmf.model.addends import Fit
from conicnmf.model.at_factors import check_factors_of
from conicnmf.model.blocks import Block, Subproblem
from conicnmf.model.digest import Digest, digest_of_fields
from conicnmf.model.holding import Holding
from conicnmf.model.names import End, Names, with_labels
from conicnmf.model.tolerances import feasible_within
from conicnmf.model.units import Units
from conicnmf.model.variables import Source
from conicnmf.settings import AS_GIVEN, Count, Place, Seconds, Whole, checks_arguments
from conicnmf.types import Array, Factors

if TYPE_CHECKING:
    from conicnmf.results import Iteration, Result
    from conicnmf.solve.choice import Effort
    from conicnmf.solve.methods.base import AnySolver, SolverLike
    from conicnmf.solve.starts import Init
    from conicnmf.solve.stop import StopLike
    from conicnmf.solve.watchers import Monitor


class BaseProblem(ABC):
    """Variables by name, an objective to be minimized, and the solvers that know how."""

    kind: ClassVar[str]
    """What messages call such a problem."""
    names = Names()
    """Names of features and samples, which no number and no digest depends on."""

    def __init_subclass__(cls, **options: Any) -> None:
        super().__init_subclass__(**options)
        check_factors_of(cls)

    @property
    @abstractmethod
    def shapes(self) -> dict[str, tuple[int, ...]]:
        """The shape of each variable."""

    @property
    def blocks(self) -> tuple[Block, ...]:
        """One block a variable, in the order of a sweep; none where solvers see the whole."""
        return ()

    @property
    def fits(self) -> tuple[Fit, ...]:
        """The fits of data in the objective, where it is a sum of such."""
        return ()

    @property
    def data(self) -> list[Any]:
        """The arrays that the problem is about; by default its V."""
        own = getattr(self, "V", None)
        return [] if own is None else [own]

    @property
    def data_shapes(self) -> Mapping[str, tuple[int | None, int | None]]:
        """The numbers of features and samples of each matrix of data, as far as they are known."""
        if self.fits:
            return {fit.name: fit.V.shape for fit in self.fits}
        shapes = self.shapes
        rows, columns = (
            shapes[name][axis] if name in shapes else None for axis, name in enumerate("WH")
        )
        return {"V": (rows, columns)}

    @property
    def ends(self) -> tuple[End, ...]:
        """Which sides of variables are the features or the samples of data."""
        if self.fits:
            return tuple(end for fit in self.fits for end in fit.ends)
        ends = End("V", 0, "W", 0), End("V", 1, "H", 1)
        return tuple(end for end in ends if end.variable in self.shapes)

    @property
    def models(self) -> Mapping[str, Callable[[Factors], tuple[Array, Array]]]:
        """For each matrix of data two matrices, made from factors, whose product is its model."""
        return {fit.name: fit.model for fit in self.fits}

    @checks_arguments
    def named(
        self,
        feature_names: Annotated[Any, AS_GIVEN] = None,
        sample_names: Annotated[Any, AS_GIVEN] = None,
    ) -> Self:
        """Return the problem with names of features and samples, which results and reports show.

        Parameters
        ----------
        feature_names, sample_names : list of str, or dict of such by the name of the data
            What the rows and the columns of the data are called; no number depends on them.

        Examples
        --------
        >>> import cvxpy as cp, numpy as np, conicnmf as cn
        >>> W, H = cp.Variable((2, 1), nonneg=True), cp.Variable((1, 3), nonneg=True)
        >>> problem = cn.Problem(cp.Minimize(cp.sum_squares(np.ones((2, 3)) - W @ H)))
        >>> list(problem.named(["cat", "dog"]).solve().W_frame.index)
        ['cat', 'dog']
        """
        return with_labels(copy(self), feature_names, sample_names)

    @cached_property
    def digest(self) -> Digest:
        """What was stated, part by part as words and a hash: checkpoints and results keep it."""
        return digest_of_fields(self)

    def relative_errors(self, factors: Factors) -> dict[str, float]:
        """Return the relative error of each fit by its name."""
        return {}

    def source(self, key: Any) -> tuple[str, Source] | None:
        """Return the name here of a CVXPY variable, given it or its own name, if it is known."""
        return None

    def subproblems(self, factors: Factors) -> list[tuple[Subproblem, Array]]:
        """Return each block with the others held at these factors, and its own variable."""
        return []

    @abstractmethod
    def objective(self, factors: Factors) -> float:
        """Return the stated objective."""

    def restated(self, factors: Factors) -> float:
        """Return the objective by another route, where there is one."""
        return self.objective(factors)

    def relative_error(self, factors: Factors) -> float:
        """Return ‖V − reconstruction‖²/‖V‖², not a number where nothing is reconstructed."""
        return float("nan")

    @property
    def unit(self) -> float:
        """The size of the data as the objective sees it: its rounding is relative to this."""
        return 0.0

    def violations(self, factors: Factors) -> dict[str, float]:
        """Return the largest violation of each constraint."""
        return {}

    def violation(self, factors: Factors) -> float:
        """Return the largest violation of any constraint."""
        return max(self.violations(factors).values(), default=0.0)

    def collapsed(self, factors: Factors) -> bool:
        """Whether a piece of a variable is zero where a constraint forbids zero."""
        return False

    def rank_of(self, factors: Factors, objective: float, violation: float) -> tuple[bool, float]:
        """Return what iterates are ordered by: infeasible or not, then violation or objective."""
        feasible = violation <= feasible_within(factors) and not self.collapsed(factors)
        return not feasible, objective if feasible else violation

    def components(self, factors: Factors) -> list[tuple[Array, Array]]:
        """Return the pairs (columns, rows) whose outer products are the components."""
        return []

    def component_sides(self) -> dict[str, str]:
        """Return for variables with components whether they are "columns" or "rows", if known."""
        return {}

    @property
    def component_labels(self) -> tuple[str, ...]:
        """What to call the products that `components` returns, where there are several."""
        return ()

    holding: Holding = Holding()
    """How factors are held while the problem is solved."""

    def refuses(self, solver: AnySolver) -> list[str]:
        """Return why a solver cannot get at the variables, nothing where it can."""
        return []

    units: Units = Units()
    """What the variables of a normalized problem are to be multiplied by."""

    def current(self) -> BaseProblem:
        """Return the problem with the present values of its parameters, where it has such."""
        return self

    def normalized(self) -> Self:
        """Return the problem in units in which its numbers are about one, where it has such."""
        return self

    @abstractmethod
    def start(self, init: Any, rng: np.random.Generator) -> Factors:
        """Return a feasible start: from `init`, or a default when that is None."""

    def preferred(self) -> Sequence[tuple[AnySolver, str]]:
        """Return solvers in the order in which to try them when none is named, each with a reason."""
        from conicnmf.solve.choice import known_solvers

        return [(solver, "it is the first solver that fits") for solver in known_solvers(self)]

    def gains(self, factors: Factors) -> dict[str, float]:
        """Return by how much of the objective another route could still lower it, by variable."""
        return {}

    def explain(self) -> str:
        """Return which solvers fit, why the others do not, and which one is picked by default."""
        from conicnmf.solve.choice import explain

        return explain(self)

    @checks_arguments
    def solve(
        self,
        solver: SolverLike | None = None,
        *,
        init: Init = None,
        stop: StopLike | None = None,
        seed: Whole | None = 0,
        callback: Callable[[Iteration, Factors], Any] | None = None,
        time_limit: Seconds | None = None,
        checkpoint: Place | None = None,
        progress: bool | Monitor = False,
        throw: bool = True,
        n_threads: Count | None = None,
        effort: Effort = "low",
    ) -> Result:
        """Solve the problem; see `conicnmf.solve` for what the options mean."""
        from conicnmf.solve.engine import solve

        return solve(
            self,
            solver,
            init=init,
            stop=stop,
            seed=seed,
            callback=callback,
            time_limit=time_limit,
            checkpoint=checkpoint,
            progress=progress,
            throw=throw,
            n_threads=n_threads,
            effort=effort,
        )

    def _repr_html_(self) -> str:
        return f"<pre>{escape(repr(self))}</pre>"


check_factors_of(BaseProblem)
