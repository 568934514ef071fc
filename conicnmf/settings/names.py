"""Names that users of other packages try, answered with the name that is meant."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches
from inspect import Parameter, Signature

from conicnmf.errors import InputError

_MEANT = (
    ("stop", "stop=100", "max_iter n_iter maxiter max_iters max_iterations iterations"),
    ("stop", "stop=RelDecrease(1e-4)", "tol tolerance rtol eps"),
    ("seed", "seed=0", "random_state rng random_seed"),
    ("seeds", "seeds=[0]", "random_state rng random_seed seed"),
    ("progress", "progress=True", "verbose verbosity"),
    ("rank", "rank=4", "n_components components n_filters"),
    ("n_starts", "n_starts=10", "n n_runs n_init n_restarts n_repeats"),
    ("time_limit", "time_limit=60", "timeout max_time max_seconds"),
    ("solver", 'solver="HALS"', "method algorithm"),
    ("init", "init=NNDSVD()", "start initial x0"),
    ("n_threads", "n_threads=2", "threads num_threads nthreads"),
    ("loss", "loss=Frobenius()", "beta_loss objective"),
)
"""A name of ours, how to write it, and the names that others use."""


def check_names(owner: str, word: str, given: Iterable[str], signature: Signature) -> None:
    """Raise for a name that a function or a class does not have, with the one that is meant."""
    parameters = signature.parameters
    open_ended = any(one.kind is Parameter.VAR_KEYWORD for one in parameters.values())
    for name in given:
        if name in parameters:
            continue
        own = [example for ours, example in _meant(name) if ours in parameters]
        if own or not open_ended:
            raise InputError(f"{owner} has no {word} {name}; {_remedy(name, own, parameters)}")


def meant(name: str) -> list[str]:
    """Return what a name of other packages is called here.

    Examples
    --------
    >>> meant("n_components")
    ['rank']
    """
    return [ours for ours, _ in _meant(name)]


def _meant(name: str) -> list[tuple[str, str]]:
    return [(ours, example) for ours, example, others in _MEANT if name in others.split()]


def _remedy(name: str, own: list[str], parameters: Iterable[str]) -> str:
    known = list(parameters)
    if own:
        return f"write {own[0]}"
    near = get_close_matches(name, known, n=1)
    if near:
        return f"did you mean {near[0]}?"
    listed = f"it has {', '.join(known) or 'none'}"
    elsewhere = [example for _, example in _meant(name)]
    return f"{elsewhere[0]} goes to solve; {listed}" if elsewhere else listed
