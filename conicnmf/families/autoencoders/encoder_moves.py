"""The move of SCFC on its encoder, thresholds θ and slopes β: Gauss–Newton steps, filter by filter.

Apart from the teacher, a filter's θ and β have an error of their own. So a step that one filter
cannot take is shortened for it alone, and holds up no other.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np

from conicnmf.families.autoencoders.fast_codes import Weights, matched_slopes
from conicnmf.families.autoencoders.point import Point
from conicnmf.families.autoencoders.step_sizes import StepSizes
from conicnmf.families.autoencoders.transfer import respond
from conicnmf.kernels.encoder import encoder_slopes, row_errors
from conicnmf.types import Array


def move_encoder(point: Point, weights: Weights, steps: StepSizes, max_halvings: int) -> None:
    """Step on θ and on β; the energy at these weights falls or stays."""
    own = steps["theta"], steps["beta"]
    # Tried once: the next iteration is as good a place for a shorter step of all filters.
    tries = [step_size.tries(0.0, 1) for step_size in own]
    blame = point.blame(weights)
    slopes = encoder_derivatives(point, weights, blame)
    change = newton_steps(slopes) * [next(pairs)[1] for pairs in tries]
    theta, beta, gap = _step_each(point, weights, blame, change, slopes[:, 5:], max_halvings)
    miss = point.missed(point.spare, point.w_out, point.theta_out)
    if weights.total(point.fit, gap, miss) <= point.energy(weights):
        point.theta, point.beta, point.gap, point.miss = theta, beta, gap, miss
        point.U, point.spare = point.spare, point.U
    else:
        for pairs in tries:
            next(pairs, None)
    for step_size in own:
        step_size.step = min(step_size.step, 1.0)


def newton_steps(slopes: Array) -> Array:
    """Return the Gauss–Newton steps of θ and β, one row a filter."""
    g0, g1, c0, c1, across = slopes[:, :5].T
    # A little more curvature keeps filters sane whose responses are all alike.
    det = c0 * c1 * (1 + 1e-6) - across * across
    steps = np.stack([c1 * g0 - across * g1, c0 * g1 - across * g0], axis=1)
    return np.asarray(steps / np.where(det > 0, det, np.inf)[:, None])


def encoder_derivatives(point: Point, weights: Weights, blame: Array) -> Array:
    """Return derivatives and curvatures in θ and β, and the errors there, one row a filter."""
    slopes = np.empty((point.view.rank, 7))
    small = point.theta[:, 0], point.beta[:, 0], point.view.q, weights.infer, point.w_out[:, 0]
    encoder_slopes(point.U, point.P, point.H, *small, blame, slopes)
    return slopes


def _step_each(
    point: Point,
    weights: Weights,
    blame: Array,
    change: Array,
    errors: Array,
    max_halvings: int,
) -> tuple[Array, Array, float]:
    """Return θ, β and the squared gap after a step of each filter; the spare array becomes U.

    `errors` has ‖h − u^q‖² and ⟨δ, u^q⟩ before the step, one row a filter.
    """
    theta, beta, gap, q = point.theta.copy(), point.beta.copy(), 0.0, point.view.q
    for j, (u, h) in enumerate(zip(point.U, point.H, strict=True)):
        before, pull = errors[j]
        allowed = weights.infer * before + point.w_out[j, 0] * pull
        row = slice(j, j + 1)
        for t, b in _proposals(point, j, change[j], before, max_halvings):
            theta[j], beta[j] = t, b
            respond(point.P[row], theta[row], beta[row], out=point.spare[row])
            after, pull = row_errors(point.spare[j], h, q, blame)
            if weights.infer * after + point.w_out[j, 0] * pull <= allowed:
                gap += after
                break
        else:
            theta[j], beta[j], point.spare[j] = point.theta[j], point.beta[j], u
            gap += before
    return theta, beta, gap


def _proposals(
    point: Point, j: int, change: Array, gap: float, max_halvings: int
) -> Iterator[tuple[Any, Any]]:
    """Yield values of θ and β of a filter, ever nearer to those it has."""
    p, theta, beta = point.P[j], point.theta[j, 0], point.beta[j, 0]
    kind = point.theta.dtype.type
    # A threshold beyond all responses makes a constant of the code.
    reach = max(p.max(), -p.min())
    if gap > 1 or abs(theta) > reach:
        # No codes at all would be nearer, or the slopes of f are lost: start again.
        yield kind(0), matched_slopes(p[None], point.view.q)[0, 0]
    for halvings in range(max_halvings):
        t, b = change / 2**halvings
        yield kind(np.clip(theta - t, -reach, reach)), kind(beta - min(b, beta / 2))
