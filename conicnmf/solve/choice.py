"""Which solvers fit a problem, why the others do not, and which one is picked."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import replace
from typing import Annotated, Any, Literal, TypeAlias

import cvxpy as cp
import scipy.sparse as sp

from conicnmf.errors import IncompatibleError, InputError
from conicnmf.model.base import BaseProblem
from conicnmf.model.blocks import Block
from conicnmf.model.problem import Problem
from conicnmf.settings import Reads, shown
from conicnmf.solve.methods import (
    ANLS,
    HALS,
    AcceleratedMultiplicative,
    Chain,
    CyclicNewton,
    ProjectedGradient,
    Race,
    Smoothing,
    Splitting,
    TangentPlane,
)
from conicnmf.solve.methods.base import SOLVERS, AnySolver, Solver
from conicnmf.solve.methods.smoothing import has_kinks, smoothed
from conicnmf.solve.programs.copies import fits_whole, needs_program
from conicnmf.solve.programs.lightest import has_native_program
from conicnmf.solve.runaway_scale import runaway_scales

Effort: TypeAlias = Literal["low", "normal", "high"]
"""How much to spend on a good basin: a race of more and more starts."""
EFFORTS: tuple[Effort, ...] = ("low", "normal", "high")
_RACES: dict[Effort, tuple[int, int, int]] = {
    "low": (1, 2, 1),
    "normal": (8, 8, 4),
    "high": (24, 24, 12),
}
"""From how many starts tangent planes, component-wise steps and the other solvers run.

Chosen on the training half of `benchmarks/grid.py`: the runs of five solvers from four starts were
stored for 168 problems with bounds on sparseness, and races were replayed from them. Within one
percent of the best solver from the first start were tangent planes and then HALS alone in 75 %, two
starts of three solvers with the worse half dropped in 88 %, and this in 96 %, in less time. Of 210
problems, with more data, it was 95 % where rounds began with four iterations and 97 % with eight,
after which gradient steps show where they lead; a second start of tangent planes would make that
98 %, in a fifth more time. Once runs are dropped early (`runner.py`), two starts of component-wise
steps end where three do on 161 of these problems, in a tenth less time."""
_FEW = 25
"""Up to this rank moving all components at once is worth its cost."""
_SLOW = 50
"""Exact steps take over where cheap ones fell by less than a thousandth so often in a row.

Near exact fits cheap steps fall slowly for thousands of iterations; after a few of them exact steps
often led to worse places. On the training half of `benchmarks/grid.py`, 84 problems with convex
terms, the default ended within one percent of the best solver in 93 % with cheap steps alone, and
in 98 % with 20 such iterations, in a tenth more time; 50 gave the same ends on 48 other problems,
and where cheap steps converge by themselves it compiles no more code."""
_SLOW_WITH_WEIGHTS = 20
"""The same where steps are made on majorizers, for falls of less than a hundredth.

Of five rules on drawn masks, 60 × 80 to 1000 × 800, this one was never far from the fastest, and the
others ran on for hundreds of iterations near exact fits."""
_EVEN = 0.5
"""From this mean weight on, relative to the largest, one curvature serves all entries."""
_SWEEPS_OF_BOUNDS = 10
"""How often component-wise steps visit the components of a majorizer. On draws of 100×150 to 2000×2000,
with 70 % observed and for Huber's loss, ten visits took three quarters of the time of three."""
_FEW_COUNTS = 10_000
"""For data with at most so many entries exact steps on counts begin; copies finish them.

On 25 draws of low rank, from 30×25 to 60×80 and most of them near exact fits, multiplicative updates
with momentum before exact steps ended more than one percent above the best solver in three of four,
this in one of four, in less time; on small parts of images both were alike."""
_QUICK = 1_000_000
"""On data with more entries, steps that change whole supports take minutes to settle: at 2000×2000 and
20 components they ended 2.4 % lower than component-wise steps, in more than ten times their time."""
_SMALL = 1000
"""In addition to component-wise steps, cone programs of up to so many entries take part in a race."""


def known_solvers(problem: BaseProblem) -> list[AnySolver]:
    """Return one of each solver of this kind of problem, in the order of tables."""
    solvers = [solver for kind in SOLVERS if (solver := _with_defaults(kind)) is not None]
    return [solver for solver in solvers if solver.concerns(problem)]


def _with_defaults(kind: type[AnySolver]) -> AnySolver | None:
    try:
        return kind()
    except (TypeError, InputError):
        return None  # it has settings that only a user can choose


def choose(problem: BaseProblem) -> tuple[AnySolver, str]:
    """Return the solver to use when none is named, and why."""
    for solver, why in (*_for_counts(problem), *problem.preferred()):
        if not solver.mismatches(problem):
            return solver, why
    others = sorted(fitting(problem), key=lambda solver: not solver.merit(problem))
    if others:
        return others[0], others[0].merit(problem) or "it is the first solver that fits"
    raise IncompatibleError(_none_fits(problem))


def _for_counts(problem: BaseProblem) -> list[tuple[AnySolver, str]]:
    """Return the solvers that change whole supports, where a penalty counts entries."""
    if not any("price" in p.abilities for block in problem.blocks for p in block.penalties):
        return []
    listed = ((solver, solver.merit(problem)) for solver in known_solvers(problem))
    return [(solver, why) for solver, why in listed if why]


def race(problem: BaseProblem, effort: Effort) -> Race | None:
    """Return a race for problems with many basins, nothing for others.

    Only solvers that need no cone programs, or small ones, take part. With many components, where a
    run takes long, low effort is one run.
    """
    # Where entries have a price, solvers that change whole supports run beside component-wise steps.
    of_counts = [solver for solver, _ in _for_counts(problem)]
    if not of_counts and not any(block.reverse_convex for block in problem.blocks):
        return None
    if has_kinks(problem):  # smooth losses one after the other are many runs already
        smooth = None if effort == "low" else race(smoothed(problem), effort)
        return smooth and replace(smooth, solvers=tuple(map(Smoothing, smooth.solvers)))
    few = all(block.shape[0] <= _FEW for block in problem.blocks)
    if not few and effort == "low":
        return None
    if any(math.prod(fit.V.shape) > _QUICK for fit in problem.fits):
        of_counts = []
    exact = _fitting_of(problem, *of_counts, HALS())
    polished = Chain((TangentPlane(), HALS()), patience=3)
    planes = _fitting_of(problem, polished, TangentPlane())[:1]
    if not few or not _is_light(problem, _SMALL if exact else 0):
        planes = []
    if not planes and not exact:
        return None
    # Gradient steps and copies find other basins; alone they may end before they have reached any.
    others = _fitting_of(problem, ProjectedGradient(), Splitting()) if few else []
    of_planes, of_steps, rest = _RACES[effort]
    starts = [of_planes] * len(planes) + [of_steps] * len(exact)
    starts += [rest if exact else of_steps] * len(others)
    return Race((*planes, *exact, *others), tuple(starts))


def _fitting_of(problem: BaseProblem, *solvers: AnySolver) -> list[AnySolver]:
    """Return those of some solvers that fit."""
    return [solver for solver in solvers if not solver.mismatches(problem)]


def _is_light(problem: BaseProblem, entries: int) -> bool:
    """Whether tangent planes need no cone programs of blocks with more entries."""
    seen = (TangentPlane().facing(block) for block in problem.blocks)
    return all(has_native_program(b) or b.shape[0] * b.shape[1] <= entries for b in seen)


def _none_fits(problem: BaseProblem) -> str:
    """Return the reasons of the solvers that lack least; those of all others would bury them."""
    known = known_solvers(problem)
    # Where some solvers are for this shape alone, others were never meant.
    own = [solver for solver in known if type(solver).concerns is not Solver.concerns]
    reasons = {solver.name: solver.mismatches(problem) for solver in own or known}
    least = min(map(len, reasons.values()), default=0)
    near = {name: all_ for name, all_ in reasons.items() if len(all_) == least}
    listed = "\n".join(f"  - {name}: {reason}" for name, all_ in near.items() for reason in all_)
    return f"no solver fits this problem; these come closest:\n{listed}\nDrop one of these terms."


def preferred(problem: Problem) -> Sequence[tuple[AnySolver, str]]:
    """Return the solvers for blocks in the order in which to try them, each with a reason.

    The order was measured: with few components and a lower bound on sparseness, component-wise
    steps are trapped where tangent planes are not; with many it is the other way round.
    """
    if not problem.addends:
        return []
    steps = HALS(sweeps=_SWEEPS_OF_BOUNDS) if _steps_are_cheap(problem) else HALS()
    listed: list[tuple[AnySolver, str]] = [
        (steps, "every component has an exact projection, which is the fastest way"),
        (
            ANLS(),
            "each sample is solved exactly, with its own weights or constraints",
        ),
        (TangentPlane(), "each block is a convex program, solved natively where it can be"),
        (ProjectedGradient(), "the constraints have a joint projection"),
    ]
    # Copies are cheap where every term has a closed form; in sets that are not convex, tangent
    # planes end in better places. A program of squares holds the loss as well; of other losses it
    # would hold bounds on entries, whose steps are short.
    planes = any(
        block.reverse_convex
        or (needs_program(block) and _has_squares(block) and not fits_whole(block))
        for block in problem.blocks
    )
    copies = (
        "each term acts on its own copy of the factor, and the copies are made equal step by step"
    )
    if any(fits_whole(block) for block in problem.blocks):
        copies = "a block that is a convex program is solved as one, with extrapolation"
    listed.insert(3 if planes else 2, (Splitting(), copies))
    why = "cheap steps get close, and exact ones finish"
    if any(HALS().facing(block).kind for block in problem.blocks) and not _reweighed(problem):
        listed[0], listed[1] = listed[1], listed[0]  # exact steps before those on majorizers
        if _even(problem):
            listed.insert(0, (Chain((steps, ANLS()), rtol=1e-2, patience=_SLOW_WITH_WEIGHTS), why))
    elif problem.rank <= _FEW:
        exact = [ANLS()] if any(map(needs_program, problem.blocks)) else [ANLS(), Splitting()]
        listed[:0] = [(Chain((steps, own), rtol=1e-3, patience=_SLOW), why) for own in exact]
    own = "every entry has its own exact step"
    listed.insert(0, (CyclicNewton(), own))
    if not all(_has_squares(block) for block in problem.blocks):
        # Where data are dense, one product serves many entries; where not, steps of their own pay.
        stored = any(sp.issparse(fit.V) for fit in problem.fits)
        cheap = "its steps are cheap, and momentum makes up for the short steps"
        listed.insert(int(stored), (AcceleratedMultiplicative(), cheap))
        if not stored:
            ended = Chain((AcceleratedMultiplicative(), CyclicNewton()), rtol=1e-2, patience=1)
            listed.insert(0, (ended, "cheap steps with momentum get close, and exact ones finish"))
            if all(math.prod(fit.V.shape) <= _FEW_COUNTS for fit in problem.fits):
                ended = Chain((CyclicNewton(), Splitting()), rtol=1e-2, patience=20)
                listed.insert(0, (ended, "exact steps on entries get close, and joint ones finish"))
    if problem.rank <= _FEW and any(block.reverse_convex for block in problem.blocks):
        polished = Chain((TangentPlane(), HALS()))
        listed.insert(
            0, (polished, "tangent planes find a good region, and exact steps refine the result")
        )
    if has_kinks(problem) and any(b.reverse_convex or needs_program(b) for b in problem.blocks):
        # Squares above kinks make steps short, but where every column has its own.
        rounded, _ = choose(smoothed(problem))
        why = "smooth losses that approximate the one with kinks do most of the work"
        listed.insert(0, (Smoothing(rounded), why))
    return listed


def _reweighed(problem: Problem) -> bool:
    """Whether exact steps would be on squares whose weights change with every step anyway.

    With weights of the data's own, one curvature for all entries would make steps short. Samples
    with ties are better solved together.
    """
    weighted = any(fit.loss.squared is not None for fit in problem.fits)
    kinds = _exact_on(problem)
    return not weighted and "weighted" in kinds and not (_tied(problem) and None in kinds)


def _steps_are_cheap(problem: Problem) -> bool:
    """Whether component-wise steps are compiled, and their majorizers take passes over the data."""
    seen = [HALS().facing(block) for block in problem.blocks]
    return all(b.kind and b.orthant_only and not b.shaped for b in seen)


def _even(problem: Problem) -> bool:
    """Whether one curvature for all entries does nearly what systems of each column's own do.

    So it is where most entries weigh the same. On draws of 60×80 to 2000×2000 steps on majorizers
    came close in half of the time, at an evenness of 0.7 to 0.9, and in five times as long, at 0.1.
    """
    even = min(fit.loss.evenness for fit in problem.fits) >= _EVEN
    return even and _exact_on(problem) <= {None, "weighted"} and not _tied(problem)


def _exact_on(problem: Problem) -> set[str | None]:
    """Return on which majorizers of each block exact steps are made, None on the loss itself."""
    return {ANLS().facing(block).kind for block in problem.blocks}


def _tied(problem: Problem) -> bool:
    """Whether a penalty ties samples to their neighbors."""
    return any("ties" in p.abilities for block in problem.blocks for p in block.shaped)


def _has_squares(block: Block) -> bool:
    """Whether losses are squares, or bounded by squares."""
    return any(
        {"quadratic", "vectorized", "grams"} & seen.abilities for seen in (block, *block.majorized)
    )


def fitting(problem: BaseProblem) -> list[AnySolver]:
    """Return the known solvers that fit."""
    return _fitting_of(problem, *known_solvers(problem))


def require_fit(problem: BaseProblem, solver: AnySolver) -> None:
    """Raise an `IncompatibleError` with every reason and the solvers that fit."""
    reasons = solver.mismatches(problem)
    if reasons:
        names = ", ".join(other.name for other in fitting(problem))
        listed = "\n".join(f"  - {reason}" for reason in reasons)
        raise IncompatibleError(
            f"{solver.name} does not fit this problem:\n{listed}\n"
            f"These fit: {names or 'none of the solvers'}."
        )


def explain(problem: BaseProblem) -> str:
    """Return which solvers fit, why the others do not, and which is picked by default."""
    lines = [repr(problem), "Solvers:"]
    for solver in known_solvers(problem):
        reasons = solver.mismatches(problem)
        lines.append(f"  {'no ' if reasons else 'yes'}  {solver.name}{_how(solver, problem)}")
        lines += [f"         - {reason}" for reason in reasons]
    lines += [f"Note: {note}." for note in _remarks(problem)]
    try:
        chosen, why = choose(problem)
    except IncompatibleError as error:
        return "\n".join([*lines, str(error)])
    raced = race(problem, "low")
    if raced is None:
        return "\n".join([*lines, f"By default {chosen.name} is picked: {why}."])
    picked = f"From a start that you pass, {chosen.name} is picked: {why}."
    return "\n".join([*lines, f"By default solve() runs a race: {raced.name}. {picked}"])


def _remarks(problem: BaseProblem) -> list[str]:
    """Return what to know about the losses of such models, and about penalties without effect."""
    nonneg = all(block.nonneg and block.nonneg_around for block in problem.blocks)
    of_losses = [note for fit in problem.fits if (note := fit.loss.remark(nonneg))]
    return [*of_losses, *runaway_scales(problem)]


def _how(solver: AnySolver, problem: BaseProblem) -> str:
    """Return that a solver works on majorizers of the loss, where it does."""
    kinds = [kind for block in problem.blocks if (kind := solver.facing(block).kind)]
    return f", on {kinds[0]} majorizers of the loss" if kinds else ""


def as_problem(problem: Any, name: str = "problem") -> BaseProblem:
    """Return a problem unchanged, or raise an error that says what is expected.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> as_problem(cn.factorize(np.eye(3), 1)).kind
    'factorization'
    """
    if isinstance(problem, BaseProblem):
        return problem
    if isinstance(problem, cp.Problem):
        raise InputError(
            f"{name} must be a Problem of conicnmf, got one of CVXPY; write "
            "cn.Problem(problem.objective, problem.constraints)"
        )
    raise InputError(
        f"{name} must be a Problem, got {shown(problem)}; state it with factorize(V, rank)"
    )


Stated: TypeAlias = Annotated[BaseProblem, Reads(as_problem)]
"""A problem, as an argument."""
