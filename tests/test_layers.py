"""The package is read in one direction: no layer imports from a later one."""

from __future__ import annotations

import ast
from pathlib import Path

import pytest

import conicnmf

ROOT = Path(conicnmf.__file__).parent

LAYERS = (
    "errors",
    "types",
    "settings",
    "registry",
    "archive",
    "incoming",
    "validate",
    "geometry",
    "kernels",
    "strips",
    "model",
    "results",
    "solve",
    "families",
    "study",
    "datasets",
    "report",
    "estimators",
    "extend",
    "testing",
    "cli",
    "__main__",
)
REACH_LATER = {
    ("model.base", "explain"),
    ("model.base", "preferred"),
    ("model.base", "solve"),
    ("model.large.problem", "preferred"),
    ("model.large.problem", "start"),
    ("model.large.problem", "unpacked"),
    ("model.problem", "preferred"),
    ("model.problem", "start"),
    ("results.result", "certificate"),
    ("results.result", "plot"),
    ("study.compare.comparison", "to_latex"),
    ("study.compare.comparison", "to_markdown"),
    ("study.path", "plot"),
    ("study.rank", "plot"),
    ("study.stability", "plot"),
}
"""The methods that import from a later layer, inside their body."""
DATASETS_MAY_USE = {"types", "errors", "settings", "registry", "archive", "incoming", "datasets"}


def modules():
    """Return every module but the package's own list of names, as (name, path)."""
    named = {}
    for path in sorted(ROOT.rglob("*.py")):
        parts = path.relative_to(ROOT).with_suffix("").parts
        name = ".".join(parts[:-1] if parts[-1] == "__init__" else parts)
        if name:
            named[name] = path
    return named


MODULES = modules()


def layer(module):
    return LAYERS.index(module.split(".")[0])


def is_type_checking(node):
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def imports(path):
    """Yield (module, function) for each import of a file: where it stands, None for the top."""
    waiting = [(ast.parse(path.read_text()), None)]
    while waiting:
        node, function = waiting.pop()
        if isinstance(node, ast.Import):
            yield from ((alias.name, function) for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} has a relative import; write it in full"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                own = whole.removeprefix("conicnmf.") in MODULES
                yield (whole if own else node.module), function
        inside = node.name if isinstance(node, ast.FunctionDef) else function
        children = node.orelse if is_type_checking(node) else ast.iter_child_nodes(node)
        waiting.extend((child, inside) for child in children)


def own_imports(path):
    """Return the imports from this package, without its name."""
    found = {(name, function) for name, function in imports(path) if name.startswith("conicnmf")}
    return sorted(
        ((name.removeprefix("conicnmf").removeprefix("."), function) for name, function in found),
        key=str,
    )


def test_every_module_has_a_room():
    assert {name.split(".")[0] for name in MODULES} == set(LAYERS)


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_from_earlier_rooms_only(module):
    for name, function in own_imports(MODULES[module]):
        if not name:
            # The whole package is loaded first by whoever comes after it.
            assert layer(module) > LAYERS.index("extend"), f"{module} imports the whole package"
        elif layer(name) > layer(module):
            assert (module, function) in REACH_LATER, f"{module} imports {name}, a later layer"


def test_methods_that_reach_later_rooms_are_listed_exactly():
    found = {
        (module, function)
        for module, path in MODULES.items()
        for name, function in own_imports(path)
        if name and layer(name) > layer(module)
    }
    assert found == REACH_LATER


@pytest.mark.parametrize("module", [name for name in MODULES if name.startswith("datasets")])
def test_datasets_stand_alone(module):
    used = {name.split(".")[0] for name, _ in own_imports(MODULES[module])}
    assert used <= DATASETS_MAY_USE


def test_no_imports_run_in_a_circle():
    graph = {
        name: {n for n, function in own_imports(path) if n and function is None}
        for name, path in MODULES.items()
    }
    done = set()

    def visit(name, trail):
        assert name not in trail, " -> ".join([*trail, name])
        if name not in done:
            for other in graph.get(name, ()):
                visit(other, [*trail, name])
            done.add(name)

    for name in graph:
        visit(name, [])
