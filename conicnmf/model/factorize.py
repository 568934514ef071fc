"""`factorize`: state a factorization of one matrix, or of several views, from terms."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Annotated, Any, Literal, TypeAlias

from conicnmf.errors import InputError
from conicnmf.model.composing import Approx, composed
from conicnmf.model.large import large_problem
from conicnmf.model.names import labels_of, with_labels
from conicnmf.model.problem import Problem
from conicnmf.model.terms import Loss, Term
from conicnmf.settings import AS_GIVEN, Count, Rule, checks_arguments, is_mapping
from conicnmf.strips import as_source, is_large

Terms: TypeAlias = Annotated[
    Sequence[Term | str] | Mapping[str, Sequence[Term | str]] | None, AS_GIVEN
]
_OFFSETS = {None: "", "feature": "b", "sample": "c", "both": "bc"}


@checks_arguments
def factorize(
    V: Any,
    rank: Annotated[
        Count | tuple[Count, Count], Rule(remedy="try rank=4, or rank=(4, 3) for W S H")
    ],
    *,
    loss: Annotated[Loss | str | Mapping[str, Loss | str] | None, AS_GIVEN] = None,
    W: Terms = None,
    H: Terms = None,
    S: Terms = None,
    b: Terms = None,
    c: Terms = None,
    offset: Literal["feature", "sample", "both"] | None = None,
    shared: Literal["H", "W"] = "H",
    weight: Annotated[float | Mapping[str, float] | None, AS_GIVEN] = None,
    memory_limit: Annotated[int | float | str | None, AS_GIVEN] = None,
    feature_names: Annotated[Any, AS_GIVEN] = None,
    sample_names: Annotated[Any, AS_GIVEN] = None,
) -> Problem:
    """Build the problem V ≈ W H, or one of its relatives, from terms.

    Parameters
    ----------
    V : array or sparse matrix, or dict of str to such, or path, or Dask array
        The data, features × samples. Several of them by name are views of the same samples, which
        are factorized together: view x ≈ W_x H. A path to a .npy file, a folder of such files, .zarr
        or .parquet is read in strips of columns. A Dask array in chunks of columns stays on the
        workers of the current `Client`, or of a local cluster that is started for the call.
    rank : int or pair of int
        The number of components; a pair (r, s) states three factors V ≈ W S H with S r × s.
    loss : Loss or str, or dict by view, optional
        Squared Frobenius by default; a name means the loss with its default settings.
    W, H, S : list of Term or str, or dict by view, optional
        Constraints and penalties on each factor; `NonNegative` alone by default. A factor that
        is not shared has terms for all views, or for each of them by name.
    b, c : list of Term or str, or dict by view, optional
        Terms on the offsets, which are free by default.
    offset : {"feature", "sample", "both"}, optional
        Add a number for each feature, V ≈ W H + b 1ᵀ, for each sample, V ≈ W H + 1 c, or both.
    shared : {"H", "W"}
        What the views share: "H" if they have the same samples, "W" if the same features.
    weight : float or dict by view, optional
        What the losses are multiplied by; 1 for views that are left out.
    memory_limit : int or str, optional
        Read V, a mapped array or a path, in strips of columns within about this much memory, for
        example "2GB", the default for paths. If H does not fit, it is kept on disk, or with a
        `Client` as a Dask array. Terms on H have to apply to entries or single samples; for rows of
        H there are bands of sparseness, norms and simplexes.

    feature_names, sample_names : list of str, or dict by view, optional
        What rows and columns of V are called in results, tables and reports; those of a data frame by
        default. They do not affect the numbers.

    Returns
    -------
    Problem

    See Also
    --------
    compose : any other sum of products.
    Problem : the same from CVXPY expressions.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> cn.factorize(np.ones((5, 4)), 2, W=[cn.NonNegative(), cn.Sparseness(min=0.6)])
    Problem: V (5 × 4) ≈ W H, rank 2
      loss: Frobenius(scale=1)
      W: NonNegative(), Sparseness(min=0.6, max=1.0, each='component')
      H: NonNegative()
    >>> views = {"text": np.ones((5, 4)), "image": np.ones((3, 4))}
    >>> list(cn.factorize(views, 2).variables)
    ['W_text', 'H', 'W_image']
    >>> print(*cn.factorize(np.ones((5, 4)), (3, 2), offset="feature").fits)
    V (5 × 4) ≈ W S H + b 1ᵀ
    """
    if is_large(V, memory_limit):
        others = {"S": S, "b": b, "c": c, "offset": offset, "weight": weight}
        large = _large(V, rank, loss, W, H, others, memory_limit)
        return with_labels(large, feature_names, sample_names)
    views = _Views.of(V, shared)
    letters = _letters(rank, offset)
    model = _model(letters, offset)
    given: dict[str, Any] = {"W": W, "S": S, "H": H, "b": b, "c": c}
    terms = views.by_name(letters, given)
    losses, weights = views.each("loss", loss), views.each("weight", weight)
    approximations = [
        Approx(
            data,
            model.format(**{letter: views.name(letter, view) for letter in letters}),
            loss=losses[view],
            weight=1.0 if weights[view] is None else weights[view],
            name=view or "V",
        )
        for view, data in views.data.items()
    ]
    if not isinstance(rank, tuple):
        problem = composed(approximations, rank, {}, {}, terms)
    else:
        middle = dict.fromkeys(views.names("S"), rank)
        problem = composed(approximations, None, middle, {}, terms)
    return with_labels(problem, *views.labels(feature_names, sample_names))


def _large(
    V: Any, rank: Any, loss: Any, W: Any, H: Any, others: dict[str, Any], memory_limit: Any
) -> Problem:
    """State the problem of data in strips, which is V ≈ W H and nothing else."""
    others_given = [name for name, value in others.items() if value is not None]
    others_given += ["a pair as rank"] if isinstance(rank, tuple) else []
    if others_given:
        raise InputError(
            f"data in strips can only be factorized as V ≈ W H, got {', '.join(others_given)}; leave "
            "that out, or load V"
        )
    return large_problem(as_source(V, memory_limit), int(rank), loss, W, H)


@dataclass(frozen=True)
class _Views:
    """The data by name, "" for a single one, and the letter of the factor they share."""

    data: dict[str, Any]
    shared: str

    @classmethod
    def of(cls, V: Any, shared: str) -> _Views:
        # A sparse matrix in DOK format is a mapping, too.
        if not is_mapping(V):
            return cls({"": V}, shared)
        for name in V:
            if not isinstance(name, str) or not f"W_{name}".isidentifier():
                raise InputError(
                    f"a view's name becomes part of its variables' names and must be letters, "
                    f'digits and underscores, got {name!r}; try {{"genes": V1, "proteins": V2}}'
                )
        if not V:
            raise InputError('V has no views; pass an array, or {"genes": V1, "proteins": V2}')
        return cls(dict(V), shared)

    def labels(self, features: Any, samples: Any) -> tuple[dict[str, Any], dict[str, Any]]:
        """Return the names of features and samples by data: those given, or of data frames."""
        given = self.each("feature_names", features), self.each("sample_names", samples)
        found = {view: labels_of(data) for view, data in self.data.items()}
        features, samples = (
            {
                view or "V": found[view][axis] if own is None else own
                for view, own in given[axis].items()
            }
            for axis in (0, 1)
        )
        return features, samples

    def name(self, letter: str, view: str) -> str:
        """Return the name of a variable in a view."""
        return letter if letter == self.shared or not view else f"{letter}_{view}"

    def names(self, letter: str) -> list[str]:
        """Return the variables of a letter in all views."""
        return list(dict.fromkeys(self.name(letter, view) for view in self.data))

    def each(self, what: str, given: Any) -> dict[str, Any]:
        """Return what is given for each view: by its name, or the same for all of them."""
        if not is_mapping(given):
            return dict.fromkeys(self.data, given)
        strangers = [name for name in given if name not in self.data or not name]
        if strangers:
            listed = ", ".join(name for name in self.data if name) or "none: V is a single matrix"
            raise InputError(f"{what} names the view {strangers[0]!r}; the views are {listed}")
        return {view: given.get(view) for view in self.data}

    def by_name(self, letters: str, given: dict[str, Any]) -> dict[str, Any]:
        """Return the terms by variable; those that are not given are left out."""
        found: dict[str, Any] = {}
        for letter, terms in given.items():
            if terms is None:
                continue
            if letter not in letters:
                raise InputError(f"terms are given for {letter}, {_ABSENT[letter]}")
            if letter == self.shared and is_mapping(terms):
                raise InputError(f"{letter} is shared by all views; give it a single list of terms")
            own = self.each(letter, terms)
            found |= {self.name(letter, v): X for v, X in own.items() if X is not None}
        return found


_ABSENT = {
    "S": "which three factors have only; pass a pair as rank, (4, 3)",
    "b": 'the offset of features; pass offset="feature" or "both"',
    "c": 'the offset of samples; pass offset="sample" or "both"',
}


def _letters(rank: Any, offset: Any) -> str:
    """Return the letters of the variables."""
    return ("WSH" if isinstance(rank, tuple) else "WH") + _OFFSETS[offset]


def _model(letters: str, offset: Any) -> str:
    """Return the text of the model, with places for the names."""
    product = " @ ".join(f"{{{letter}}}" for letter in letters if letter in "WSH")
    extra = {"b": " + {b} @ 1", "c": " + 1 @ {c}"}
    return product + "".join(extra[letter] for letter in _OFFSETS[offset])
