"""Every study and report works on coupled views, offsets and three factors, or says why not."""

import numpy as np
import pandas as pd
import pytest

import conicnmf as cn
from conicnmf.report import html_report, plot_basis, plot_consensus, plot_path, plot_sparseness

RNG = np.random.default_rng(0)
W, X, H = RNG.random((12, 3)) ** 3, RNG.random((8, 3)) ** 3, RNG.random((3, 15)) ** 3
V, U = W @ H + 0.01 * RNG.random((12, 15)), X @ H + 0.01 * RNG.random((8, 15))
PLUS = cn.NonNegative()


def coupled(weight=0.0, **terms):
    own = [PLUS, cn.L1(weight)] if weight else None
    return cn.factorize({"a": V, "b": U}, 3, H=own, **terms)


def offset(weight=0.0, **terms):
    own = [PLUS, cn.L1(weight)] if weight else None
    return cn.factorize(V + 1, 3, offset="feature", H=own, **terms)


def three(weight=0.0, **terms):
    own = [PLUS, cn.L1(weight)] if weight else None
    return cn.factorize(V, (3, 2), H=own, **terms)


SHAPES = {"coupled": coupled, "offset": offset, "three": three}
VARIABLES = {"coupled": ["W_a", "H", "W_b"], "offset": ["W", "H", "b"], "three": ["W", "S", "H"]}
every_shape = pytest.mark.parametrize("name", SHAPES)


@every_shape
def test_multistart_finds_the_best(name):
    runs = cn.multistart(SHAPES[name](), n_starts=3, stop=50)
    assert list(runs.best.factors) == VARIABLES[name]
    assert runs.best.objective == runs.objectives[0]


@every_shape
def test_compare_runs_every_solver_that_fits(name):
    problem = SHAPES[name]()
    known = (cn.HALS(), cn.TangentPlane(), cn.ProjectedGradient(), cn.ANLS())
    fits = [solver for solver in known if not solver.mismatches(problem)]
    runs = cn.compare(problem, fits, [0, 1], stop=20)
    assert not runs.table["status"].isin(["ERROR", "SKIPPED"]).any()
    # From the same start all of them go down.
    assert runs.table["relative_error"].max() < 0.6


@every_shape
def test_parallel_comparisons_have_the_same_numbers(name):
    problem = SHAPES[name]()
    one, two = (cn.compare(problem, ["HALS"], [0, 1], stop=9, n_jobs=jobs).table for jobs in (1, 2))
    pd.testing.assert_series_equal(one["objective"], two["objective"])


@every_shape
def test_a_path_has_a_sparseness_for_each_variable(name):
    found = cn.path(SHAPES[name], [0.01, 0.1], "HALS", stop=30)
    with_components = [own for own in VARIABLES[name] if own != "b"]
    columns = [column for column in found.table if column.startswith("sparseness_")]
    assert columns == [f"sparseness_{own}" for own in with_components]
    last = found.results[-1]
    expected = np.nanmean(cn.sparseness(last["H"], axis=1))
    assert found.table["sparseness_H"].iloc[-1] == pytest.approx(expected)
    first = with_components[0]
    expected = np.nanmean(cn.sparseness(last[first], axis=0))
    assert found.table[f"sparseness_{first}"].iloc[-1] == pytest.approx(expected)
    labels = [line.get_label() for line in plot_path(found).axes[1].get_lines()]
    assert f"columns of {first}" in labels


@every_shape
def test_stability_matches_components_of_the_first_product(name):
    problem = SHAPES[name]()
    found = cn.stability(problem, "HALS", n_starts=3, stop=200)
    pairs = [problem.components(result.factors)[0] for result in found.results]
    assert found.cosines.shape == (3, pairs[0][0].shape[1])
    assert found.labels.shape == (3, 15)
    own = found.results.index(found.best)
    np.testing.assert_allclose(found.cosines[own], 1.0)
    assert plot_consensus(found) is not None


def test_known_parts_beside_a_product_are_no_components():
    one = cn.compose(cn.Approx(V, "W @ H + D @ c"), rank=3, constants={"D": np.ones((12, 1))})
    assert cn.stability(one, "HALS", n_starts=2, stop=5).cosines.shape == (2, 3)


@every_shape
def test_ranks_are_chosen_for_any_model_of_one_matrix(name):
    def state(V, rank, loss):
        if name == "coupled":
            return cn.factorize({"a": V, "b": U}, rank)
        return cn.factorize(
            V, (rank, 2) if name == "three" else rank, loss=loss, offset=_offset(name)
        )

    def choose():
        return cn.cross_validate_rank(V, [1, 3], folds=2, problem=state, stop=60)

    if name == "coupled":
        with pytest.raises(cn.InputError, match="fits 2 matrices"):
            choose()
    else:
        assert choose().table["held_out"].notna().all()


def _offset(name):
    return "feature" if name == "offset" else None


@every_shape
def test_a_converged_result_is_certified(name):
    problem = SHAPES[name]()
    stop = cn.MaxIter(5000) | cn.RelDecrease(1e-9)
    runs = [problem.solve("HALS", stop=stop, seed=seed) for seed in range(3)]
    best = min(runs, key=lambda run: run.objective)
    certificate = best.certificate()
    assert certificate.ok, certificate
    names = [check.name for check in certificate.checks if "dead" in check.name]
    assert names == (
        ["dead components, a", "dead components, b"] if name == "coupled" else ["dead components"]
    )


def test_an_offset_of_zero_is_no_failure():
    exact = cn.factorize(W @ H, 3, offset="feature", b=[PLUS, cn.L1(100.0)])
    result = exact.solve("HALS", stop=2000, seed=1)
    assert not result["b"].any()
    assert result.status.kind != "failed"


@every_shape
def test_a_killed_solve_goes_on(name, tmp_path):
    problem, file = SHAPES[name](), tmp_path / "run.npz"
    whole = problem.solve("ProjectedGradient", stop=20)
    problem.solve("ProjectedGradient", stop=8, checkpoint=file)
    again = problem.solve("ProjectedGradient", stop=20, checkpoint=file)
    assert again.n_iter == 20
    assert again.objective == pytest.approx(whole.objective, rel=0.2)
    loaded = cn.load(whole.save(tmp_path / "whole"))
    assert loaded.components == whole.components
    assert all(np.array_equal(loaded[own], whole[own]) for own in VARIABLES[name])


@every_shape
def test_a_page_shows_every_variable_and_every_error(name, tmp_path):
    result = SHAPES[name]().solve("HALS", stop=50)
    text = html_report(result, tmp_path / "page.html", certificate=result.certificate()).read_text()
    for own in VARIABLES[name]:
        assert f"{own} " in text
    shown = {"coupled": ["W_a", "W_b"], "offset": ["W"], "three": ["W"]}[name]
    for own in shown:
        assert f"olumns of {own}" in text
    assert ("ows of S" in text) == (name == "three")
    assert ("relative error of b" in text) == (name == "coupled")
    assert plot_basis(result) is not None
    assert plot_sparseness(result) is not None
    runs = cn.compare(SHAPES[name](), ["HALS", "TangentPlane"], [0], stop=5)
    assert "HALS" in html_report(runs, tmp_path / "runs.html").read_text()
