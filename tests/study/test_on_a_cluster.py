"""Studies whose runs are made by the workers of a Dask cluster."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from distributed import Client

import conicnmf as cn
from conicnmf.study import cross_validate_rank, path, stability
from tests.strips.conftest import local_cluster

V = np.random.default_rng(0).random((8, 3)) @ np.random.default_rng(1).random((3, 9))
PROBLEM = cn.factorize(V, 2)
MEASURED = ["objective", "status", "iterations"]


def at_least(s):
    return cn.factorize(V, 2, W=[cn.NonNegative(), cn.Sparseness(min=s)])


STUDIES = {
    "compare": lambda **how: cn.compare(PROBLEM, ["HALS", "ANLS"], range(2), **how).table[MEASURED],
    "multistart": lambda **how: cn.multistart(PROBLEM, "HALS", 3, **how).table[MEASURED],
    "rank": lambda **how: cross_validate_rank(V, [1, 2], 2, stop=20, **how).table,
    "stability": lambda **how: pd.DataFrame(
        {"score": [stability(PROBLEM, "HALS", 3, **how).score]}
    ),
    "path": lambda **how: path(at_least, [0.3, 0.6], "HALS", warm=False, **how).table[MEASURED],
}


def test_without_a_client_the_remedy_is_said():
    with pytest.raises(cn.InputError, match=r"client = dask.distributed.Client\(\)"):
        cn.compare(PROBLEM, ["HALS"], backend="dask")


@pytest.fixture(scope="module")
def client():
    with local_cluster(2) as cluster, Client(cluster) as own:
        yield own


@pytest.mark.parametrize("study", STUDIES)
def test_workers_make_the_same_runs(study, client):
    before = len(client.get_task_stream())
    found = STUDIES[study](backend="dask")
    assert len(client.get_task_stream()) > before  # they were made there
    pd.testing.assert_frame_equal(found, STUDIES[study](), rtol=1e-12)


def test_values_that_begin_at_the_last_result_cannot_be_solved_together():
    with pytest.raises(cn.InputError, match="warm=False"):
        path(at_least, [0.3, 0.6], "HALS", n_jobs=2)


@pytest.mark.long
def test_workers_that_are_processes_make_the_same_runs():
    from distributed import LocalCluster

    cluster = LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address="localhost:0", silence_logs=50
    )
    with cluster, Client(cluster):
        found = STUDIES["compare"](backend="dask")
    pd.testing.assert_frame_equal(found, STUDIES["compare"](), rtol=1e-12)
