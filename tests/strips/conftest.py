"""What tests of clusters share."""

from __future__ import annotations

import dask
import pytest
from distributed import Client, LocalCluster


def local_cluster(workers):
    """Return so many workers in threads of this process."""
    return LocalCluster(
        n_workers=workers,
        threads_per_worker=1,
        processes=False,
        dashboard_address="localhost:0",
        silence_logs=50,
    )


@pytest.fixture
def three():
    """Three workers that a test may take away."""
    with (
        dask.config.set({"conicnmf.grace": "0s"}),
        local_cluster(3) as cluster,
        Client(cluster) as client,
    ):
        yield cluster, client


MORE = [pytest.param(count, marks=pytest.mark.long) for count in (1, 4, 8)]


@pytest.fixture(scope="module", params=[2, *MORE])
def workers(request):
    """Workers in threads of this process."""
    with local_cluster(request.param) as cluster, Client(cluster):
        yield request.param
