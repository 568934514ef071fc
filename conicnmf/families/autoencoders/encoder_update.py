"""The move of SCFC on its encoder, thresholds θ and slopes β: Gauss–Newton steps, filter by filter.

Apart from the teacher, a filter's θ and β have an error of their own. So a step that one filter
cannot take is shortened for it alone, and holds up no other.
"""

from __future__ import annotations

import numpy as np

from conicnmf.families.autoencoders.fast_codes import Weights
from conicnmf.families.autoencoders.scfc_state import State
from conicnmf.families.autoencoders.step_sizes import StepSizes
from conicnmf.kernels.encoder import step_encoder


def move_encoder(state: State, weights: Weights, steps: StepSizes, max_halvings: int) -> None:
    """Step on θ and on β; the energy at these weights falls or stays."""
    own = steps["theta"], steps["beta"]
    # Tried once: the next iteration is as good a place for a shorter step of all filters.
    tries = [step_size.tries(0.0, 1) for step_size in own]
    shares = np.array([next(pairs)[1] for pairs in tries])
    theta, beta = state.theta.copy(), state.beta.copy()
    rows = state.U, state.P, state.H, theta[:, 0], beta[:, 0], state.view.q
    taught = weights.infer, state.w_out[:, 0], state.blame(weights)
    gap = step_encoder(*rows, *taught, shares, max_halvings, state.spare)
    miss = state.missed(state.spare, state.w_out, state.theta_out)
    if weights.total(0.0, gap, miss - state.miss) <= 0:
        state.theta, state.beta, state.miss = theta, beta, miss
        state.gap += gap
        state.U, state.spare = state.spare, state.U
    else:
        for pairs in tries:
            next(pairs, None)
    for step_size in own:
        step_size.step = min(step_size.step, 1.0)
