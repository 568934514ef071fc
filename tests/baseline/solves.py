"""Small solves with fixed seeds and iteration limits, and the numbers they give."""

from __future__ import annotations

import conicnmf as cn

from . import families
from .problems import problems

SOLVERS = {
    "default": lambda: None,
    "TangentPlane": cn.TangentPlane,
    "TangentPlane conic": lambda: cn.TangentPlane(engine="conic"),
    "TangentPlane cuts": lambda: cn.TangentPlane(upper="cuts"),
    "SparsityMaximization": cn.SparsityMaximization,
    "SparsityMaximization conic": lambda: cn.SparsityMaximization(engine="conic"),
    "SparsityMaximization taylor": lambda: cn.SparsityMaximization(form="taylor"),
    "HALS": cn.HALS,
    "HALS plain": lambda: cn.HALS(extrapolate=False),
    "ANLS": cn.ANLS,
    "ProjectedGradient": cn.ProjectedGradient,
    "ProjectedGradient multiplicative": lambda: cn.ProjectedGradient(free="multiplicative"),
    "Multiplicative": cn.Multiplicative,
    "Coded": cn.Coded,
    "Coded L0": lambda: cn.Coded(cn.coding.L0(0.1)),
    "Chain": lambda: cn.Chain((cn.TangentPlane(), cn.HALS())),
}


def solves():
    """Return every solve by name, as a function that returns its result."""
    stated = problems()
    found = {
        f"{problem} | {solver}": _solve(stated[problem], solver)
        for problem, solvers in PAIRS.items()
        for solver in solvers
    }
    found |= {f"plain | HALS | {name}": _started(stated["plain"], name) for name in _STARTS}
    return found | families.solves()


def numbers(result):
    """Return what is stored of a result."""
    try:
        certified = result.certificate().ok
    except TypeError:
        certified = "TypeError"
    return {
        "objective": float(result.objective),
        "relative_error": float(result.relative_error),
        "n_iter": result.n_iter,
        "status": result.status.name,
        "certified": certified,
    }


def _solve(state, solver):
    return lambda: state().solve(SOLVERS[solver](), stop=12, seed=1, throw=False)


_STARTS = {
    "NNDSVD": cn.NNDSVD,
    "NNDSVD random": lambda: cn.NNDSVD("random"),
    "default stop": lambda: None,
}


def _started(state, name):
    stop = None if name == "default stop" else 5
    return lambda: state().solve(cn.HALS(), init=_STARTS[name](), stop=stop, seed=2)


_CONIC = ("default", "TangentPlane", "SparsityMaximization")
_STEPS = ("ProjectedGradient", "ProjectedGradient multiplicative")
_COMPONENTS = (*_CONIC, "HALS", "HALS plain", *_STEPS)
_BANDS = (
    *_COMPONENTS,
    "TangentPlane conic",
    "TangentPlane cuts",
    "SparsityMaximization conic",
    "SparsityMaximization taylor",
    "Chain",
)
_PLAIN = (*_COMPONENTS, "ANLS", "Multiplicative", "Coded", "Coded L0")

PAIRS = {
    "plain": _PLAIN,
    "penalised": (*_COMPONENTS, "ANLS", "Multiplicative", "TangentPlane conic"),
    "signed": ("default", "TangentPlane", "HALS", *_STEPS),
    "signed sparse": ("default", "TangentPlane", "HALS", "ProjectedGradient", "Chain"),
    "box": _COMPONENTS,
    "unit": ("default", "HALS plain", *_STEPS),
    "ball": _COMPONENTS,
    "sparse W": _BANDS,
    "prescribed H": _BANDS,
    "dense H": _BANDS,
    "band and unit": ("default", "HALS plain", *_STEPS),
    "sparse samples": (*_CONIC, *_STEPS),
    "simplex": (*_CONIC, *_STEPS),
    "known": _COMPONENTS,
    "convex": _CONIC,
    "labels": _CONIC,
    "reward": ("default", "TangentPlane", *_STEPS),
    "weighted": (*_CONIC, *_STEPS, "Multiplicative"),
    "sparse weights": (*_CONIC, *_STEPS, "Multiplicative"),
    "sparse data": _PLAIN,
    "single": _PLAIN,
    "capped": ("default", "TangentPlane conic"),
    "algebra": (*_COMPONENTS, "Chain"),
    "huber": ("default", "SparsityMaximization"),
}
"""The solvers each problem is solved with."""
