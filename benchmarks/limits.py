"""Where the time goes, benchmark by benchmark, and how near the machine's limit that is.

The page of results shows them under the tables. Most were profiled with one thread at 2.8 GHz, where
matrix products reach 43 GF/s and products with CSR data 2.1 GF/s.
"""

from __future__ import annotations

LIMITS = {
    "floor": (
        "Besides the matrix products, an iteration sweeps over the components, measures the "
        "objective and checks the stopping rule. With few columns, the products are limited by "
        "reading the data, not by arithmetic."
    ),
    "step": (
        "A native W-step is the product H Vᵀ and a descent on 4 components. Most of it is the "
        "product, 2 Mflop on 2 MB of data, so it is limited by memory."
    ),
    "tgp": (
        "A third of an iteration is the two products with V (4 rows wide, so limited by reading V, "
        "at 5 GF/s), a fifth is the compiled descent, and the rest is NumPy calls on arrays of "
        "4×256, a few microseconds each, to move the planes and measure the iterate."
    ),
    "nmfsc": (
        "Half of a HALS iteration on 1000 digits is the two products with V, which NMFSC also "
        "needs, so the ratio is limited by the ratio of iterations (about 14 at s = 0.6, 29 at s = "
        "0.3)."
    ),
    "sparse": (
        "Time does not matter in this comparison: all methods converge within it, to different "
        "local minima."
    ),
    "nmf": (
        "Coordinate descent may run about five times as long as HALS on CBCL, and its objective at the"
        " end may be the lowest, so that HALS misses 0.1 % in its own time. On TDT2, 1 % takes both"
        " only a few iterations, and the ratio varies between repeats. "
        "On TDT2 an iteration takes 110 ms: half for the two products with the sparse data, at 3 "
        "GF/s, which scikit-learn also needs, a fifth for the sweeps, and the rest for passes over "
        "the factors. On CBCL the products run at 39 GF/s and take 30 % of an iteration, the three "
        "sweeps the rest."
    ),
    "kl": (
        "On a generated spectrogram of 400×500, r = 8, two thirds of an iteration divide the data "
        "by the model and multiply the quotient by the factors; about half of that is two products "
        "with 8 columns. A sixth is the objective, the rest momentum and small arrays."
    ),
    "beta": (
        "On a generated spectrogram of 400×500, r = 8, three quarters of an iteration compute the "
        "two parts of the gradient, half of that is divisions, and a twentieth is the objective. "
        "Which local minimum is found depends more on the start than on the method."
    ),
    "robust": (
        "For Huber's loss, three fifths of an iteration compute the model, clip its residuals and "
        "multiply them by the factors, and ten sweeps take a tenth. What is done once (the start, "
        "scaling, measuring the result) takes as long as three of about sixteen iterations. For "
        "absolute values, half of an iteration computes weights and the loss from the residuals, a "
        "fifth is Gram matrices for each sample and each feature, and an eighth is the search for "
        "active sets, which IRLS with clipped solutions does not need."
    ),
    "klsparse": (
        "Not profiled. The program of the cone path has an exponential cone for each entry of the "
        "data, and its solver fails on some of these programs."
    ),
    "proj": (
        "A row of 10⁶ entries takes 10 ms: four passes over 8 MB at 3 to 4 GB/s; a copy reaches 13 "
        "GB/s. For short rows, most of the time is NumPy calls, 20 µs in total."
    ),
    "nnls": (
        "The ratio depends on the machine: an earlier run on a slower one met these targets. On the "
        "faster one SciPy takes half of that time, and conicnmf's time fell less. "
        "Three quarters is the search for active sets. With 20 atoms, 8 of them active, adding the "
        "right ones to a Cholesky factor takes 60 % of the time. With 400 atoms the gradients "
        "dominate: about twenty for each column, and each of them reads the active rows of a Gram "
        "matrix of 1.3 MB, which fills the second-level cache."
    ),
    "l0": (
        "Inverting and downdating one matrix per column takes O(k³) operations in loops over rows "
        "of length k, which vectorize but are slower than a matrix product."
    ),
    "scfc": (
        "Besides the products of the floor, an iteration multiplies the change of the codes by itself, "
        "which says exactly whether a step lowers the energy: 20 of some 80 ms. The step on the codes "
        "with its projection takes as much, and so does the step on the encoder; the rest is tanh of "
        "all responses and gradients. In about one iteration of ten a step with momentum fails, and "
        "its product or projection is made again."
    ),
    "sparselda": (
        "Not profiled. A step is an accelerated descent with a projection onto the cone; the cone "
        "program has a dense matrix with a row and a column for each feature."
    ),
    "grow": (
        "The smallest size fits into the cache and the largest does not, which adds to the "
        "exponent."
    ),
    "custom": (
        "Nearly all the time is spent in the cone solver, on both sides. What conicnmf adds is "
        "recognizing the model and canonicalization."
    ),
    "anyconvex": (
        "Both sides solve one cone program for W in each iteration, which is most of the time. "
        "conicnmf saves the compilation and the program for H; with counts, it also saves an "
        "exponential cone for each entry of the data. With masks, the programs of the cone path "
        "have the size of the factor as well."
    ),
    "terms": (
        "At 200×500 an iteration takes one to two milliseconds, mostly Python calls of proximal "
        "steps. At 2000² half of it is the two products with V. Terms that link components (l2,1 "
        "over features, nuclear norm, sum of a factor) need up to fifty rounds of splitting for "
        "each update. The two sides may end in different local minima."
    ),
    "unmix": (
        "Half of an iteration is the two products with V, which are limited by reading V, and a "
        "quarter is the active sets of the samples. With smooth spectra, ten updates of each "
        "component, each a banded system and a few NumPy calls, take as long as the samples."
    ),
    "masks": (
        "With 70 % observed, hidden entries are filled in: half of an iteration is matrix products, a "
        "fifth is compiled passes over the data, the mask and the model, and the ten sweeps take a "
        "twentieth. With 1 % observed, each column has its own system: building these systems and "
        "finding their active sets take a third each, and the rest unpacks and scales a Gram matrix"
        " for each column."
    ),
    "blocks": (
        "A known matrix between two factors makes components similar and the Gram matrix of the "
        "block nearly singular, so component-wise steps need up to ten times as many sweeps. Exact "
        "steps (ANLS) take about as long."
    ),
    "rivals": (
        "If a block is solved as you wrote it, CVXPY builds a cone program for each step, as dbcp "
        "does. conicnmf then needs fewer steps, but a step takes as long. With exponential cones "
        "(bilinear logistic, hidden states) nearly all the time is spent in the cone solver."
    ),
    "default": (
        "Where another solver ends lower, it is in another basin: a few iterations of a race do not"
        ' show which of two runs will end lower. `effort="normal"` races more starts. The largest gaps'
        " are those of Huber's loss and absolute values on a spectrogram, whose entries differ by"
        " orders of magnitude: solvers end in different basins there, and without bounds on"
        " sparseness there is no race."
    ),
    "basins": (
        "The race drops runs by their objective after a few iterations, and occasionally it drops "
        "the one that would have ended lowest."
    ),
    "first": (
        "Half is imports (CVXPY, Numba, SciPy) and the work itself. The rest is compiling two "
        "descent kernels and the search for the best direction in a band; half of that is Numba's "
        "analysis of Python code, so the optimization level hardly matters."
    ),
    "compile": (
        "The first case is in wall time. "
        "There are 85 functions of 0.1 to 3 s each, half in Numba's type inference and half in "
        "LLVM, and 1.5 s for the first use of the compiler; two processes also need 2.5 s for their"
        " imports. All kernels are counted. A plain NMF needs two of them, a tenth of the time."
    ),
    "memory": (
        "The peak is reached when a factor is extrapolated. At that moment the current and the "
        "previous iterate, the points they were extrapolated from and a temporary array are in "
        "memory."
    ),
    "outofcore": (
        "Each step copies every strip from the file and scales it; another thread reads the next "
        "strip at the same time."
    ),
    "dask": (
        "A step asks the workers once, which takes about 4 ms of processor time over all processes."
        " The rest is the work that a single process would do, strip by strip."
    ),
    "streams": (
        "For each batch, exact codes are computed five times, each time followed by ten sweeps over"
        " the components. The codes take most of the time."
    ),
}
"""One or two sentences for each benchmark."""
