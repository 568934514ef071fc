"""`import conicnmf` is light: what takes its time is loaded by those who use it."""

from __future__ import annotations

import subprocess
import sys

import pytest

HEAVY = ["matplotlib", "sklearn", "pandas", "typer", "PIL", "joblib"]


@pytest.mark.parametrize("statement", ["import conicnmf", "import conicnmf.extend"])
def test_importing_loads_neither_pictures_nor_tables_nor_the_command_line(statement):
    code = f"import sys; {statement}; print(*[name for name in {HEAVY!r} if name in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []


def test_solving_and_explaining_load_neither():
    code = f"""if True:
        import sys, numpy as np, conicnmf as cn
        problem = cn.factorize(np.ones((4, 3)), 1)
        problem.explain(), problem.solve("HALS", stop=2)
        print(*[name for name in {HEAVY!r} if name in sys.modules])
    """
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.split() == []
