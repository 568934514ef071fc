"""The moves of SCFC on H, W and the output. Each leaves the energy at its weights no higher."""

from __future__ import annotations

import numpy as np

from conicnmf.families.autoencoders.fast_codes import Weights
from conicnmf.families.autoencoders.point import Point
from conicnmf.families.autoencoders.step_sizes import StepSize, StepSizes
from conicnmf.families.autoencoders.transfer import raised, respond
from conicnmf.kernels.encoder import code_gradient, encoder_pull
from conicnmf.types import Array

Limits = tuple[float, int]
"""The largest momentum, and how often a step may be halved."""


def first_steps(point: Point) -> StepSizes:
    """Return steps of the size that the curvature of the reconstruction error allows."""
    size = point.view.size
    codes = float(np.linalg.norm(point.B, 2)) ** 2 or 1.0
    filters = float(np.linalg.norm(point.HH, 2)) or 1.0
    steps = {"H": StepSize(size / (2 * codes)), "W": StepSize(size / (2 * filters))}
    names = ("theta", "beta") if point.view.teacher is None else _SMALL
    return steps | {name: StepSize(0.5) for name in names}


_SMALL = ("theta", "beta", "w_out", "theta_out")


def move_codes(
    point: Point, weights: Weights, before: Array, step_size: StepSize, limits: Limits
) -> None:
    """Step on H."""
    gradient = np.matmul(point.B @ point.B.T, point.H, out=point.scratch)
    code_gradient(gradient, point.P, point.H, point.U, point.view.q, weights.fit, weights.infer)
    energy = point.energy(weights)
    shape, levels = point.view.code_shape, point.levels["H"]
    for momentum, step in step_size.tries(*limits):
        H = shape.advance(point.H, before, gradient, momentum, step, levels)
        HH = H @ H.T
        fit, gap = point.errors(point.B, H, HH, point.P, point.U)
        if weights.total(fit, gap, point.miss) <= energy:
            point.H, point.HH, point.fit, point.gap = H, HH, fit, gap
            return


def move_output(point: Point, weights: Weights, steps: StepSizes, limits: Limits) -> None:
    """Step on w_out and on θ_out, in units of the curvature of the plain squared error."""
    codes = raised(point.U, point.view.q, out=point.scratch)
    bend = np.asarray(codes @ codes.T, np.float64)
    bend.flat[:: len(bend) + 1] += 1e-6 * np.trace(bend) / len(bend) + np.finfo(float).tiny
    for name in ("w_out", "theta_out"):
        blame = point.blame(weights) / (2 * weights.teach)
        slope = np.linalg.solve(bend, codes @ blame)[:, None]
        for _, step in steps[name].tries(0.0, limits[1]):
            w_out, theta_out = point.w_out, point.theta_out
            if name == "w_out":
                w_out = (w_out - step * slope).astype(w_out.dtype)
            else:
                theta_out -= step * float(blame.mean(dtype=np.float64))
            miss = point.missed(point.U, w_out, theta_out)
            if miss <= point.miss:
                point.w_out, point.theta_out, point.miss = w_out, theta_out, miss
                break


def filter_gradient(point: Point, weights: Weights) -> Array:
    """Return the gradient in B = Wᵀ; the scratch array is used up."""
    D, small = point.scratch, (point.view.q, weights.infer, weights.fit, point.w_out[:, 0])
    # One product with V serves both errors: the residual's part is linear in H.
    encoder_pull(point.U, point.H, point.beta[:, 0], *small, point.blame(weights), D)
    gradient: Array = D @ point.view.V.T
    gradient += gradient.dtype.type(2 * weights.fit) * (point.HH @ point.B)
    return gradient


def move_filters(
    point: Point, weights: Weights, before: Array, step_size: StepSize, limits: Limits
) -> None:
    """Step on W."""
    gradient = filter_gradient(point, weights)
    energy = point.energy(weights)
    shape, levels = point.view.filter_shape, point.levels["B"]
    for momentum, step in step_size.tries(*limits):
        B = shape.advance(point.B, before, gradient, momentum, step, levels)
        P = np.matmul(B, point.view.V, out=point.spare)
        U = respond(P, point.theta, point.beta, out=point.scratch)
        fit, gap = point.errors(B, point.H, point.HH, P, U)
        miss = point.missed(U, point.w_out, point.theta_out)
        if weights.total(fit, gap, miss) <= energy:
            point.spare, point.scratch = point.P, point.U
            point.B, point.P, point.U = B, P, U
            point.fit, point.gap, point.miss = fit, gap, miss
            return
