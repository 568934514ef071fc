"""The second route to every gradient: central differences."""

from __future__ import annotations

import numpy as np


def slope(value, X, direction, h=1e-5):
    """Return the derivative of value(X) along a direction."""
    return (value(X + h * direction) - value(X - h * direction)) / (2 * h)


def agrees(value, X, gradient, rng, rtol=1e-5):
    """Compare a gradient with differences along three random directions."""
    for _ in range(3):
        direction = rng.standard_normal(X.shape)
        expected = slope(value, X, direction)
        assert np.isclose(float(np.sum(gradient * direction)), expected, rtol=rtol, atol=1e-9)
