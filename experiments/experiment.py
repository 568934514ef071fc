"""What an experiment is, what it is given and what it returns."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal

import pandas as pd
from matplotlib.figure import Figure

from conicnmf.errors import InputError

Verdict = Literal["agrees", "better", "partly", "differs"]


def judged(*parts: bool) -> Verdict:
    """Return the verdict on a published sentence from tests of its parts, in full.

    Examples
    --------
    >>> judged(True, True), judged(True, False), judged(False)
    ('agrees', 'partly', 'differs')
    """
    held = sum(map(bool, parts))
    return "agrees" if held == len(parts) else "partly" if held else "differs"


def judged_by(
    sentences: Mapping[str, Any], ours: Mapping[str, Any] | None = None
) -> tuple[Verdict, str]:
    """Return the verdict on published sentences from a test of each, and words on those that fail.

    `ours` tests some of the sentences again with a method of this package that the paper does not have
    The verdict is *better* if all sentences hold with it and not without.

    Examples
    --------
    >>> judged_by({"A is fast": True, "B is faster": False})
    ('partly', '1 of 2 published sentences hold; these do not: B is faster.')
    >>> judged_by({"A is fast": True, "B is faster": False}, {"B is faster": True})[0]
    'better'
    """
    failed = [sentence for sentence, holds in sentences.items() if not holds]
    kept = f"{len(sentences) - len(failed)} of {len(sentences)} published sentences hold"
    said = kept + (f"; these do not: {'; '.join(failed)}." if failed else ".")
    mended = ours is not None and all({**sentences, **ours}.values())
    return "better" if failed and mended else judged(*sentences.values()), said


@dataclass(frozen=True)
class Setup:
    """How much of an experiment to run.

    Parameters
    ----------
    quick : bool
        A smaller version that takes seconds and shows the same effect, or everything published.
    seeds : sequence of int, optional
        The starts or splits to run; by default each experiment has its own number.
    n_jobs : int
        Processes; with more than one, times disturb each other.
    progress : bool
        Show progress bars.

    Examples
    --------
    >>> Setup().runs(quick=2, full=10), Setup(seeds=[7]).runs(quick=2, full=10)
    ([0, 1], [7])
    """

    quick: bool = True
    seeds: Sequence[int] | None = None
    n_jobs: int = 1
    progress: bool = False
    used: set[int] = field(default_factory=set, init=False, repr=False, compare=False)
    """The seeds that `runs` has given out, for the record."""

    def __post_init__(self) -> None:
        if self.seeds is not None and not len(self.seeds):
            raise InputError("Setup needs at least one seed, got none; leave seeds out to choose")

    def __str__(self) -> str:
        version = "Quick version" if self.quick else "Full version"
        return version + (f", seeds {', '.join(map(str, sorted(self.used)))}" if self.used else "")

    def runs(self, quick: int, full: int) -> list[int]:
        """Return the seeds asked for, or the experiment's own number of them."""
        own = range(quick if self.quick else full)
        chosen = list(own if self.seeds is None else self.seeds)
        self.used.update(chosen)
        return chosen


@dataclass(frozen=True, eq=False, repr=False)
class Outcome:
    """What an experiment measured.

    Attributes
    ----------
    table : pandas.DataFrame
        The measured figures, with the published ones where there are any.
    figures : dict of str to matplotlib.figure.Figure
    verdict : {"agrees", "better", "partly", "differs"}
        How the measured figures stand to the published claim; see `judged`.
    reason : str
        Why, in one sentence.
    notes : tuple of str
        Choices the paper leaves open, and what a reader must know before quoting a figure.
    seconds : float
        The time of the whole experiment.
    experiment : Experiment or None
        What was run; filled in by `reproduce`.
    setup : Setup or None
        How much of it was run; filled in by `reproduce`.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"published": [0.24], "measured": [0.23]})
    >>> Outcome(table, verdict="agrees", reason="the objective is as low.")
     published  measured
          0.24      0.23
    agrees: the objective is as low.
    """

    table: pd.DataFrame
    figures: dict[str, Figure] = field(default_factory=dict)
    verdict: Verdict = "differs"
    reason: str = ""
    notes: tuple[str, ...] = ()
    seconds: float = 0.0
    experiment: Experiment | None = None
    setup: Setup | None = None

    def __repr__(self) -> str:
        table = self.table.to_string(index=False, float_format="{:.4g}".format)
        return f"{table}\n{self.verdict}: {self.reason}"


@dataclass(frozen=True)
class Experiment:
    """A published experiment and how to run it again.

    Parameters
    ----------
    id : str
    paper : str
    title : str
    published : str
        The claim, with its figures.
    data : str
        What it runs on here.
    run : callable
        Takes a `Setup`, returns an `Outcome`.

    Examples
    --------
    >>> from experiments import EXPERIMENTS
    >>> EXPERIMENTS["heiler-paatero"].published
    'Gaussian profiles and exponentials are recovered only with a bound on the sparseness of W.'
    """

    id: str
    paper: str
    title: str
    published: str
    data: str
    run: Callable[[Setup], Outcome]
