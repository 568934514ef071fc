"""What a solve returns: factors, status, history, all of it savable without pickle."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from html import escape
from pathlib import Path
from typing import TYPE_CHECKING, Any

from conicnmf.errors import InputError
from conicnmf.model.names import Names
from conicnmf.results.entries import product_entries
from conicnmf.results.history import History
from conicnmf.results.named import Top, frame_of, places_of
from conicnmf.results.status import Promises, Status
from conicnmf.settings import Count, Place, Weight, Whole, checks_arguments, shown
from conicnmf.types import Array, Factors

if TYPE_CHECKING:
    import pandas as pd
    from matplotlib.figure import Figure

    from conicnmf.model.base import BaseProblem
    from conicnmf.solve.methods.base import SolverLike
    from conicnmf.study.certificate import Certificate


@dataclass(frozen=True, eq=False, repr=False)
class Result:
    """The outcome of a solve.

    Attributes
    ----------
    factors : dict of str to array
        Every variable by name. ``result["W"]`` and ``result.W`` are short for one of them, and
        ``result[X]`` is the value of a CVXPY variable X of the problem, in the shape of X.
    objective : float
        The stated objective, exactly.
    relative_error : float
        ‖V − model‖²/‖V‖², over the weighted entries if the loss has weights; summed over all data
        matrices if there are several.
    relative_errors : dict of str to float
        The same for each matrix of data by its name.
    components : dict of str to str
        Whether the components of a variable are its "columns" or its "rows".
    violation : dict of str to float
        The largest violation of each constraint.
    status : Status
    history : History
    seed : int or None
    solver : str
        With all settings.
    method : str
        The names of the solvers in a chain or a race.
    problem_text : str
        What was solved, as text.
    versions : dict of str to str
    promises : Promises
        What the solver guarantees; a certificate checks it.
    problem : Problem or None
        What was solved; not saved.
    direction : dict of str to array, or None
        A direction along which the objective falls without bound, if the status is UNBOUNDED.
    remarks : tuple of str
        Problems that did not stop the solve, such as a checkpoint that could not be written.
    identity : dict of str to str
        The digest of the problem, if the result was loaded without the problem.
    names : Names
        The names of features and samples, if the data had any.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> result = cn.factorize(np.ones((4, 3)), 1).solve(cn.HALS())
    >>> result.W.shape, result.H.shape, result.status.name
    ((4, 1), (1, 3), 'CONVERGED')
    >>> "W" in result, result["W"] is result.W, list(result.relative_errors)
    (True, True, ['V'])
    """

    factors: dict[str, Array]
    objective: float
    relative_error: float
    violation: dict[str, float]
    status: Status
    history: History
    seed: int | None
    solver: str
    problem_text: str
    versions: dict[str, str]
    promises: Promises = field(default_factory=Promises)
    problem: BaseProblem | None = None
    direction: Factors | None = None
    relative_errors: dict[str, float] = field(default_factory=dict)
    components: dict[str, str] = field(default_factory=dict)
    identity: dict[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    names: Names = field(default_factory=Names)
    method: str = ""

    def __getitem__(self, key: Any) -> Array:
        """Return a variable by its name, or by the CVXPY variable in whose shape it is wanted."""
        source = None if self.problem is None else self.problem.source(key)
        if source is not None:
            name, own = source
            return own.outward(self.factors[name])
        if isinstance(key, str):
            return self._named(key)
        raise InputError(
            f"{shown(key)} is not a variable of the problem that was solved; {self._listed()}"
        )

    def __contains__(self, key: Any) -> bool:
        """Whether there is a variable of this name, or for this CVXPY variable."""
        if isinstance(key, str) and key in self.factors:
            return True
        return self.problem is not None and self.problem.source(key) is not None

    def _named(self, name: str) -> Array:
        if name not in self.factors:
            raise InputError(f"the result has no variable {name:.60}; {self._listed()}")
        return self.factors[name]

    def _listed(self) -> str:
        return f"its variables are {', '.join(self.factors)}"

    @checks_arguments
    def predict_entries(self, rows: Any, columns: Any, data: str | None = None) -> Array:
        """Return the model's value at chosen entries, such as those that were not observed.

        Parameters
        ----------
        rows, columns : array of int
            Places in V that broadcast as in ``V[rows, columns]``.
        data : str, optional
            The name of the matrix of data, where the problem has several.

        Returns
        -------
        array
            In the shape of ``V[rows, columns]``. The product of the factors is never formed. For a
            logistic loss these are log-odds.

        Examples
        --------
        >>> import numpy as np, conicnmf as cn
        >>> V = np.outer([1.0, 2.0, 3.0], [1.0, 1.0, 2.0])
        >>> seen = np.array([[1, 1, 1], [1, 1, 1], [1, 1, 0]], dtype=bool)
        >>> result = cn.factorize(V, 1, loss=cn.WeightedFrobenius(seen)).solve()
        >>> result.predict_entries(*np.nonzero(~seen)).round(3)
        array([6.])
        """
        L, R = self._model(data)
        return product_entries(L, R, rows, columns)

    @checks_arguments
    def predict(self, rows: Any, columns: Any, data: str | None = None) -> Array:
        """Return the model's value at entries given by the names of features and samples, or by places.

        With several matrices of data, `data` is the name of one of them.

        Examples
        --------
        >>> import numpy as np, conicnmf as cn
        >>> V = np.outer([1.0, 2.0], [1.0, 3.0])
        >>> result = cn.factorize(V, 1, feature_names=["a", "b"], sample_names=["x", "y"]).solve()
        >>> result.predict("b", ["x", "y"]).round(3)
        array([2., 6.])
        """
        L, R = self._model(data)
        features, samples = self.names.of_data(data)
        i = places_of(rows, features, "rows", len(L))
        return product_entries(L, R, i, places_of(columns, samples, "columns", R.shape[1]))

    @checks_arguments
    def reconstruct(self, data: str | None = None) -> Any:
        """Return the model of the data: an array, or a data frame where there are names.

        With several matrices of data, `data` is the name of one of them.
        """
        L, R = self._model(data)
        own = self.names.of_data(data)
        return L @ R if own == (None, None) else frame_of(L @ R, *own, side="")

    @checks_arguments
    def frame(self, name: str) -> pd.DataFrame:
        """Return a variable as a data frame with the names that the data came with."""
        X = self._named(name)
        rows, columns = self.names.rows.get(name), self.names.columns.get(name)
        return frame_of(X, rows, columns, self.side(name))

    @property
    def W_frame(self) -> pd.DataFrame:
        """W as a data frame: features × components."""
        return self.frame("W")

    @property
    def H_frame(self) -> pd.DataFrame:
        """H as a data frame: components × samples."""
        return self.frame("H")

    @checks_arguments
    def top(self, count: Count = 10, of: str = "W") -> Top:
        """Return the largest entries of each component with their names, of W or another variable.

        Parameters
        ----------
        count : int
            How many to return for each component.
        of : str
            "W" for the features (words, genes, bands) of components, "H" for their samples.

        Examples
        --------
        >>> import pandas as pd, conicnmf as cn
        >>> V = pd.DataFrame([[4.0, 4.0], [1.0, 1.0]], index=["cat", "dog"])
        >>> [name for name, _ in cn.factorize(V, 1).solve().top(2).entries["component 1"]]
        ['cat', 'dog']
        """
        X = self._named(of)
        side = self.side(of)
        rows = side == "rows" or (not side and of in self.names.columns)  # or an offset of samples
        names = (self.names.columns if rows else self.names.rows).get(of)
        return Top.of(X.T if rows else X, names, count, None if side else [of])

    def _model(self, data: str | None) -> tuple[Array, Array]:
        """Return two matrices whose product is the model of some data."""
        models = {} if self.problem is None else self.problem.models
        if not models and data is None and set(self.factors) == {"W", "H"}:
            return self.W, self.H
        if not models:
            raise InputError(
                "the model of the data is known for V ≈ W H and for problems with a fit; this one has "
                f"{', '.join(self.factors)}, and a loaded result does not keep its problem; multiply "
                "the factors you need"
            )
        if data is None and len(models) == 1:
            return next(iter(models.values()))(self.factors)
        if data is None or data not in models:
            raise InputError(
                f"data must be one of {', '.join(models)}, got {shown(data)}; name one of them"
            )
        return models[data](self.factors)

    @checks_arguments
    def certificate(
        self,
        problem: BaseProblem | None = None,
        *,
        feasibility: Weight = 1e-6,
        stationarity: Weight = 1e-2,
        restarts: Whole = 0,
        budget: Whole = 0,
        solver: SolverLike | None = None,
    ) -> Certificate:
        """Check the result by other routes than the solver's; see `conicnmf.certify`.

        A loaded result does not hold its problem, which is then to be given. With `restarts`, the
        gap to the best of this many other starts is reported, and with `budget` a branch and bound
        tries to prove that there is nothing lower.
        """
        from conicnmf.study.certificate import certify

        stated = self.problem if problem is None else problem
        if stated is None:
            raise InputError(
                "a loaded result does not hold its problem; pass it, result.certificate(problem)"
            )
        return certify(
            stated,
            self,
            feasibility=feasibility,
            stationarity=stationarity,
            restarts=restarts,
            budget=budget,
            solver=solver,
        )

    @checks_arguments
    def plot(self, image_shape: tuple[Count, Count] | None = None) -> Figure:
        """Draw the basis: as images where their shape is given, else as profiles."""
        from conicnmf.report import plot_basis

        return plot_basis(self, image_shape)

    @property
    def W(self) -> Array:
        """The basis, features × rank."""
        return self._named("W")

    @property
    def H(self) -> Array:
        """The coefficients, rank × samples."""
        return self._named("H")

    @checks_arguments
    def side(self, name: str) -> str:
        """Return if components are "columns" or "rows" of a variable, "" where it has none.

        Where the problem does not say, there are fewer components than features.
        """
        if name in self.components or name in ("W", "H"):
            return self.components.get(name, "columns" if name == "W" else "rows")
        X = self._named(name)
        if self.components or X.ndim != 2 or min(X.shape) < 2:
            return ""
        return "rows" if X.shape[1] > X.shape[0] else "columns"

    @property
    def max_violation(self) -> float:
        """The largest violation of any constraint."""
        return max(self.violation.values(), default=0.0)

    @property
    def seconds(self) -> float:
        """The time of the solve."""
        return self.history[-1].seconds

    @property
    def n_iter(self) -> int:
        """The number of iterations made."""
        return self.history[-1].iteration

    @property
    def solver_text(self) -> str:
        """The solver with its settings, or the names of the parts where it has such."""
        return self.method or self.solver

    def _rows(self) -> list[tuple[str, str]]:
        shapes = ", ".join(
            f"{name} {X.shape[0]} × {X.shape[1]}" for name, X in self.factors.items()
        )
        return [
            ("solver", self.solver_text),
            ("status", f"{self.status.name} ({self.status.kind})"),
            ("objective", f"{self.objective:.6g}"),
            ("relative error", f"{self.relative_error:.6g}{self._by_fit()}"),
            ("violation", f"{self.max_violation:.2g}"),
            ("iterations", f"{self.n_iter} in {self.seconds:.3g} s, seed {self.seed}"),
            ("factors", shapes),
            *self._race(),
        ]

    def _race(self) -> list[tuple[str, str]]:
        """Return how far apart the runs of a race have come."""
        notes = self.history[-1].notes
        if "basins" not in notes:
            return []
        told = f"{notes['basins']:.0f} basins, the worst run {notes['spread']:.1%} above the best"
        return [("race", told)]

    def _by_fit(self) -> str:
        """Return the errors of several fits."""
        if len(self.relative_errors) < 2:
            return ""
        listed = ", ".join(f"{name} {error:.6g}" for name, error in self.relative_errors.items())
        return f" ({listed})"

    def __repr__(self) -> str:
        width = max(len(name) for name, _ in self._rows())
        lines = [f"  {name:<{width}}  {text}" for name, text in self._rows()]
        said = [f"  {sentence}" for sentence in (self.status.value, *self.remarks)]
        return "\n".join(["Result", *lines, *said])

    def _repr_html_(self) -> str:
        body = "".join(
            f"<tr><th>{escape(name)}</th><td>{escape(text)}</td></tr>"
            for name, text in self._rows()
        )
        said = "".join(f"<p>{escape(text)}</p>" for text in (self.status.value, *self.remarks))
        return f"<table>{body}</table>{said}"

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the solve."""
        said = Status.INTERRUPTED.value in self.remarks
        return said or self.status is Status.INTERRUPTED

    @property
    def digest(self) -> dict[str, str]:
        """What was solved, part by part as words and a hash; a loaded result has it too."""
        return self.identity or ({} if self.problem is None else self.problem.digest)

    def detached(self) -> Result:
        """Return the result without its problem, of which the digest stays."""
        return replace(self, problem=None, identity=self.digest)

    @checks_arguments
    def save(self, path: Place) -> Path:
        """Write the result as ``path.npz``, which `load` reads, and its text as ``path.json``.

        Returns
        -------
        Path
            The path without ending.
        """
        from conicnmf.results.saved import save

        return save(self, path)
