"""Generated matrices V = WH + noise with known factors."""

from __future__ import annotations

import numpy as np

from conicnmf.datasets._checks import Density, check_count
from conicnmf.datasets._dataset import Dataset
from conicnmf.settings import Count, Weight, Whole, checks_arguments
from conicnmf.types import Array


@checks_arguments
def paatero(m: Count = 60, n: Count = 40, noise: Weight = 0.1, seed: Whole = 0) -> Dataset:
    """Four Gaussian profiles times four exponentials, plus noise of standard deviation `noise`.

    The columns of W are equal bell curves side by side (sparseness about 0.64 for m = 60), the rows
    of H fall and rise at two rates. H has no zeros, so plain NMF may mix the profiles freely; a
    bound on the sparseness of W removes that freedom (the experiment of Heiler and Schnörr 2005 on
    data after Paatero 1997). Values that the noise makes negative are set to 0.

    The papers do not print centers, width and rates. Ours are one of twelve settings tried, taken
    because the effect shows clearly: with closely related rates (all falling) the bound did not
    suffice for recovery.

    Examples
    --------
    >>> from conicnmf.datasets import paatero
    >>> paatero()
    Dataset('paatero', 60 × 40, float64)
    """
    place = (np.arange(m) + 0.5) / m
    centers = np.array([0.2, 0.4, 0.6, 0.8])
    W = np.exp(-0.5 * ((place[:, None] - centers) / 0.055) ** 2)
    time = np.linspace(0.0, 1.0, n)
    H = np.exp(-np.stack([4.0 * (1 - time), 1.5 * (1 - time), 1.5 * time, 4.0 * time]))
    V = W @ H + noise * np.random.default_rng(seed).standard_normal((m, n))
    return Dataset(
        name="paatero",
        V=np.maximum(V, 0.0),
        truth={"W": W, "H": H},
        description="Four Gaussian profiles times exponentials plus Gaussian noise, cut at zero "
        "(after Paatero 1997), generated.",
    )


@checks_arguments
def synthetic_dictionary(
    m: Count = 200,
    k: Count = 400,
    n: Count = 1600,
    density: Density = 0.25,
    active: tuple[Count, Count] = (5, 10),
    seed: Whole = 0,
) -> Dataset:
    """V = WH with a random overcomplete W and few active atoms per sample, without noise.

    Each column of W has the share `density` of its entries drawn from U[0, 1] and unit norm; each
    column of H has between `active[0]` and `active[1]` entries drawn from U[0.02, 1]. This is the
    recovery experiment of O'Hanlon and Plumbley (2013).

    Examples
    --------
    >>> from conicnmf.datasets import synthetic_dictionary
    >>> data = synthetic_dictionary(m=20, k=40, n=100, active=(2, 4))
    >>> data
    Dataset('synthetic_dictionary', 20 × 100, float64)
    >>> sorted({int(count) for count in (data.truth["H"] > 0).sum(axis=0)})
    [2, 3, 4]
    """
    rng = np.random.default_rng(seed)
    W = _sparse_uniform(rng, m, k, density)
    W /= np.linalg.norm(W, axis=0)
    H = _few_active(rng, k, n, active)
    return Dataset(
        name="synthetic_dictionary",
        V=W @ H,
        truth={"W": W, "H": H},
        description="Sparse combinations of the atoms of a random non-negative dictionary "
        "(O'Hanlon and Plumbley 2013), generated.",
    )


@checks_arguments
def low_rank(
    m: Count = 100,
    n: Count = 80,
    rank: Count = 5,
    noise: Weight = 0.01,
    density: Density = 1.0,
    seed: Whole = 0,
) -> Dataset:
    """V = WH + noise with W and H uniform, and the share `density` of their entries non-zero.

    `noise` is the standard deviation of the Gaussian noise relative to the root mean square of WH;
    values that it makes negative are set to 0. No component is wholly zero.

    Examples
    --------
    >>> import numpy as np
    >>> from conicnmf.datasets import low_rank
    >>> data = low_rank(30, 20, rank=3, noise=0.0)
    >>> data
    Dataset('low_rank', 30 × 20, float64)
    >>> int(np.linalg.matrix_rank(data.V))
    3
    """
    rng = np.random.default_rng(seed)
    W = _sparse_uniform(rng, m, rank, density)
    H = np.ascontiguousarray(_sparse_uniform(rng, n, rank, density).T)
    V = W @ H
    V += noise * np.sqrt(np.mean(V**2)) * rng.standard_normal((m, n))
    return Dataset(
        name="low_rank",
        V=np.maximum(V, 0.0),
        truth={"W": W, "H": H},
        description=f"Uniform random factors of rank {rank} plus Gaussian noise, cut at zero, "
        "generated.",
    )


@checks_arguments
def three_factors(n_samples: Count = 1000, seed: Whole = 0) -> Dataset:
    """Ten noisy observations of three hidden factors; signed, for sparse PCA.

    The factors are V₁ ~ N(0, 290), V₂ ~ N(0, 300) (variances) and V₃ = −0.3 V₁ + 0.925 V₂ + η with
    η ~ N(0, 1). Rows 1 to 4 of the data show V₁, rows 5 to 8 show V₂, rows 9 and 10 show V₃, each
    with its own noise N(0, 1). V₃ depends on the other two, so two sparse components separate V₁
    and V₂ while ordinary ones mix all three. Heiler and Schnörr (2005, section 6.3) took the data
    from d'Aspremont et al. (2004); their text gives the factors, the observed variables are those
    of the earlier paper.

    Examples
    --------
    >>> from conicnmf.datasets import three_factors
    >>> data = three_factors(n_samples=200)
    >>> data
    Dataset('three_factors', 10 × 200, float64)
    >>> data.truth["W"].sum(axis=0).tolist()
    [4.0, 4.0, 2.0]
    """
    rng = np.random.default_rng(seed)
    first = rng.normal(0.0, np.sqrt(290.0), n_samples)
    second = rng.normal(0.0, np.sqrt(300.0), n_samples)
    third = -0.3 * first + 0.925 * second + rng.standard_normal(n_samples)
    H = np.stack([first, second, third])
    W = np.repeat(np.eye(3), (4, 4, 2), axis=0)
    return Dataset(
        name="three_factors",
        V=W @ H + rng.standard_normal((10, n_samples)),
        truth={"W": W, "H": H},
        description="Ten noisy observations of three hidden factors, the test data of sparse PCA, "
        "generated. Signed, so not suited to plain NMF.",
    )


def _few_active(rng: np.random.Generator, k: int, n: int, active: tuple[int, int]) -> Array:
    """Each column has a random number of entries from U[0.02, 1], within the bounds `active`."""
    most = check_count("active[1]", active[1], most=k)
    fewest = check_count("active[0]", active[0], most=most)
    counts = rng.integers(fewest, most, size=n, endpoint=True)
    # The ranks of random numbers give each sample a random order of the atoms; its first are used.
    order = rng.random((k, n)).argsort(axis=0).argsort(axis=0)
    return np.where(order < counts, rng.uniform(0.02, 1.0, size=(k, n)), 0.0)


def _sparse_uniform(rng: np.random.Generator, rows: int, columns: int, density: float) -> Array:
    """Entries from U(0, 1], the same number of non-zeros (at least one) in each column."""
    kept = max(1, round(density * rows))
    order = rng.random((rows, columns)).argsort(axis=0).argsort(axis=0)
    values = 1.0 - rng.random((rows, columns))  # never exactly 0, so a kept entry is non-zero
    return np.where(order < kept, values, 0.0)
