"""Warming up reaches every kernel."""

import ast
from importlib import import_module
from pathlib import Path

import pytest

import conicnmf as cn
from conicnmf import geometry, kernels
from conicnmf.families.warm_up import first_calls
from conicnmf.geometry.first_calls import compiled_at_once

ROOMS = (geometry, kernels)
COMPILERS = {"jit", "inner", "inlined"}


def compiled_functions():
    """Yield (module, function, its decorator) of all compiled functions, as syntax trees."""
    paths = [p for room in ROOMS for p in sorted(Path(room.__file__).parent.glob("*.py"))]
    for path in paths:
        for node in ast.parse(path.read_text()).body:
            if isinstance(node, ast.FunctionDef) and node.decorator_list:
                decorator = ast.unparse(node.decorator_list[0])
                if decorator in COMPILERS:
                    yield f"{path.parent.name}.{path.stem}", node, decorator


def test_every_kernel_that_python_calls_is_called():
    functions = list(compiled_functions())
    inside = {
        name.id
        for _, function, _ in functions
        for name in ast.walk(ast.Module(function.body, []))
        if isinstance(name, ast.Name)
    }
    outer = [
        (module, function.name)
        for module, function, decorator in functions
        if decorator == "jit" and function.name not in inside
    ]
    assert len(outer) > 10
    with compiled_at_once():
        for calls in first_calls().values():
            for call in calls:
                call()
    idle = [
        name
        for module, name in outer
        if not getattr(import_module(f"conicnmf.{module}"), name).signatures
    ]
    assert not idle


def test_in_one_process():
    assert cn.warm_up(n_jobs=1) > 0


def test_refuses_no_process():
    with pytest.raises(cn.InputError, match="n_jobs to be a whole number that is not 0"):
        cn.warm_up(n_jobs=0)
