from __future__ import annotations

import io
import sys

import matplotlib as mpl
import numpy as np
import pytest
from fakes import make_comparison, make_result
from matplotlib.image import imread

import conicnmf as cn
from conicnmf.geometry.hoyer import hoyer_sparseness
from conicnmf.report import (
    plot_basis,
    plot_convergence,
    plot_data_profile,
    plot_performance,
    plot_profile,
    plot_sparseness,
)
from conicnmf.report.style import figure_bytes, series


def pixels(figure):
    image = imread(io.BytesIO(figure_bytes(figure, dpi=60)))
    assert image.ndim == 3
    assert np.ptp(image) > 0.2  # something is drawn
    return image


def curves(axes):
    """The labeled lines of a panel."""
    lines = [line for line in axes.get_lines() if not line.get_label().startswith("_")]
    return {line.get_label(): line.get_xydata() for line in lines}


@pytest.mark.parametrize("shape", [None, (3, 4)])
@pytest.mark.parametrize("sign", [1, -1])
def test_basis_renders_with_any_number_of_components(shape, sign):
    rng = np.random.default_rng(0)
    for rank in (1, 2, 7, 45):
        pixels(plot_basis(sign * rng.random((12, rank)), image_shape=shape))


def test_basis_renders_long_profiles_without_losing_their_peaks():
    W = np.zeros((20_011, 2))
    W[17_003, 0], W[5, 1] = 1.0, -1.0
    figure = plot_basis(W)
    drawn = [line.get_ydata() for line in figure.axes[0].get_lines()]
    assert np.ptp(drawn[0]) == pytest.approx(np.ptp(drawn[1]))
    assert np.ptp(drawn[0]) > 0.4
    assert np.argmax(drawn[0]) / len(drawn[0]) == pytest.approx(17_003 / 20_011, abs=0.01)


def test_each_component_has_its_own_scale():
    W = np.array([[1e-9, 1e9], [5e-10, 5e8], [0, 0], [0, 0]])
    image = plot_basis(W, image_shape=(2, 2)).axes[0].get_images()[0].get_array()
    left, right = image[:, :2], image[:, -2:]
    np.testing.assert_allclose(left, right)
    assert left[0, 0].sum() < left[1, 1].sum()  # much is dark, nothing is light


def test_zero_is_neutral_in_signed_images():
    W = np.array([[1.0, 0.1], [-1.0, 0.0], [0.0, -0.1], [0.0, 0.0]])
    image = plot_basis(W, image_shape=(2, 2)).axes[0].get_images()[0].get_array()
    red, blue, zero = image[0, 0, :3], image[0, 1, :3], image[1, 1, :3]
    assert red[0] > red[2]
    assert blue[2] > blue[0]
    assert np.ptp(zero) < 0.02


def test_columns_sets_the_number_of_tiles_in_a_row():
    figure = plot_basis(np.eye(4, 6), image_shape=(2, 2), columns=2)
    assert [text.get_text() for text in figure.axes[0].get_yticklabels()] == ["1", "3", "5"]


@pytest.mark.parametrize(
    ("basis", "options", "message"),
    [
        (np.ones(3), {}, "features × rank"),
        ([["a"]], {}, "numbers"),
        ([[np.nan]], {}, "finite"),
        (np.ones((6, 2)), {"image_shape": (2, 2)}, "pixels"),
        (np.ones((6, 2)), {"columns": 0}, ">= 1 or None, got columns=0"),
        (np.ones((6, 2)), {"image_shape": (2, 3), "captions": ["a"]}, "each of the 2 components"),
    ],
)
def test_wrong_bases_are_told(basis, options, message):
    with pytest.raises(cn.InputError, match=message):
        plot_basis(basis, **options)


def test_convergence_shows_the_gap_to_the_best_of_all_runs():
    fast, slow = make_result([8.0, 4.0, 2.0]), make_result([8.0, 6.0, 3.0], solver="Slow(a=1)")
    figure = plot_convergence([fast, slow], against="iterations")
    (axes,) = figure.axes
    np.testing.assert_allclose(curves(axes)["Slow"], [[0, 3.0], [1, 2.0], [2, 0.5]])
    assert curves(axes)["HALS"][-1, 1] == pytest.approx(1e-6)
    pixels(figure)


def test_convergence_against_seconds_uses_the_clock():
    result = make_result([3.0, 2.0, 1.0], seconds=[0.0, 5.0, 9.0])
    (axes,) = plot_convergence({"mine": result}).axes
    np.testing.assert_allclose(curves(axes)["mine"][:, 0], [0, 5, 9])


def test_violations_get_a_panel_only_when_there_are_some():
    clean = make_result([3.0, 2.0])
    violated = make_result([3.0, 2.0, 2.5], violations=[0.3, 0.1, 0.0])
    assert len(plot_convergence(clean).axes) == 1
    figure = plot_convergence([clean, violated])
    assert [axes.get_ylabel() for axes in figure.axes][1] == "violation"
    pixels(figure)


def test_an_infeasible_low_does_not_count_as_best():
    result = make_result([4.0, 1.0, 2.0], violations=[0, 0.5, 0])
    (axes, _) = plot_convergence(result, "iterations").axes
    assert curves(axes)["HALS"][0, 1] == pytest.approx(1.0)  # (4 - 2) / 2


def test_many_runs_share_one_legend_entry_for_each_solver(comparison):
    keyed = plot_convergence(comparison.results)
    texts = {text.get_text() for text in keyed.legends[0].get_texts()}
    assert texts == {f"{p}, {s}" for p in ("plain", "sparse") for s in ("HALS", "TangentPlane")}


@pytest.mark.parametrize("objectives", [[0.0], [5.0, 0.0], [-1.0, -2.0], [1e300, 1e-300]])
def test_odd_objectives_still_make_a_picture(objectives):
    pixels(plot_convergence(make_result(objectives)))


def test_convergence_refuses_what_it_cannot_draw():
    with pytest.raises(cn.InputError, match="needs results, got"):
        plot_convergence([])
    with pytest.raises(cn.InputError, match="iterations"):
        plot_convergence(make_result([1.0]), against="steps")


def test_sparseness_counts_every_piece():
    W = np.random.default_rng(1).random((12, 3))
    W[:, 1] = 0
    result = make_result([1.0], W=W)
    figure = plot_sparseness(result)
    counts = [sum(bar.get_height() for bar in axes.patches) for axes in figure.axes]
    assert counts == [2, 3, 5]
    assert "1 zero" in figure.axes[0].get_title(loc="left")
    middle = figure.axes[1].get_lines()[0].get_xdata()[0]
    assert middle == pytest.approx(np.median(hoyer_sparseness(result.H)))
    pixels(figure)


def test_profile_ends_at_the_median_over_seeds(comparison):
    figure = plot_profile(comparison)
    assert [axes.get_title(loc="left") for axes in figure.axes] == ["plain", "sparse"]
    drawn = curves(figure.axes[0])
    # Seeds end at 2.00 and 2.01, the best of all is 2; TangentPlane ends at 2.2 twice.
    assert drawn["HALS"][-1, 1] == pytest.approx(np.median([1e-6, 0.005]))
    assert drawn["TangentPlane"][-1, 1] == pytest.approx(0.1)
    assert drawn["HALS"][-1, 0] <= 0.2 < drawn["TangentPlane"][-1, 0]
    pixels(figure)


def test_performance_on_the_objective_counts_runs_within_the_gap(comparison):
    (axes,) = plot_performance(comparison, "objective").axes
    drawn = curves(axes)
    assert drawn["HALS"][1, 1] > 0  # at the left edge already: HALS is the best for each seed
    slow = drawn["TangentPlane"]
    assert slow[slow[:, 0] < 0.09, 1].max() == 0
    assert slow[-1, 1] == 1


def test_performance_on_time_counts_only_runs_that_reach_the_target(comparison):
    strict = curves(plot_performance(comparison, "seconds").axes[0])
    assert strict["HALS"][-1, 1] == 1
    assert strict["TangentPlane"][-1, 1] == 0  # 2.2 is not within one percent of 2
    loose = curves(plot_performance(comparison, "seconds", tolerance=0.1).axes[0])
    ratios = loose["TangentPlane"][1:-1, 0]
    np.testing.assert_allclose(ratios, 10.0)  # 2 s against 0.2 s
    assert "Multiplicative" not in loose  # it fits nothing that was run


def test_data_profiles_count_what_is_solved_by_when(comparison):
    times = curves(plot_data_profile(comparison, tolerance=0.1).axes[0])
    np.testing.assert_allclose(times["HALS"][1:-1, 0], 0.2)
    np.testing.assert_allclose(times["TangentPlane"][1:-1, 0], 2.0)
    rounds = curves(plot_data_profile(comparison, "iterations").axes[0])
    np.testing.assert_allclose(rounds["HALS"][1:-1, 0], 2)
    assert rounds["HALS"][-1, 1] == 1
    assert rounds["TangentPlane"][-1, 1] == 0
    with pytest.raises(cn.InputError, match="against"):
        plot_data_profile(comparison, "money")


def test_failed_runs_lower_the_profile():
    failed = make_result([8.0, 1.0], solver="Bad()", status=cn.Status.INFEASIBLE)
    runs = {("p", "HALS", 0): make_result([8.0, 2.0]), ("p", "Bad", 0): failed}
    drawn = curves(plot_performance(make_comparison(runs), "objective").axes[0])
    assert drawn["Bad"][-1, 1] == 0
    assert drawn["HALS"][-1, 1] == 1


def test_profiles_refuse_an_empty_comparison():
    empty = make_comparison({}, [("p", "HALS", "no")])
    for plot in (plot_profile, plot_performance, plot_data_profile):
        with pytest.raises(cn.InputError, match="at least one run"):
            plot(empty)


def test_real_comparisons_render(measured):
    for figure in (
        plot_profile(measured),
        plot_performance(measured),
        plot_performance(measured, "objective"),
        plot_convergence(measured.results),
    ):
        pixels(figure)


def test_figures_leave_no_trace_in_matplotlib(comparison):
    before = dict(mpl.rcParams)
    plot_profile(comparison)
    figure_bytes(plot_basis(np.eye(4)), "svg")
    assert dict(mpl.rcParams) == before
    if "matplotlib.pyplot" in sys.modules:
        assert not sys.modules["matplotlib.pyplot"].get_fignums()


def test_vector_files_are_the_same_each_time_and_change_with_the_night():
    first, second = (figure_bytes(plot_basis(np.eye(4)), "svg") for _ in range(2))
    assert first == second
    assert first.startswith(b"<svg ")
    assert b"prefers-color-scheme:dark" in first
    assert b"var(--c0)" in first
    with pytest.raises(cn.InputError, match="png"):
        figure_bytes(plot_basis(np.eye(4)), "gif")


def test_no_two_series_look_alike():
    looks = series(map(str, range(28)))
    assert len({tuple(look.values()) for look in looks.values()}) == 28


def test_a_notebook_shows_a_picture_without_pyplot():
    figure = plot_basis(np.eye(4), image_shape=(2, 2))
    assert figure._repr_png_()[1:4] == b"PNG"
    assert repr(figure).startswith("<Figure size")
