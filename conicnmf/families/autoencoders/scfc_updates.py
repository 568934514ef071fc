"""The moves of SCFC on H, W and the output. Each leaves the energy at its weights no higher."""

from __future__ import annotations

import numpy as np

from conicnmf.families.autoencoders.fast_codes import Weights
from conicnmf.families.autoencoders.inputs import responses
from conicnmf.families.autoencoders.scfc_state import State, overlaps
from conicnmf.families.autoencoders.step_sizes import StepSize, StepSizes
from conicnmf.families.autoencoders.transfer import raised
from conicnmf.kernels.code_steps import code_changes, step_codes
from conicnmf.kernels.encoder import encoder_pull, respond_and_compare
from conicnmf.types import Array

Limits = tuple[float, int]
"""The largest momentum, and how often a step may be halved."""


def first_steps(state: State) -> StepSizes:
    """Return steps of the size that the curvature of the reconstruction error allows.

    That of H is set again in every iteration.
    """
    size = state.view.size
    filters = float(np.linalg.norm(state.HH, 2)) or 1.0
    steps = {"H": StepSize(0.0), "W": StepSize(size / (2 * filters))}
    names = ("theta", "beta") if state.view.teacher is None else _SMALL
    return steps | {name: StepSize(0.5) for name in names}


_SMALL = ("theta", "beta", "w_out", "theta_out")


def move_codes(state: State, weights: Weights, step_size: StepSize, momentum: float) -> None:
    """Step on H: with momentum where that lowers the energy, else plainly.

    Without momentum a step of 1/L needs no test: a quadratic of curvature L lies above the energy, and
    the projection finds its least value on the constraint set.
    """
    C = state.overlaps
    safe = 0.5 / (weights.fit * float(np.linalg.eigvalsh(C)[-1]) + weights.infer)
    product = np.matmul(C.astype(state.H.dtype), state.H, out=state.scratch)
    H = state.room_for_codes()
    for pull, step in step_size.bold_then_safe(momentum, safe):
        sums = _step_to(H, state, weights, product, pull, step)
        square = float(np.vdot(C, state.change @ state.change.T))
        fit, gap = float(2 * sums[0] + square), float(2 * sums[1] + sums[2])
        if step == safe or weights.total(fit, gap, 0.0) <= 0:
            state.H, state.old_codes = H, state.H
            state.HH = H @ H.T
            state.fit, state.gap = state.fit + fit, state.gap + gap
            return


def _step_to(
    H: Array, state: State, weights: Weights, product: Array, momentum: float, step: float
) -> Array:
    """Write codes after a step to H; return the sums of `step_codes`. The state gets the change."""
    shape, q = state.view.code_constraint, state.view.q
    failed = np.zeros(len(H), dtype=bool)
    pulls = np.array([2 * weights.fit, 2 * weights.infer])
    rows = product, state.P, state.U, state.H
    settings = q, pulls, momentum, step, shape.ratio or 0.0, shape.signed, state.levels["H"]
    sums: Array = step_codes(*rows, state.change, *settings, H, failed)
    if failed.any():
        H[failed] = shape.project(H[failed])
        change = np.empty_like(H[failed])
        code_changes(*(X[failed] for X in (*rows, H)), q, change, sums)
        state.change[failed] = change
    return sums


def move_output(state: State, weights: Weights, steps: StepSizes, limits: Limits) -> None:
    """Step on w_out and on θ_out, in units of the curvature of the plain squared error."""
    codes = raised(state.U, state.view.q, out=state.scratch)
    bend = np.asarray(codes @ codes.T, np.float64)
    bend.flat[:: len(bend) + 1] += 1e-6 * np.trace(bend) / len(bend) + np.finfo(float).tiny
    for name in ("w_out", "theta_out"):
        blame = state.blame(weights) / (2 * weights.teach)
        slope = np.linalg.solve(bend, codes @ blame)[:, None]
        for _, step in steps[name].tries(0.0, limits[1]):
            w_out, theta_out = state.w_out, state.theta_out
            if name == "w_out":
                w_out = (w_out - step * slope).astype(w_out.dtype)
            else:
                theta_out -= step * float(blame.mean(dtype=np.float64))
            miss = state.missed(state.U, w_out, theta_out)
            if miss <= state.miss:
                state.w_out, state.theta_out, state.miss = w_out, theta_out, miss
                break


def filter_gradient(state: State, weights: Weights) -> Array:
    """Return the gradient in B = Wᵀ; the scratch array is used up."""
    D, small = state.scratch, (state.view.q, weights.infer, weights.fit, state.w_out[:, 0])
    # One product with V serves both errors: the residual's part is linear in H.
    encoder_pull(state.U, state.H, state.beta[:, 0], *small, state.blame(weights), D)
    gradient: Array = np.ascontiguousarray(D @ state.view.V.T)
    gradient += gradient.dtype.type(2 * weights.fit) * (state.HH @ state.B)
    return gradient


def move_filters(
    state: State, weights: Weights, before: Array, step_size: StepSize, limits: Limits
) -> None:
    """Step on W."""
    gradient = filter_gradient(state, weights)
    shape, levels = state.view.filter_constraint, state.levels["B"]
    for momentum, step in step_size.tries(*limits):
        B = shape.advance(state.B, before, gradient, momentum, step, levels)
        C = overlaps(B)
        P = responses(B, state.view.V, state.spare)
        small = state.theta[:, 0], state.beta[:, 0], state.view.q
        gap, dot = respond_and_compare(P, state.P, state.U, state.H, *small, state.scratch)
        fit = float(np.vdot(C - state.overlaps, state.HH)) - 2 * dot
        miss = state.missed(state.scratch, state.w_out, state.theta_out)
        if weights.total(fit, gap, miss - state.miss) <= 0:
            state.B, state.overlaps, state.miss = B, C, miss
            state.fit, state.gap = state.fit + fit, state.gap + gap
            state.P, state.spare = P, state.P
            state.U, state.scratch = state.scratch, state.U
            return
