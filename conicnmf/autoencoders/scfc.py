"""Sparse coding for fast classification: alternating steps on filters, codes and encoder."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, ClassVar

import numpy as np

from conicnmf._types import Array
from conicnmf.autoencoders import moves
from conicnmf.autoencoders.encoder_moves import move_encoder
from conicnmf.autoencoders.fast_codes import FastCodes
from conicnmf.autoencoders.gears import Gears, pack_gears, unpack_gears
from conicnmf.autoencoders.point import Point
from conicnmf.autoencoders.schedules import Ramp, Schedule
from conicnmf.blocks import Factors
from conicnmf.solvers.base import Context, Solver, Sweep
from conicnmf.statement import known_solver
from conicnmf.stop import MaxIter, Stop


def with_encoder(view: Any) -> Iterator[str]:
    """Yield a reason unless the problem has the encoder that SCFC learns."""
    if not isinstance(view, FastCodes):
        yield "it finds codes with their encoder (FastCodes)"


@dataclass(frozen=True, eq=False)
class Memo:
    """What SCFC remembers: iterations made, the variables before the last, steps, and the point."""

    count: int = 0
    before: dict[str, Array] = field(default_factory=dict)
    gears: Gears = field(default_factory=dict)
    point: Point | None = None


@known_solver
@dataclass(frozen=True)
class SCFC(Solver):
    """Gradient steps on one variable after the other; W and H are projected after each.

    Every variable has a step size of its own: steps shrink until the energy does not rise, and grow
    after a success. So at fixed weights it never rises. The weight of inference, and after it that of
    classification, grows from zero as `schedule` says; `notes` of the history hold both weights, the
    energy at them, its three relative errors and the steps.

    Parameters
    ----------
    schedule : Ramp or Approach
        How fast the weights grow to those of the problem.
    momentum : float
        The largest part of the last change of W and of H that is added to the next; a rise of the
        energy resets it to zero.
    max_halvings : int
        How often a step may be halved before its variable is left as it is.

    References
    ----------
    Thom, Schweiger and Palm, Supervised matrix factorization with sparseness constraints and fast
    inference, IJCNN 2011.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> from conicnmf.autoencoders import SCFC, FastCodes, Ramp
    >>> V = np.random.default_rng(0).standard_normal((16, 60))
    >>> history = FastCodes(V, 4).solve(SCFC(Ramp(5)), stop=10).history.to_frame()
    >>> history["alpha_i"].tolist()[5:8]
    [0.4, 0.5, 0.5]
    """

    schedule: Schedule = field(default_factory=Ramp)
    momentum: float = 0.95
    max_halvings: int = 6

    solves: ClassVar[str] = "autoencoder"
    needs: ClassVar = (with_encoder,)
    monotone: ClassVar[bool] = False
    states_objective: ClassVar[bool] = False
    default_stop: ClassVar[Stop] = MaxIter(500)

    def start(self, view: FastCodes, context: Context) -> Memo:  # type: ignore[override]
        """Return the memo of the first sweep."""
        return Memo()

    def sweep(self, view: FastCodes, factors: Factors, memo: Memo) -> Sweep:  # type: ignore[override]
        """Move the codes, the encoder, the output and the filters once each."""
        infer, teach = self.schedule.shares(memo.count)
        weights = view.weights(infer, teach)
        point = memo.point or Point.at(view, factors)
        gears = memo.gears or moves.first_gears(point)
        limits = self.momentum, self.max_halvings
        before = memo.before or {"B": point.B, "H": point.H}
        now = {"B": point.B, "H": point.H}
        moves.move_codes(point, weights, before["H"], gears["H"], limits)
        if weights.infer or weights.teach:
            move_encoder(point, weights, gears, self.max_halvings)
        if weights.teach:
            moves.move_output(point, weights, gears, limits)
        moves.move_filters(point, weights, before["B"], gears["W"], limits)
        notes = self._notes(view, point, infer, teach, gears)
        memo = Memo(memo.count + 1, now, gears, point)
        return Sweep(point.factors, memo, point.energy(view.weights()), notes=notes)

    def _notes(
        self, view: FastCodes, point: Point, infer: float, teach: float, gears: Gears
    ) -> dict[str, float]:
        return {
            "alpha_i": view.alpha_i * infer,
            "alpha_c": (view.alpha_c or 0.0) * teach,
            "energy": point.energy(view.weights(infer, teach)),
            "reconstruction": point.fit / view.size,
            "inference": point.gap / view.n_filters,
            "classification": point.miss / view.V.shape[1],
        } | {f"step_{name}": gear.step for name, gear in gears.items()}

    def pack(self, memo: Memo) -> dict[str, Array]:
        """Return the memo as arrays; what follows from the variables is left out."""
        return {"count": np.array([float(memo.count)])} | memo.before | pack_gears(memo.gears)

    def unpack(self, arrays: dict[str, Array], memo: Memo) -> Memo:
        """Return the memo that `pack` wrote."""
        before: dict[str, Array] = {n: arrays[n] for n in ("B", "H") if n in arrays}
        count = int(arrays["count"][0])
        return replace(memo, count=count, before=before, gears=unpack_gears(arrays))
