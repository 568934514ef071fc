"""Shapes of problems: which variables there are, and which sums of products shall come near data.

A model is a list of products of names; the same list gives the text for `compose`, the value in
NumPy and the expression in CVXPY.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import reduce
from operator import matmul
from typing import Any

import cvxpy as cp
import numpy as np

from .numbers import chance, pick

SHAPES = {
    "two": 30,
    "turned": 1,
    "known left": 1.5,
    "known right": 1,
    "known around": 1,
    "masked": 1,
    "multiple": 1,
    "dictionary": 1.5,
    "feature offset": 2,
    "sample offset": 2,
    "both offsets": 2,
    "three": 3,
    "three with offset": 1.5,
    "views share H": 4,
    "views share W": 2,
    "views with offset": 1,
    "two models of one": 1,
}


@dataclass(frozen=True)
class Model:
    """What shall come near the data of one name: a sum of products of names, "1" being ones.

    A single product may be multiplied by a factor.
    """

    data: str
    shape: tuple[int, int]
    products: tuple[tuple[str, ...], ...]
    factor: int = 1

    @property
    def text(self):
        """The model for `compose`."""
        written = [" @ ".join(s.replace("*", " * ") for s in names) for names in self.products]
        return " + ".join(written) if self.factor == 1 else f"{self.factor} * {written[0]}"

    def value(self, X, constants):
        """Return the model at values or at CVXPY variables by name."""
        X = X | constants
        found = sum(reduce(matmul, self._factors(names, X)) for names in self.products)
        return found if self.factor == 1 else self.factor * found

    def _factors(self, names, X):
        for place, name in enumerate(names):
            if name == "1":
                yield np.ones((1, self.shape[1]) if place else (self.shape[0], 1))
            elif "*" in name:
                mask, own = (X[part] for part in name.split("*"))
                yield cp.multiply(mask, own) if isinstance(own, cp.Expression) else mask * own
            else:
                yield X[name.removesuffix(".T")].T if name.endswith(".T") else X[name]

    def magnitude(self, X, constants):
        """Return the size of the largest sums inside the model, whose rounding it inherits."""
        return self.value(
            {name: np.abs(own) for name, own in X.items()},
            {name: np.abs(own) for name, own in constants.items()},
        )


@dataclass(frozen=True, eq=False)
class Shape:
    """Variables by name with their shape and if their components are columns, and the models.

    `options` are the arguments with which `factorize` states it, None where only `compose` does.
    """

    name: str
    variables: dict[str, tuple[tuple[int, int], bool]]
    models: tuple[Model, ...]
    rank: Any
    constants: dict[str, np.ndarray] = field(default_factory=dict)
    options: dict[str, Any] | None = None

    @property
    def is_two(self):
        """Whether it is V ≈ W H and nothing else."""
        return self.name == "two"


def draw_shape(rng, m, n, rank):
    """Draw a shape for data of m × n; other views get sizes of their own."""
    name = pick(rng, SHAPES)
    return _MAKERS[name](rng, name, m, n, rank)


def _one(name, m, n, rank, products, variables, constants=None, options=None):
    model = Model("V", (m, n), products)
    return Shape(name, variables, (model,), rank, constants or {}, options)


def _two(rng, name, m, n, r):
    variables = {"W": ((m, r), True), "H": ((r, n), False)}
    return _one(name, m, n, r, (("W", "H"),), variables, options={})


def _turned(rng, name, m, n, r):
    variables = {"W": ((r, m), False), "H": ((n, r), True)}
    return _one(name, m, n, r, (("W.T", "H.T"),), variables)


def _known(rng, name, m, n, r):
    p, q = (int(rng.integers(1, 6)) for _ in range(2))
    left, right = name != "known right", name != "known left"
    constants = {"D": rng.random((m, p))} if left else {}
    constants |= {"E": rng.standard_normal((q, n))} if right else {}
    names = ("D",) * left + ("W", "H") + ("E",) * right
    variables = {"W": ((p if left else m, r), True), "H": ((r, q if right else n), False)}
    return _one(name, m, n, r, (names,), variables, constants)


def _masked(rng, name, m, n, r):
    constants = {"M": (rng.random((m, r)) > 0.3) * rng.uniform(0.5, 2, (m, r))}
    variables = {"W": ((m, r), True), "H": ((r, n), False)}
    return _one(name, m, n, r, (("M*W", "H"),), variables, constants)


def _multiple(rng, name, m, n, r):
    variables = {"W": ((m, r), True), "H": ((r, n), False)}
    return Shape(name, variables, (Model("V", (m, n), (("W", "H"),), 2),), r)


def _dictionary(rng, name, m, n, r):
    """Only H is unknown, and perhaps an offset: the problem is convex."""
    extra = (("b", "1"),) if chance(rng, 0.4) else ()
    variables = {"H": ((r, n), False)} | ({"b": ((m, 1), True)} if extra else {})
    constants = {"A": rng.random((m, r))}
    return _one(name, m, n, r, (("A", "H"), *extra), variables, constants)


_OFFSETS = {
    "feature offset": ("b", "feature"),
    "sample offset": ("c", "sample"),
    "both offsets": ("bc", "both"),
    "views with offset": ("b", "feature"),
    "three with offset": ("c", "sample"),
}


def _extras(letters, m, n, end=""):
    """Return the products and the variables of offsets."""
    products = {"b": (f"b{end}", "1"), "c": ("1", f"c{end}")}
    variables = {"b": ((m, 1), True), "c": ((1, n), False)}
    return [products[x] for x in letters], {f"{x}{end}": variables[x] for x in letters}


def _offset(rng, name, m, n, r):
    letters, word = _OFFSETS[name]
    products, extra = _extras(letters, m, n)
    variables = {"W": ((m, r), True), "H": ((r, n), False)} | extra
    return _one(name, m, n, r, (("W", "H"), *products), variables, options={"offset": word})


def _three(rng, name, m, n, r):
    s = int(rng.integers(1, min(n, 5) + 1))
    r = min(r, 5)
    variables = {"W": ((m, r), True), "S": ((r, s), False), "H": ((s, n), False)}
    letters, word = _OFFSETS.get(name, ("", None))
    products, extra = _extras(letters, m, n)
    options = {"offset": word} if word else {}
    all_ = (("W", "S", "H"), *products)
    return _one(name, m, n, (r, s), all_, variables | extra, options=options)


def _views(rng, name, m, n, r):
    shared = "W" if name.endswith("W") else "H"
    letters, word = _OFFSETS.get(name, ("", None))
    options = {"shared": shared} | ({"offset": word} if word else {})
    variables, models = {}, []
    for view in "xyz"[: int(rng.integers(2, 4))]:
        rows, columns = (m, int(rng.integers(1, 9))) if shared == "W" else (None, n)
        rows = rows or (m if view == "x" else int(rng.integers(1, 9)))
        W, H = (x if x == shared else f"{x}_{view}" for x in "WH")
        products, extra = _extras(letters, rows, columns, f"_{view}")
        variables |= {W: ((rows, r), True), H: ((r, columns), False)} | extra
        models.append(Model(view, (rows, columns), ((W, H), *products)))
    return Shape(name, variables, tuple(models), r, options=options)


def _two_models(rng, name, m, n, r):
    """The same product is compared with two matrices."""
    variables = {"W": ((m, r), True), "H": ((r, n), False)}
    models = tuple(Model(data, (m, n), (("W", "H"),)) for data in ("V1", "V2"))
    return Shape(name, variables, models, r)


_MAKERS = {
    "two": _two,
    "turned": _turned,
    "known left": _known,
    "known right": _known,
    "known around": _known,
    "masked": _masked,
    "multiple": _multiple,
    "dictionary": _dictionary,
    "feature offset": _offset,
    "sample offset": _offset,
    "both offsets": _offset,
    "three": _three,
    "three with offset": _three,
    "views share H": _views,
    "views share W": _views,
    "views with offset": _views,
    "two models of one": _two_models,
}
