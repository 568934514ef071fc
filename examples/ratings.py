"""Ratings of movies
=================

Which stars would a user give to a movie that they have not rated? A factorization of the known
ratings predicts the others. The baselines are averages of movies and users, and alternating least
squares (ALS). The rank is chosen by cross-validation on the training ratings; a tenth of all
ratings is held out for the test.

The data are MovieLens, which is downloaded on first use. Without a connection, the script says so
and generates ratings.
"""

import sys
import tempfile

import matplotlib.pyplot as plt
import numpy as np
import scipy.sparse as sp

import conicnmf as cn
from conicnmf.study import cross_validate_rank

RANKS, PRICE = (1, 2, 3, 4, 6), [cn.NonNegative(), cn.L2(3.0)]


def generated(rng, movies=400, users=500):
    """Return ratings of three kinds of movies, in half stars; most of them are unknown."""
    taste = 0.4 + rng.gamma(0.5, size=(movies, 3)) @ rng.dirichlet(np.full(3, 0.3), users).T
    stars = 2.2 + 0.5 * rng.normal(size=(movies, 1)) + 0.4 * rng.normal(size=users) + taste
    stars = np.clip(np.round(2 * (stars + 0.6 * rng.normal(size=stars.shape))) / 2, 0.5, 5)
    popular = rng.gamma(0.7, 0.15, size=(movies, 1))
    return sp.csr_array(np.where(rng.random(stars.shape) < popular, stars, 0))


def ratings():
    """Return movies × users from MovieLens, or generated ones where it cannot be had."""
    try:
        return cn.datasets.load("movielens").V
    except cn.InputError as error:
        print(str(error).splitlines()[0], "These are generated ratings.", sep="\n")
        return generated(np.random.default_rng(1))


def state(V, rank, loss):
    """Return the model: squares over known ratings, with a price on both factors."""
    return cn.factorize(V, rank, loss=loss, W=PRICE, H=PRICE)


def levels(train, known):
    """Return the mean of all ratings, and how far each movie and each user is from it."""
    mean = train.sum() / known.sum()
    movie, user = np.zeros(train.shape[0]), np.zeros(train.shape[1])
    for _ in range(10):  # few ratings say little: five more at the mean are added to each
        movie = (train.sum(axis=1) - known @ (mean + user)) / (known.sum(axis=1) + 5)
        user = (train.sum(axis=0) - known.T @ (mean + movie)) / (known.sum(axis=0) + 5)
    return mean, movie, user


def als(train, known, rank, price, rounds=10):
    """Return factors of the ratings less their mean, one ridge regression after another."""
    mean = train.sum() / known.sum()
    H = np.random.default_rng(0).standard_normal((train.shape[1], rank))
    gaps = sp.csr_array(train - mean * known)
    for _ in range(rounds):
        W = ridge(gaps, H, price)
        H = ridge(sp.csr_array(gaps.T), W, price)
    return W, H, mean


def ridge(gaps, A, price):
    """Return the coefficients of each row in the rows of A that it has ratings for."""
    found = np.zeros((gaps.shape[0], A.shape[1]))
    for i, (first, last) in enumerate(zip(gaps.indptr, gaps.indptr[1:], strict=False)):
        B = A[gaps.indices[first:last]]
        G = B.T @ B + price * np.eye(A.shape[1])
        found[i] = np.linalg.solve(G, B.T @ gaps.data[first:last])
    return found


def main(output):
    """Predict a tenth of the ratings by averages and by a factorization and save a picture."""
    V = ratings()
    V = sp.csr_array(V[np.diff(V.indptr) >= 20])  # movies with twenty ratings or more
    rows, columns = V.nonzero()
    test = np.random.default_rng(0).random(V.nnz) < 0.1
    places, truth = (rows[test], columns[test]), V.data[test]
    known = sp.csr_array((np.ones((~test).sum()), (rows[~test], columns[~test])), shape=V.shape)
    train = known * V
    print(f"{V.shape[0]} movies, {V.shape[1]} users, {V.nnz} ratings, {test.sum()} for the test")

    choice = cross_validate_rank(train, RANKS, folds=3, problem=state, observed=known.astype(bool))
    result = state(train, choice.rank, cn.WeightedFrobenius(known)).solve()
    mean, movie, user = levels(train, known)
    A, B, middle = als(train, known, choice.rank, 3.0)
    guesses = {
        "mean of all": np.full(len(truth), mean),
        "movie + user": mean + movie[places[0]] + user[places[1]],
        f"ALS, rank {choice.rank}": middle + np.einsum("ij,ij->i", A[places[0]], B[places[1]]),
        f"NMF, rank {choice.rank}": result.predict_entries(*places),
    }
    errors = {name: np.sqrt(np.mean((g - truth) ** 2)) for name, g in guesses.items()}
    for name, error in errors.items():
        print(f"{name:<13} RMSE of the test {error:.3f} stars")

    figure, (upper, lower) = plt.subplots(2, 1, figsize=(5.2, 5), layout="constrained")
    table = choice.table
    upper.errorbar(RANKS, table["held_out"], table["standard_error"], label="held out")
    upper.plot(RANKS, table["fitted"], "--", label="fitted")
    upper.set(xlabel="rank", ylabel="relative error", title="cross-validation in the training set")
    upper.legend(frameon=False)
    lower.barh(list(errors), list(errors.values()), color="#9dbad6")
    lower.set(title="ratings held out for the test", xlabel="RMSE in stars")
    for place, error in enumerate(errors.values()):
        lower.text(error / 2, place, f"{error:.3f}", va="center", ha="center")
    figure.savefig(output, dpi=160)
    print(f"picture: {output}")


if __name__ == "__main__":
    main(sys.argv[1] if len(sys.argv) > 1 else f"{tempfile.mkdtemp()}/ratings.png")
