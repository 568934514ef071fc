"""The package is read in one direction: no module imports from a later layer."""

import ast
from pathlib import Path

import pytest

import conicnmf

ROOT = Path(conicnmf.__file__).parent

LAYERS = (
    ("_types", "errors"),
    ("kernels",),
    ("validate", "measures", "terms", "conic.cones"),
    ("losses", "constraints", "penalties", "coding"),
    ("recognise",),
    ("joint",),
    ("problem",),
    ("blocks",),
    ("compat",),
    ("conic",),
    ("result",),
    ("stop", "monitor"),
    ("init",),
    ("solvers",),
    ("statement", "checkpoint"),
    ("factorization", "running"),
    ("engine",),
    ("compare", "certify", "multistart"),
    ("projections", "autoencoders"),
    ("estimators", "selection"),
    ("report", "datasets"),
    ("facade", "warmup"),
    ("testing", "reproduce", "cli"),
)
DATASETS_MAY_USE = {"_types", "errors", "datasets"}


def layer(module):
    """Return the number of the layer a module (named without the package) belongs to."""
    found = [
        (len(name), number)
        for number, names in enumerate(LAYERS)
        for name in names
        if module == name or module.startswith(name + ".")
    ]
    return max(found)[1] if found else None


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


def is_type_checking(node):
    return isinstance(node, ast.If) and "TYPE_CHECKING" in ast.unparse(node.test)


def imports(path):
    """Yield the modules of this package that a file imports when it runs, functions included."""
    waiting = [ast.parse(path.read_text())]
    while waiting:
        node = waiting.pop()
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{path.name} has a relative import; write it in full"
            for alias in node.names:
                whole = f"{node.module}.{alias.name}"
                yield whole if whole.removeprefix("conicnmf.") in MODULES else node.module
        children = node.orelse if is_type_checking(node) else ast.iter_child_nodes(node)
        waiting.extend(children)


def own_imports(path):
    return sorted({name for name in imports(path) if name.split(".")[0] == "conicnmf"})


def test_every_module_has_a_layer():
    assert [name for name in MODULES if layer(name) is None] == []


@pytest.mark.parametrize("module", MODULES)
def test_a_module_imports_from_earlier_layers_only(module):
    for imported in own_imports(MODULES[module]):
        name = imported.removeprefix("conicnmf").removeprefix(".")
        if not name:
            # The whole package is a façade: only what stands after it may use it.
            assert layer(module) >= layer("facade"), f"{module} imports the whole package"
        else:
            assert layer(name) <= layer(module), f"{module} imports {name}, a later layer"


@pytest.mark.parametrize("module", [name for name in MODULES if name.startswith("datasets")])
def test_datasets_stand_alone(module):
    used = {name.split(".")[1] for name in own_imports(MODULES[module])}
    assert used <= DATASETS_MAY_USE


def test_no_imports_run_in_a_circle():
    graph = {
        name: {n.removeprefix("conicnmf.") for n in own_imports(path)} - {"conicnmf"}
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
