"""The moves of SCFC on H, W and the output. Each leaves the energy at its weights no higher."""

from __future__ import annotations

import numpy as np

from conicnmf.families.autoencoders.fast_codes import Weights
from conicnmf.families.autoencoders.point import Point, overlaps
from conicnmf.families.autoencoders.step_sizes import StepSize, StepSizes
from conicnmf.families.autoencoders.transfer import raised
from conicnmf.kernels.code_steps import code_changes, step_codes
from conicnmf.kernels.encoder import encoder_pull, respond_and_compare
from conicnmf.types import Array

Limits = tuple[float, int]
"""The largest momentum, and how often a step may be halved."""


def first_steps(point: Point) -> StepSizes:
    """Return steps of the size that the curvature of the reconstruction error allows.

    That of H is set again in every iteration.
    """
    size = point.view.size
    filters = float(np.linalg.norm(point.HH, 2)) or 1.0
    steps = {"H": StepSize(0.0), "W": StepSize(size / (2 * filters))}
    names = ("theta", "beta") if point.view.teacher is None else _SMALL
    return steps | {name: StepSize(0.5) for name in names}


_SMALL = ("theta", "beta", "w_out", "theta_out")


def move_codes(point: Point, weights: Weights, step_size: StepSize, momentum: float) -> None:
    """Step on H: with momentum where that lowers the energy, else plainly.

    Without momentum a step of 1/L needs no test: a quadratic of curvature L lies above the energy, and
    the projection finds its least value on the constraint set.
    """
    C = point.overlaps
    safe = 0.5 / (weights.fit * float(np.linalg.eigvalsh(C)[-1]) + weights.infer)
    product = np.matmul(C.astype(point.H.dtype), point.H, out=point.scratch)
    for pull, step in step_size.bold_then_safe(momentum, safe):
        H, sums = _stepped(point, weights, product, pull, step)
        square = float(np.vdot(C, point.change @ point.change.T))
        fit, gap = float(2 * sums[0] + square), float(2 * sums[1] + sums[2])
        if step == safe or weights.total(fit, gap, 0.0) <= 0:
            point.H, point.HH = H, H @ H.T
            point.fit, point.gap = point.fit + fit, point.gap + gap
            return


def _stepped(
    point: Point, weights: Weights, product: Array, momentum: float, step: float
) -> tuple[Array, Array]:
    """Return codes after a step and the sums that `step_codes` has; the point gets the change."""
    shape, q = point.view.code_shape, point.view.q
    H, failed = np.empty_like(point.H), np.zeros(len(point.H), dtype=bool)
    pulls = np.array([2 * weights.fit, 2 * weights.infer])
    rows = product, point.P, point.U, point.H
    settings = q, pulls, momentum, step, shape.ratio or 0.0, shape.signed, point.levels["H"]
    sums = step_codes(*rows, point.change, *settings, H, failed)
    if failed.any():
        H[failed] = shape.project(H[failed])
        change = np.empty_like(H[failed])
        code_changes(*(X[failed] for X in (*rows, H)), q, change, sums)
        point.change[failed] = change
    return H, sums


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
    shape, levels = point.view.filter_shape, point.levels["B"]
    for momentum, step in step_size.tries(*limits):
        B = shape.advance(point.B, before, gradient, momentum, step, levels)
        C = overlaps(B)
        P = np.matmul(B, point.view.V, out=point.spare)
        small = point.theta[:, 0], point.beta[:, 0], point.view.q
        gap, dot = respond_and_compare(P, point.P, point.U, point.H, *small, point.scratch)
        fit = float(np.vdot(C - point.overlaps, point.HH)) - 2 * dot
        miss = point.missed(point.scratch, point.w_out, point.theta_out)
        if weights.total(fit, gap, miss - point.miss) <= 0:
            point.B, point.overlaps, point.miss = B, C, miss
            point.fit, point.gap = point.fit + fit, point.gap + gap
            point.P, point.spare = P, point.P
            point.U, point.scratch = point.scratch, point.U
            return
