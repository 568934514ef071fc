"""Sparse coding for fast classification: alternating steps on filters, codes and encoder."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import ClassVar

import numpy as np

from conicnmf.families.autoencoders import scfc_updates
from conicnmf.families.autoencoders.encoder_update import move_encoder
from conicnmf.families.autoencoders.fast_codes import FastCodes
from conicnmf.families.autoencoders.scfc_state import State
from conicnmf.families.autoencoders.schedules import Ramp, Schedule
from conicnmf.families.autoencoders.step_sizes import StepSizes, pack_steps, unpack_steps
from conicnmf.model.base import BaseProblem
from conicnmf.settings import Count, Share
from conicnmf.solve.methods.base import Context, Solver, Sweep
from conicnmf.solve.stop import MaxIter, Stop
from conicnmf.types import Array, Factors


@dataclass(frozen=True, eq=False)
class Memo:
    """Iterations made, the filters before the last one, its change of codes, steps, and the state."""

    count: int = 0
    before: dict[str, Array] = field(default_factory=dict)
    steps: StepSizes = field(default_factory=dict)
    state: State | None = None


@dataclass(frozen=True)
class SCFC(Solver[FastCodes, Memo]):
    """Gradient steps on one variable after the other; W and H are projected after each.

    Every variable has a step size of its own: steps shrink until the energy does not rise, and grow
    after a success. So at fixed weights it never rises. They are judged by the change of the energy,
    summed over differences: in single precision the difference of two energies is soon nothing but
    rounding. Where momentum fails on H, a plain step of one over the curvature needs no test.

    The weight of inference, and after it that of classification, grows from zero as `schedule` says;
    `notes` of the history hold both weights, the energy at them, its three relative errors and the
    steps.

    Parameters
    ----------
    schedule : Ramp or Approach
        How fast the weights grow to those of the problem.
    momentum : float
        The largest part of the last change of W and of H that is added to the next; a rise of the
        energy resets it to zero.
    max_halvings : int
        How often a step may be halved before its variable is left unchanged.

    References
    ----------
    Thom, Schweiger and Palm, Supervised matrix factorization with sparseness constraints and fast
    inference, IJCNN 2011.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> from conicnmf.families.autoencoders import SCFC, FastCodes, Ramp
    >>> V = np.random.default_rng(0).standard_normal((16, 60))
    >>> history = FastCodes(V, 4).solve(SCFC(Ramp(5)), stop=10).history.to_frame()
    >>> history["alpha_i"].tolist()[5:8]
    [0.4, 0.5, 0.5]
    """

    schedule: Schedule = field(default_factory=Ramp)
    momentum: Share = 0.95
    max_halvings: Count = 6

    solves: ClassVar[type[BaseProblem]] = FastCodes
    monotone: ClassVar[bool] = False
    states_objective: ClassVar[bool] = False
    default_stop: ClassVar[Stop] = MaxIter(500)

    def start(self, problem: FastCodes, context: Context) -> Memo:
        """Return the memo of the first sweep."""
        return Memo()

    def sweep(self, problem: FastCodes, factors: Factors, memo: Memo) -> Sweep[Memo]:
        """Move the codes, the encoder, the output and the filters once each."""
        infer, teach = self.schedule.shares(memo.count)
        weights = problem.weights(infer, teach)
        state = memo.state or State.at(problem, factors)
        steps = memo.steps or scfc_updates.first_steps(state)
        limits = self.momentum, self.max_halvings
        before, now = memo.before.get("B", state.B), {"B": state.B}
        state.change = memo.before.get("change", state.change)
        scfc_updates.move_codes(state, weights, steps["H"], self.momentum)
        if weights.infer or weights.teach:
            move_encoder(state, weights, steps, self.max_halvings)
        if weights.teach:
            scfc_updates.move_output(state, weights, steps, limits)
        scfc_updates.move_filters(state, weights, before, steps["W"], limits)
        notes = self._notes(problem, state, infer, teach, steps)
        memo = Memo(memo.count + 1, now | {"change": state.change}, steps, state)
        return Sweep(state.factors, memo, state.energy(problem.weights()), notes=notes)

    def _notes(
        self, view: FastCodes, state: State, infer: float, teach: float, steps: StepSizes
    ) -> dict[str, float]:
        return {
            "alpha_i": view.alpha_i * infer,
            "alpha_c": (view.alpha_c or 0.0) * teach,
            "energy": state.energy(view.weights(infer, teach)),
            "reconstruction": state.fit / view.size,
            "inference": state.gap / view.rank,
            "classification": state.miss / view.V.shape[1],
        } | {f"step_{name}": step_size.step for name, step_size in steps.items()}

    def pack(self, memo: Memo) -> dict[str, Array]:
        """Return the memo as arrays; what follows from the variables is left out."""
        return {"count": np.array([float(memo.count)])} | memo.before | pack_steps(memo.steps)

    def unpack(self, arrays: dict[str, Array], memo: Memo) -> Memo:
        """Return the memo that `pack` wrote."""
        before: dict[str, Array] = {n: arrays[n] for n in ("B", "change") if n in arrays}
        count = int(arrays["count"][0])
        return replace(memo, count=count, before=before, steps=unpack_steps(arrays))
