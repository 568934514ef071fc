"""What a solve returns, and how it is saved."""

import dataclasses
import json
from dataclasses import asdict

import numpy as np
import pytest

import conicnmf as cn
from conicnmf.results import History, Status

V = np.random.default_rng(0).random((9, 7))


def solve(solver, dtype=np.float64, **terms):
    return cn.factorize(V.astype(dtype), 2, **terms).solve(solver, stop=4, seed=3)


RESULTS = {
    "plain": lambda: solve(cn.HALS()),
    "single": lambda: solve(cn.Multiplicative(), np.float32),
    "cone programs": lambda: solve(
        cn.TangentPlane(engine="conic"), W=[cn.NonNegative(), cn.Sparseness(min=0.4)]
    ),
}


@pytest.mark.parametrize("name", RESULTS)
def test_a_result_comes_back_bit_for_bit(name, tmp_path):
    result = RESULTS[name]()
    again = cn.load(result.save(tmp_path / "deep" / "run.1"))
    for key, X in result.factors.items():
        assert again.factors[key].dtype == X.dtype
        assert again.factors[key].tobytes() == X.tobytes()
    assert again.history.iterations == result.history.iterations
    assert again.status is result.status
    for field in (
        "objective",
        "relative_error",
        "violation",
        "seed",
        "solver",
        "problem_text",
        "promises",
    ):
        assert getattr(again, field) == getattr(result, field)
    assert again.versions == result.versions
    assert repr(again) == repr(result)
    assert again.history.inner_frame().equals(result.history.inner_frame())


def test_nothing_is_pickled(tmp_path):
    stem = RESULTS["cone programs"]().save(tmp_path / "run")
    assert sorted(p.name for p in tmp_path.iterdir()) == ["run.json", "run.npz"]
    with np.load(stem.with_name("run.npz"), allow_pickle=False) as arrays:
        assert all(arrays[name].dtype.kind == "f" for name in arrays.files if "factor" in name)
        assert arrays["record.json"].decode() == (tmp_path / "run.json").read_text()
    assert json.loads((tmp_path / "run.json").read_text())["status"] == "MAX_ITER"


@pytest.mark.parametrize("ending", ["", ".npz", ".json"])
def test_any_of_the_two_files_may_be_named(tmp_path, ending):
    result = RESULTS["plain"]()
    result.save(tmp_path / f"run{ending}")
    assert (cn.load(tmp_path / f"run{ending}").W == result.W).all()
    assert (cn.load(str(tmp_path / "run")).H == result.H).all()


def test_a_missing_file_is_named(tmp_path):
    RESULTS["plain"]().save(tmp_path / "run")
    (tmp_path / "run.npz").unlink()
    with pytest.raises(cn.InputError, match=r"run\.npz is missing"):
        cn.load(tmp_path / "run")


def test_numbers_that_json_does_not_have_come_back(tmp_path):
    result = RESULTS["plain"]()
    assert result.history[0].change == np.inf
    assert cn.load(result.save(tmp_path / "run")).history[0].change == np.inf
    empty = cn.factorize(np.zeros((3, 2)), 1).solve(cn.HALS(), stop=1)
    assert np.isnan(empty.relative_error)
    assert np.isnan(cn.load(empty.save(tmp_path / "zero")).relative_error)


def test_the_text_beside_a_result_is_json(tmp_path):
    def refuse(word):
        raise AssertionError(f"{word} is not JSON")

    empty = cn.factorize(np.zeros((3, 2)), 1).solve(cn.HALS(), stop=1)
    for result in (RESULTS["plain"](), empty):
        stem = result.save(tmp_path / "run")
        text = stem.with_suffix(".json").read_text()
        told = json.loads(text, parse_constant=refuse)
        assert told["history"][0]["change"] == "inf"


def test_names_are_text_on_a_page():
    result = dataclasses.replace(RESULTS["plain"](), solver="<b>bold</b>")
    assert "<b>" not in result._repr_html_()
    assert "&lt;b&gt;bold&lt;/b&gt;" in result._repr_html_()


def test_a_result_tells_its_story_as_text_and_as_html():
    result = RESULTS["cone programs"]()
    text, html = repr(result), result._repr_html_()
    for story in (text, html):
        for word in ("TangentPlane", "MAX_ITER", "stopped", "seed 3", "9 × 2", "2 × 7"):
            assert word in story
        assert f"{result.objective:.6g}" in story
        assert Status.MAX_ITER.value in story
    assert html.startswith("<table>")


def test_numbers_are_what_they_are_called():
    result = RESULTS["plain"]()
    wanted = np.linalg.norm(V - result.W @ result.H) ** 2
    assert result.objective == pytest.approx(wanted, rel=1e-10)
    assert result.relative_error == pytest.approx(wanted / np.linalg.norm(V) ** 2, rel=1e-10)
    assert result.n_iter == 4
    assert result.seconds == result.history.seconds[-1]
    assert result.max_violation == 0.0
    assert result.seed == 3


def test_the_objective_is_exactly_what_was_stated():
    result = solve(cn.HALS(), H=[cn.NonNegative(), cn.L1(0.3)])
    wanted = np.linalg.norm(V - result.W @ result.H) ** 2 + 0.3 * result.H.sum()
    assert result.objective == pytest.approx(wanted, rel=1e-10)


def test_violations_are_listed_by_factor_and_constraint():
    result = RESULTS["cone programs"]()
    assert list(result.violation) == [
        "W: NonNegative()",
        "W: Sparseness(min=0.4, max=1.0, each='component')",
        "H: NonNegative()",
    ]
    assert result.max_violation == max(result.violation.values())


def test_the_history_is_a_table_of_iterations_and_of_inner_solves():
    history = RESULTS["cone programs"]().history
    frame, inner = history.to_frame(), history.inner_frame()
    assert frame["iteration"].tolist() == [0, 1, 2, 3, 4]
    assert frame["inner_solves"].sum() == len(inner) > 0
    assert set(inner["backend"]) <= {"CLARABEL", "ECOS", "SCS"}
    assert (np.diff(frame["seconds"]) >= 0).all()
    assert frame["backends"].iloc[1].startswith("CLARABEL")
    assert history.violation.max() <= 1e-6
    assert History().inner_frame().empty


def test_an_iteration_is_plain_data():
    iteration = RESULTS["plain"]().history[1]
    assert asdict(iteration)["iteration"] == 1
    with pytest.raises(AttributeError):
        iteration.objective = 0.0


def test_every_status_gives_advice_and_a_kind():
    for status in Status:
        assert status.kind in ("converged", "stopped", "failed")
        assert status.value.endswith(".")
        assert status.value[0].isupper()
    assert [s.name for s in Status if s.kind == "converged"] == ["CONVERGED"]
    failures = {s.name for s in Status if s.kind == "failed"}
    assert {"COLLAPSED", "INFEASIBLE", "BACKEND_FAILED", "NOT_FINITE"} <= failures


def test_the_best_feasible_iterate_is_returned_not_the_last():
    problem = cn.factorize(V, 3, W=[cn.NonNegative(), cn.Sparseness(min=0.7)])
    result = problem.solve(cn.TangentPlane(), stop=25, throw=False)
    feasible = result.history.violation <= 1e-6
    assert result.objective == pytest.approx(result.history.objective[feasible].min(), rel=1e-9)
