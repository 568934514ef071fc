"""DATA that stay where they are: read in strips, here or by the workers of a cluster."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from conicnmf.cli._app import complain
from conicnmf.cli.data import Reading, Source, read_data
from conicnmf.errors import InputError, require
from conicnmf.strips.source import as_chunks, is_stored_in_strips


def is_large(data: str, memory_limit: str | None, cluster: str | None) -> bool:
    """Whether DATA is not to be loaded: it is asked for, or no other way reads such a file.

    Examples
    --------
    >>> is_large("data.zarr", None, None), is_large("bars", None, None), is_large("V.npy", "1GB", None)
    (True, False, True)
    """
    return memory_limit is not None or cluster is not None or is_stored_in_strips(data)


def source_of(
    data: str, how: Reading, memory_limit: str | None = None, cluster: str | None = None
) -> Source:
    """Return DATA, loaded or to be read in strips, and say how they are read."""
    if is_large(data, memory_limit, cluster):
        return stated_large(data, memory_limit, cluster, how)
    source = read_data(data, how)
    source.tell()
    return source


def stated_large(data: str, memory_limit: str | None, cluster: str | None, how: Reading) -> Source:
    """Return DATA as a path, or as chunks that workers read."""
    named = {
        "--samples-are-rows": how.samples_are_rows,
        "--samples": how.samples is not None,
        "--missing": how.missing,
        "--image-shape": how.image_shape is not None,
    }
    given = [name for name, is_given in named.items() if is_given]
    if given:
        raise InputError(
            f"{given[0]} needs DATA in memory, but it is read in strips; leave it out, or leave "
            "--cluster and --memory-limit out"
        )
    path = Path(data)
    if not path.exists():
        raise InputError(f"there is no file or folder {data!r}; check the path")
    V: Any = path
    if cluster is not None:
        require("distributed", "dask", "--cluster needs")
        V = as_chunks(path, memory_limit)
    where = "by this process" if cluster is None else f"by the workers of {cluster}"
    complain(f"{path.stem} is read in strips {where}", "dim")
    return Source(path.stem, V)


@contextmanager
def on_cluster(address: str | None) -> Iterator[None]:
    """Work with a local cluster, with the one at an address, or without any."""
    if address is None:
        yield
        return
    distributed = require("distributed", "dask", "--cluster needs")
    if address == "local":
        with (
            distributed.LocalCluster(processes=False, dashboard_address="localhost:0") as cluster,
            distributed.Client(cluster),
        ):
            yield
        return
    try:
        client = distributed.Client(address, timeout="10s")
    except (OSError, ValueError, TypeError) as error:
        raise InputError(
            f"--cluster must be local or the address of a Dask scheduler, got {address!r}: "
            f"{str(error).splitlines()[0]}; try --cluster tcp://localhost:8786"
        ) from error
    with client:
        yield
