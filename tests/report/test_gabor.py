"""Gabor functions are found again from their pixels."""

from __future__ import annotations

import numpy as np
import pytest

from conicnmf.errors import InputError
from conicnmf.report import fit_gabor, plot_gabor


def gabor(shape, row, column, angle, length, width, frequency, phase):
    y, x = np.mgrid[: shape[0], : shape[1]]
    y, x = y - row, x - column
    along = x * np.cos(angle) + y * np.sin(angle)
    across = y * np.cos(angle) - x * np.sin(angle)
    envelope = np.exp(-((along / length) ** 2 + (across / width) ** 2) / 2)
    return (envelope * np.cos(2 * np.pi * frequency * along + phase)).ravel()


def test_random_gabor_functions_are_recovered_with_any_scale_and_offset():
    rng = np.random.default_rng(0)
    filters = [
        gabor((14, 14), *rng.uniform(4, 9, 2), rng.uniform(0, 3), 2, 3, rng.uniform(0.1, 0.25), k)
        * rng.uniform(0.1, 50)
        + rng.uniform(-1, 1)
        for k in range(6)
    ]
    fits = fit_gabor(np.stack(filters, axis=1), (14, 14))
    assert fits.correlation.min() > 0.999
    assert np.allclose(fits.fits, fits.filters, atol=0.03 * np.abs(fits.filters).max())


def test_angle_and_frequency_are_those_of_the_wave():
    fits = fit_gabor(gabor((16, 16), 7, 8, 0.6, 2.5, 3, 0.2, 0.3)[:, None], (16, 16))
    found = fits.table.iloc[0]
    assert abs(found["frequency"]) == pytest.approx(0.2, abs=0.01)
    assert np.tan(found["angle"]) == pytest.approx(np.tan(0.6), abs=0.02)


def test_noise_is_no_gabor_function():
    noise = np.random.default_rng(0).standard_normal((196, 4))
    assert fit_gabor(noise, (14, 14)).correlation.max() < 0.7


def test_zero_filter_has_no_correlation():
    assert fit_gabor(np.zeros((16, 1)), (4, 4)).correlation.item() == 0


def test_wrong_image_shape_is_refused():
    with pytest.raises(InputError, match="5 × 5 pixels"):
        fit_gabor(np.ones((16, 1)), (5, 5))


def test_picture_shows_every_pair_above_its_correlation():
    fits = fit_gabor(np.random.default_rng(0).random((36, 3)), (6, 6))
    figure = plot_gabor(fits, columns=2)
    (axes,) = figure.axes
    best_first = sorted(fits.correlation, reverse=True)
    assert [text.get_text() for text in axes.texts] == [f"ρ = {rho:.3f}" for rho in best_first]
    assert len(axes.images) == 1
    height, width = axes.images[0].get_array().shape[:2]
    assert width > 2 * 13
    assert height > 2 * 6
