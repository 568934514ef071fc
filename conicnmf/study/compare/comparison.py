"""`Comparison`: the runs of a comparison and what follows from them."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal, TypeAlias

from conicnmf.errors import InputError
from conicnmf.results import Result, Status
from conicnmf.settings import Place, Rule, Weight, checks_arguments
from conicnmf.study.compare.rows import (
    COLUMNS,
    FAILED,
    INTERRUPTION,
    NAMES,
    Task,
    row_of,
    told_unfinished,
)
from conicnmf.study.compare.significance import significance
from conicnmf.study.compare.store import Index, Store

if TYPE_CHECKING:
    import pandas as pd

Probability: TypeAlias = Annotated[float, Rule("between 0 and 1", lambda p: 0 < p < 1)]


@dataclass(frozen=True, eq=False, repr=False)
class Comparison:
    """The runs of a comparison.

    Attributes
    ----------
    table : pandas.DataFrame
        One row per run, including failures and solvers that do not fit, with the reason.
    results : dict
        The results by (problem, solver, seed).
    settings : dict of str to str
        What all runs have in common, as text.
    claim : dict of str to str
        What must be equal for a stored comparison to be continued.
    remarks : tuple of str
        Problems with the store, such as a damaged run that was repeated.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> runs = cn.compare(cn.factorize(np.eye(4), 2), [cn.HALS()], seeds=[0, 1], stop=5)
    >>> runs.summary()["iterations"].item()
    5.0
    """

    table: pd.DataFrame
    results: dict[Task, Result] = field(default_factory=dict)
    settings: dict[str, str] = field(default_factory=dict)
    claim: dict[str, str] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()

    @property
    def partial(self) -> bool:
        """Whether an interruption, the budget or a process that died left runs unfinished."""
        return bool(told_unfinished(self.table["status"]))

    @property
    def interrupted(self) -> bool:
        """Whether Ctrl-C ended the comparison."""
        stopped = self.table["status"] == Status.INTERRUPTED.name
        return bool((stopped | (self.table["reason"] == INTERRUPTION)).any())

    def __repr__(self) -> str:
        told = told_unfinished(self.table["status"])
        return self.summary().to_string() + (f"\n{told}" if told else "")

    def _repr_html_(self) -> str:
        told = told_unfinished(self.table["status"])
        return self.summary().to_html() + (f"<p>{told}</p>" if told else "")

    def to_markdown(self) -> str:
        """Return the summary as a Markdown table, the best of each problem in bold."""
        from conicnmf.report import to_markdown

        return to_markdown(self)

    def to_latex(self) -> str:
        """Return the summary as a LaTeX tabular, for a page with the booktabs package."""
        from conicnmf.report import to_latex

        return to_latex(self)

    def summary(self) -> pd.DataFrame:
        """Return one row a problem and solver: means over the runs that did not fail, statuses."""
        import pandas as pd

        rows = []
        for (problem, solver), every in self.table.groupby(["problem", "solver"], sort=False):
            counts = every["status"].value_counts()
            runs = every[~every["status"].isin(FAILED)]
            rows.append(
                {
                    "problem": problem,
                    "solver": solver,
                    "objective": runs["objective"].mean(),
                    "best": runs["objective"].min(),
                    "relative_error": runs["relative_error"].mean(),
                    "violation": runs["violation"].max(),
                    "seconds": runs["seconds"].mean(),
                    "seconds_sd": runs["seconds"].std(ddof=0),
                    "iterations": runs["iterations"].mean(),
                    "status": ", ".join(f"{name} ×{count}" for name, count in counts.items()),
                }
            )
        return pd.DataFrame(rows).set_index(["problem", "solver"])

    @checks_arguments
    def best(self, solver: str | None = None, problem: str | None = None) -> Result:
        """Return the feasible result with the lowest objective, of one solver or of all."""
        labels = self.table["problem"].unique()
        if problem is None and len(labels) > 1:
            raise InputError(
                f"objectives of different problems cannot be compared; name one of {', '.join(labels)}"
            )
        fitting = [
            result
            for (label, name, _), result in self.results.items()
            if (solver is None or name == solver)
            and (problem is None or label == problem)
            and result.status.kind != "failed"
        ]
        if not fitting:
            raise InputError(f"no run of {solver or 'any solver'} succeeded; look at .table")
        return min(fitting, key=lambda result: result.objective)

    @checks_arguments
    def significance(
        self,
        measure: Literal["objective", "seconds"] = "objective",
        *,
        level: Probability = 0.05,
        tolerance: Weight = 0.01,
    ) -> pd.DataFrame:
        """Test every pair of solvers on the problems and seeds that both were run on.

        Parameters
        ----------
        measure : {"objective", "seconds"}
            The final objective, or the time until it is within `tolerance` of the best one for
            that problem and seed.
        level : float
            The chance of one false finding or more in the whole table.
        tolerance : float
            The target of "seconds", relative to the best objective.

        Returns
        -------
        pandas.DataFrame
            One row a pair: how often the first was lower, higher or level, the median ratio of the
            first to the second, Wilcoxon's signed-rank p (two-sided, exact up to 300 pairs), p
            after Holm's correction for the number of rows, and a finding as text. A failed run
            is worse than any other.

        Notes
        -----
        Seeds of one problem say which solver is better on that problem. What holds for problems
        at large takes many problems.

        Examples
        --------
        >>> import numpy as np, conicnmf as cn
        >>> problem = cn.factorize(np.random.default_rng(0).random((9, 8)), 3)
        >>> runs = cn.compare(problem, [cn.HALS(), cn.Multiplicative()], seeds=range(8), stop=20)
        >>> runs.significance()["finding"].item()
        'HALS is lower'
        """
        return significance(self.table, self.results, measure, level, tolerance)

    @checks_arguments
    def save(self, folder: Place) -> Path:
        """Write all runs into a folder, without pickle; `Comparison.load` reads them back.

        `compare(..., store=folder)` continues from there.
        """
        store = Store(Path(folder), self.claim)
        for task, result in self.results.items():
            store.run(task).write(result)
        store.write_index(Index(self.claim, self.settings, self.table.to_dict("records")))  # type: ignore[arg-type]
        return store.folder

    @classmethod
    @checks_arguments
    def load(cls, folder: Place) -> Comparison:
        """Read a comparison that `save` wrote, or the store of one that may not be finished.

        Examples
        --------
        >>> import numpy as np, conicnmf as cn, tempfile
        >>> runs = cn.compare(cn.factorize(np.eye(4), 2), [cn.HALS()], seeds=[0], stop=5)
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     again = cn.Comparison.load(runs.save(folder))
        >>> again.table.equals(runs.table)
        True
        """
        import pandas as pd

        index = Store(Path(folder)).read_index()
        store = Store(Path(folder), index.claim)
        rows, results, remarks = [], {}, []
        for row in index.rows:
            problem, solver, seed = (row[name] for name in NAMES)
            task = (problem, solver, seed)
            try:
                result = store.run(task).read()
            except InputError as error:
                result = None
                remarks.append(f"a run is left out of the results: {error}")
            if result is not None:
                results[task] = result
                row = row_of(task, result)
            rows.append(row)
        table = pd.DataFrame(rows, columns=list(COLUMNS))
        return cls(table, results, index.settings, index.claim, tuple(remarks))
