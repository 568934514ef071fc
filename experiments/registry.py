"""All experiments by their id, and `reproduce`."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import replace
from difflib import get_close_matches

from conicnmf.errors import InputError
from experiments import (
    heiler_cbcl,
    heiler_global,
    heiler_labels,
    heiler_paatero,
    heiler_quantization,
    heiler_sparse_pca,
    heiler_table3,
    hoyer_bars,
    ohanlon_table1,
    thom_gabor,
    thom_grid,
    thom_mnist,
    thom_supervised,
    thom_thousand,
    yang_filters,
    yang_orthogonality,
    yang_ranking,
    yang_table1,
)
from experiments.experiment import Experiment, Outcome, Setup

EXPERIMENTS: dict[str, Experiment] = {
    module.EXPERIMENT.id: module.EXPERIMENT
    for module in (
        heiler_table3,
        heiler_paatero,
        heiler_global,
        heiler_sparse_pca,
        heiler_quantization,
        heiler_labels,
        heiler_cbcl,
        hoyer_bars,
        ohanlon_table1,
        yang_orthogonality,
        yang_table1,
        yang_filters,
        yang_ranking,
        thom_gabor,
        thom_mnist,
        thom_supervised,
        thom_thousand,
        thom_grid,
    )
}
"""Every experiment, in the order of the papers."""


def find(name: str) -> Experiment:
    """Return the experiment of this id.

    Examples
    --------
    >>> find("heiler-table3").title
    'Time and error of three methods at nine sparseness levels'
    """
    if name not in EXPERIMENTS:
        close = get_close_matches(name, EXPERIMENTS, n=1, cutoff=0.4)
        hint = f"did you mean {close[0]}? " if close else ""
        raise InputError(
            f"no experiment is called {name!r}; {hint}The ids are {', '.join(EXPERIMENTS)}"
        )
    return EXPERIMENTS[name]


def reproduce(
    name: str,
    quick: bool = True,
    *,
    seeds: Sequence[int] | None = None,
    n_jobs: int = 1,
    progress: bool = False,
) -> Outcome:
    """Run a published experiment again.

    Parameters
    ----------
    name : str
        The id of the experiment, see `EXPERIMENTS`.
    quick : bool
        A smaller version that takes seconds, or the whole.
    seeds : sequence of int, optional
        The starts or splits to run instead of the experiment's own.
    n_jobs : int
        Processes for runs that do not depend on each other.
    progress : bool
        Show progress bars.

    Returns
    -------
    Outcome

    Examples
    --------
    >>> from experiments import reproduce
    >>> reproduce("heiler-paatero", seeds=[0]).verdict
    'agrees'
    """
    experiment = find(name)
    begin = time.perf_counter()
    setup = Setup(quick, seeds, n_jobs, progress)
    outcome = experiment.run(setup)
    seconds = time.perf_counter() - begin
    return replace(outcome, seconds=seconds, experiment=experiment, setup=setup)
