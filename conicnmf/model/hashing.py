"""One hash of anything a model is made of, the same in every process.

Arrays count by their numbers, terms and settings by their fields, CVXPY expressions by their tree, and
functions by what they are made of. Names of variables, addresses in memory and the layout of arrays do
not count.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field, fields, is_dataclass
from enum import Enum
from functools import cached_property, partial
from types import BuiltinFunctionType, CodeType, FunctionType, MethodType, ModuleType
from typing import Any

import cvxpy as cp
import numpy as np
import scipy.sparse as sp
from cvxpy.constraints.constraint import Constraint
from numpy.typing import NDArray
from scipy.sparse.linalg import LinearOperator

from conicnmf.validate import as_array

_CHUNK = 1 << 22
"""Numbers of an array that are brought into the order of rows at a time."""


def hash_of(thing: Any) -> str:
    """Return a hash that is equal for equal statements, in this process and in any other.

    Examples
    --------
    >>> import conicnmf as cn, numpy as np
    >>> hash_of([cn.L1(0.5), np.eye(2)]) == hash_of([cn.L1(0.5), np.asfortranarray(np.eye(2))])
    True
    >>> hash_of(cn.L1(0.5)) == hash_of(cn.L1(0.25))
    False
    """
    walk = _Walk()
    walk.see(thing)
    return str(walk.hash.hexdigest())


@dataclass(eq=False)
class _Walk:
    """A way through an object, hashing what it meets."""

    hash: Any = field(default_factory=lambda: hashlib.blake2b(digest_size=16))
    variables: dict[int, int] = field(default_factory=dict)
    """CVXPY variables by the order in which they were met: their numbers change with each statement."""
    inside: list[int] = field(default_factory=list)

    def see(self, thing: Any) -> None:
        """Hash a thing by the first rule that knows it."""
        if id(thing) in self.inside:  # it holds itself
            self.note("again", len(self.inside) - self.inside.index(id(thing)))
            return
        self.inside.append(id(thing))
        rule = next(rule for known, rule in _RULES if known(thing))
        rule(self, thing)
        self.inside.pop()

    def note(self, *words: Any) -> None:
        """Hash plain words; their lengths keep them apart."""
        for word in words:
            text = str(word).encode("utf-8", "surrogatepass")
            self.hash.update(b"%d:" % len(text))
            self.hash.update(text)

    def all(self, kind: str, things: Iterable[Any]) -> None:
        """Hash a number of things in their order."""
        listed = list(things)
        self.note(kind, len(listed))
        for thing in listed:
            self.see(thing)

    def named(self, kind: str, things: Mapping[Any, Any]) -> None:
        """Hash things by name, in whatever order they come."""
        self.note(kind, len(things))
        for name in sorted(things, key=lambda name: (type(name).__name__, str(name))):
            self.see(name)
            self.see(things[name])


def _plain(walk: _Walk, thing: Any) -> None:
    value = thing.item() if isinstance(thing, np.generic) else thing
    if isinstance(value, (bool, int)) and abs(value) < 2**53:
        value = float(value)  # L1(1) and L1(1.0) are one statement
    walk.note("plain", type(value).__name__, value)


def _array(walk: _Walk, X: NDArray[Any]) -> None:
    if isinstance(X, np.ma.MaskedArray):
        walk.see(np.ma.getmaskarray(X))
    X = np.asarray(X)
    walk.note("array", X.dtype.str, X.shape)
    if X.dtype.hasobject:
        walk.all("objects", X.ravel().tolist())
    elif X.flags.c_contiguous:
        walk.hash.update(X.reshape(-1).view(np.uint8))
    else:  # never a second copy of all of it
        rows = max(1, _CHUNK * len(X) // max(X.size, 1))
        for begin in range(0, len(X), rows):
            part = np.ascontiguousarray(X[begin : begin + rows])
            walk.hash.update(part.reshape(-1).view(np.uint8))


def _sparse(walk: _Walk, X: Any) -> None:
    rows = sp.csr_array(X) if X.ndim == 2 else sp.coo_array(X).reshape((1, -1)).tocsr()
    if not rows.has_canonical_format or not rows.data.all():
        rows = rows.copy()
        rows.sum_duplicates()
        rows.eliminate_zeros()  # blocks and diagonals store some
    walk.note("sparse", X.shape)
    for part in (rows.indptr, rows.indices):
        walk.see(np.asarray(part, dtype=np.int64))
    walk.see(rows.data)


def _expression(walk: _Walk, node: Any) -> None:
    data = list(node.get_data() or [])
    if isinstance(node, Constraint):
        data = data[:-1]  # the last is a number that is counted up in each process
    walk.note("expression", type(node).__name__, node.shape)
    walk.all("data", data)
    walk.all("arguments", node.args)


def _leaf(walk: _Walk, leaf: Any) -> None:
    if isinstance(leaf, cp.Variable):
        place = walk.variables.setdefault(leaf.id, len(walk.variables))
        walk.note("variable", place, leaf.shape)
        walk.named("attributes", leaf.attributes)
    else:
        walk.note("constant", leaf.shape)
        walk.see(leaf.value)


def _operator(walk: _Walk, A: Any) -> None:
    """Hash what an operator does to a few vectors: what it is made of is its own affair."""
    X = np.random.default_rng(0).standard_normal((A.shape[1], 2))
    walk.note("operator", A.shape, *(f"{x:.6e}" for x in np.ravel(A @ X)))


def _code(walk: _Walk, code: CodeType) -> None:
    walk.note("code", code.co_name, code.co_code.hex(), code.co_names)
    walk.all("constants", code.co_consts)


def _function(walk: _Walk, function: FunctionType) -> None:
    walk.see(function.__code__)
    walk.all("defaults", function.__defaults__ or ())
    walk.all("held", [_held(cell) for cell in function.__closure__ or ()])
    used = [name for name in function.__code__.co_names if name in function.__globals__]
    walk.named("used", {name: function.__globals__[name] for name in used})


def _held(cell: Any) -> Any:
    try:
        return cell.cell_contents
    except ValueError:  # it is filled later
        return None


def _called(walk: _Walk, thing: Any) -> None:
    walk.note("name", getattr(thing, "__name__", type(thing).__name__))


def _object(walk: _Walk, thing: Any) -> None:
    """Hash an object by its fields, its own attributes, or its words, as far as it has them."""
    own = own_fields(thing)
    walk.note("object", type(thing).__name__)
    walk.named("fields", own)
    if not own:
        walk.note(words_without_address(thing))


def own_fields(thing: Any) -> dict[str, Any]:
    """Return what an object was made from: the fields of a dataclass, or its attributes.

    Examples
    --------
    >>> import conicnmf as cn
    >>> own_fields(cn.L1(0.5))
    {'weight': 0.5}
    """
    if is_dataclass(thing):
        return {f.name: getattr(thing, f.name) for f in fields(thing) if f.init}
    return {
        name: value
        for name, value in getattr(thing, "__dict__", {}).items()
        if not isinstance(getattr(type(thing), name, None), cached_property)  # made on the way
    }


def words_without_address(thing: Any) -> str:
    """Return how a thing prints, without its place in memory.

    Examples
    --------
    >>> words_without_address(object())
    '<object object>'
    """
    return re.sub(r" at 0x[0-9a-fA-F]+", "", repr(thing))


def _is(*kinds: Any) -> Callable[[Any], bool]:
    return lambda thing: isinstance(thing, kinds)


_RULES: tuple[tuple[Callable[[Any], bool], Callable[[_Walk, Any], None]], ...] = (
    (_is(Enum, type, ModuleType, BuiltinFunctionType, np.ufunc), _called),
    (_is(type(None), bool, int, float, complex, str, bytes, np.generic), _plain),
    (_is(np.ndarray), _array),
    (sp.issparse, _sparse),
    (_is(cp.Variable, cp.Parameter, cp.Constant), _leaf),
    (_is(cp.Expression, Constraint), _expression),
    (_is(LinearOperator), _operator),
    (_is(Mapping), lambda walk, thing: walk.named("mapping", thing)),
    (_is(list, tuple), lambda walk, thing: walk.all("list", thing)),
    (_is(set, frozenset), lambda walk, thing: walk.all("set", sorted(map(hash_of, thing)))),
    (_is(slice), lambda walk, s: walk.all("slice", (s.start, s.stop, s.step))),
    (_is(CodeType), _code),
    (_is(FunctionType), _function),
    (_is(MethodType), lambda walk, m: walk.all("method", (m.__func__, m.__self__))),
    (_is(partial), lambda walk, p: walk.all("partial", (p.func, p.args, p.keywords))),
    (
        lambda thing: hasattr(thing, "__array__"),
        lambda walk, x: walk.see(as_array(x, "an array in a statement")),
    ),
    (lambda thing: True, _object),
)
"""What is known of each kind of thing; the first that fits is taken."""
