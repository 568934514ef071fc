"""Fisher's discriminant in a kernel space, with non-negative weights of the samples."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from conicnmf.errors import InputError
from conicnmf.families.one_factor.discriminant import class_means, require_difference
from conicnmf.families.one_factor.projective import Constraints
from conicnmf.families.one_factor.quadratic import QuadraticProjection
from conicnmf.model.names import labels_of, with_labels
from conicnmf.model.operators import LowRank, as_symmetric, dense
from conicnmf.results import Result
from conicnmf.settings import Positive, checks_arguments
from conicnmf.types import Array
from conicnmf.validate import as_data, has_square


class KernelDiscriminant(QuadraticProjection):
    """Maximize ½αᵀKUKα over α ≥ 0 with αᵀKKα = 1; α weighs the samples.

    U averages within classes, so that the ratio of the two is the share of αᵀK that its class means
    explain, at most 1. As published, K is not centered: projections that are the same for all
    samples count as explained, and α favors them. `center=True` removes that.

    Parameters
    ----------
    V : array or sparse matrix
        Features × samples.
    y : array
        One class a sample.
    kernel : str or callable
        As in scikit-learn's `pairwise_kernels`; "precomputed" takes V as K.
    center : bool
        Center the kernel first.
    constraints : list of Constraint
        On α.
    **parameters
        Of the kernel, such as ``gamma=0.1``.

    Examples
    --------
    >>> import conicnmf as cn
    >>> from conicnmf.families.one_factor import KernelDiscriminant
    >>> V = np.array([[0.0, 1.0, 4.0, 5.0], [1.0, 0.0, 0.5, 1.0]])
    >>> problem = KernelDiscriminant(V, [0, 0, 1, 1], kernel="rbf", center=True)
    >>> -2 * cn.solve(problem).objective > 0.8
    True
    """

    K: Array
    column_means: Array | None

    @checks_arguments
    def __init__(
        self,
        V: Any,
        y: Any,
        kernel: str | Callable[..., Any] = "linear",
        *,
        center: bool = False,
        constraints: Constraints = (),
        **parameters: Any,
    ) -> None:
        data = as_data(V)
        K = kernel_matrix(data, kernel, **parameters)
        codes, _, _ = class_means(K, y)
        if center:
            # Distances of equal samples are zero up to rounding only, so the samples are compared too.
            require_difference(data, "KernelDiscriminant")
            _require_told_apart(K, kernel)
        elif not K.any():
            raise InputError(
                "KernelDiscriminant needs a kernel matrix other than zero, got zeros; try kernel='rbf'"
            )
        column_means = K.mean(axis=0) if center else None
        K = centered(K) if center else K
        for name, value in (("K", K), ("column_means", column_means), ("_data", data)):
            object.__setattr__(self, name, value)
        object.__setattr__(self, "_kernel", (kernel, parameters))
        explained = LowRank(K @ class_members(codes))
        super().__init__(explained, 1, _mirrored(K @ K), constraints=constraints)
        with_labels(self, labels_of(V)[1])

    bounded: ClassVar[bool] = True
    """U is a projection, so αᵀKUKα never exceeds αᵀKKα, however singular K is."""
    _data: Any
    _kernel: tuple[Any, dict[str, Any]]

    def project(self, result: Result, V: Any) -> Array:
        """Return the projections αᵀk(·, v) of samples, up to a constant when K is centered."""
        kernel, parameters = self._kernel
        new = as_data(V)
        if kernel == "precomputed":
            values = dense(new).T
        else:
            values = kernel_between(new.T, self._data.T, kernel, **parameters)
        alpha = result.W[:, 0]
        if self.column_means is not None:
            alpha = alpha - alpha.mean()
        return np.asarray(values @ alpha)

    @staticmethod
    def ranking(result: Result) -> NDArray[np.intp]:
        """Return the samples from the largest weight to the smallest."""
        return np.argsort(-result.W[:, 0], kind="stable")


def kernel_matrix(V: Any, kernel: Any, **parameters: Any) -> Array:
    """Return K between all samples, the columns of V.

    Examples
    --------
    >>> kernel_matrix(np.eye(2), "linear")
    array([[1., 0.],
           [0., 1.]])
    """
    if kernel == "precomputed":
        return dense(as_symmetric(V, "K"))
    try:
        K = kernel_between(V.T, None, kernel, **parameters)
    except InputError:
        raise
    except (ValueError, TypeError) as error:
        raise InputError(
            f"kernel must be one that scikit-learn's pairwise_kernels takes, got {kernel!r} "
            f"({error}); try 'linear' or 'rbf'"
        ) from error
    return _mirrored(K)


def kernel_between(X: Any, Y: Any, kernel: Any, **parameters: Any) -> Array:
    """Return the kernel between the rows of X and those of Y, or of X itself, in double precision.

    Samples that are close differ in digits of it that single precision does not hold.

    Examples
    --------
    >>> kernel_between(np.eye(2), np.ones((1, 2)), "linear")
    array([[1.],
           [1.]])
    """
    from sklearn.metrics.pairwise import pairwise_kernels  # scikit-learn takes its time to load

    # Distances of a sample to itself are exact where Y is not named.
    Y = None if Y is None or Y is X else Y.astype(float)
    with np.errstate(all="ignore"):
        K = np.asarray(pairwise_kernels(X.astype(float), Y, metric=kernel, **parameters))
    largest = float(np.abs(K).max(initial=0.0))
    if largest and not has_square(largest, float):
        raise InputError(
            f"kernel must give numbers whose squares are normal numbers, got kernel={kernel!r} with "
            f"{largest:.3g} for these samples; standardize them"
        )
    return K


def _require_told_apart(K: Array, kernel: Any) -> None:
    """Raise where the kernel is the same for all samples, so that nothing is left of it centered."""
    if (K[:, :1] == K).all():
        raise InputError(
            f"KernelDiscriminant needs a kernel that tells samples apart, got kernel={kernel!r} with "
            f"{K[0, 0]:.6g} for all pairs; choose its parameters for samples of this size, such as a "
            "larger gamma, or standardize them"
        )


def centered(K: Array) -> Array:
    """Return the kernel of the samples minus their mean in the kernel space."""
    mean = K.mean(axis=0)
    return _mirrored(K - mean - mean[:, None] + mean.mean())


def class_members(codes: NDArray[np.intp]) -> Array:
    """Return M with U = M Mᵀ, U being 1/n_c where two samples share the class c and 0 elsewhere.

    Examples
    --------
    >>> class_members(np.array([0, 0, 1])).round(3).tolist()
    [[0.707, 0.0], [0.707, 0.0], [0.0, 1.0]]
    """
    members = codes[:, None] == np.unique(codes)
    return np.asarray(members / np.sqrt(members.sum(axis=0)))


def _mirrored(X: Array) -> Array:
    """Return X without the rounding that makes it unsymmetric."""
    return np.asarray((X + X.T) / 2)


@checks_arguments
def kernel_fda(K: Any, y: Any, ridge: Positive = 1e-3) -> Array:
    """Return the weights of kernel Fisher discriminant analysis, signs free; a baseline.

    Parameters
    ----------
    K : array
        The kernel between all samples.
    y : array
        One class a sample.
    ridge : float
        Added to K K, in units of its mean diagonal.

    Returns
    -------
    array
        The leading generalized eigenvector of the centered K U K against K K.

    Examples
    --------
    >>> x = np.array([0.0, 1.0, 4.0, 5.0])
    >>> alpha = kernel_fda(np.outer(x, x), [0, 0, 1, 1])
    >>> bool(np.ptp(np.sign(x * (x @ alpha) - (x * (x @ alpha)).mean())) == 2)
    True
    """
    kernel = centered(dense(as_symmetric(K, "K")))
    codes, _, _ = class_means(kernel, y)
    explained = kernel @ class_members(codes)
    between, total = explained @ explained.T, _mirrored(kernel @ kernel)
    n = len(total)
    total[np.diag_indices(n)] += ridge * (np.trace(total) or 1.0) / n
    try:
        _, vectors = eigh(between, total, subset_by_index=[n - 1, n - 1])
    except np.linalg.LinAlgError:
        raise InputError(
            f"kernel_fda needs a ridge above the rounding of K K, got ridge={ridge:g}; try 1e-3"
        ) from None
    return np.asarray(vectors[:, 0])
