"""The benchmark for benchopt runs with our solvers beside scikit-learn, from one start."""

from __future__ import annotations

import shutil
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

pytest.importorskip("benchopt", reason="benchopt is not installed")

SOURCE = Path(__file__).parents[2] / "benchmarks" / "benchopt"


def test_a_small_run_from_a_shared_start(tmp_path):
    folder = tmp_path / "nmf"
    shutil.copytree(SOURCE, folder, ignore=shutil.ignore_patterns("outputs", "__cache__"))
    small = "Simulated[n_features=[20],n_samples=[15],rank=[2]]"
    solvers = ["-s", "conicnmf-HALS", "-s", "conicnmf-Multiplicative", "-s", "scikit-learn"]
    command = [sys.executable, "-m", "benchopt", "run", str(folder), "-d", small, *solvers]
    done = subprocess.run(
        [*command, "-n", "4", "-r", "1", "--no-plot"], capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    (file,) = folder.glob("outputs/*.parquet")
    runs = pd.read_parquet(file).sort_values("stop_val").groupby(["objective_name", "solver_name"])
    first, last = runs["objective_value"].first(), runs["objective_value"].last()
    plain, sparse = "Sparse NMF[rank=10,sparseness=0.0]", "Sparse NMF[rank=10,sparseness=0.75]"
    assert len(first[plain]) == 4
    assert list(first[sparse].index) == ["conicnmf-HALS"]  # the others cannot state it
    np.testing.assert_allclose(first[plain], first[plain].iloc[0], rtol=1e-12)
    assert (last < first).all()
    assert runs["objective_violation"].last().max() < 1e-6
