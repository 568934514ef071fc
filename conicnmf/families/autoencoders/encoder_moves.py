"""The move of SCFC on its encoder, thresholds θ and slopes β: Gauss–Newton steps, filter by filter.

Apart from the teacher, a filter's θ and β have an error of their own. So a step that one filter
cannot take is shortened for it alone, and holds up no other.
"""

from __future__ import annotations

import numpy as np

from conicnmf.families.autoencoders.fast_codes import Weights
from conicnmf.families.autoencoders.point import Point
from conicnmf.families.autoencoders.step_sizes import StepSizes
from conicnmf.kernels.encoder import step_encoder


def move_encoder(point: Point, weights: Weights, steps: StepSizes, max_halvings: int) -> None:
    """Step on θ and on β; the energy at these weights falls or stays."""
    own = steps["theta"], steps["beta"]
    # Tried once: the next iteration is as good a place for a shorter step of all filters.
    tries = [step_size.tries(0.0, 1) for step_size in own]
    shares = np.array([next(pairs)[1] for pairs in tries])
    theta, beta = point.theta.copy(), point.beta.copy()
    rows = point.U, point.P, point.H, theta[:, 0], beta[:, 0], point.view.q
    taught = weights.infer, point.w_out[:, 0], point.blame(weights)
    gap = step_encoder(*rows, *taught, shares, max_halvings, point.spare)
    miss = point.missed(point.spare, point.w_out, point.theta_out)
    if weights.total(0.0, gap, miss - point.miss) <= 0:
        point.theta, point.beta, point.miss = theta, beta, miss
        point.gap += gap
        point.U, point.spare = point.spare, point.U
    else:
        for pairs in tries:
            next(pairs, None)
    for step_size in own:
        step_size.step = min(step_size.step, 1.0)
