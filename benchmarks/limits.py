"""Where the time goes, benchmark by benchmark, and how near the machine's limit that is.

The page of results shows them under the tables. Most were profiled with one thread at 2.8 GHz, where
matrix products reach 43 GF/s and products with CSR data 2.1 GF/s.
"""

from __future__ import annotations

LIMITS = {
    "floor": (
        "An iteration also sweeps over the components, measures the objective and looks whether to "
        "stop. Factors of few columns are bound by reading the data, not by arithmetic."
    ),
    "step": (
        "A native W-step is the product H Vᵀ and a descent on 4 components; what is left to win is "
        "the product, 2 Mflop that wait for 2 MB of data."
    ),
    "tgp": (
        "Of an iteration, a third is the two products with V (4 rows wide, so bound by reading V at "
        "5 GF/s), a fifth the compiled descent, and the rest NumPy calls on arrays of 4×256, a few "
        "microseconds each, that move planes and measure the iterate."
    ),
    "nmfsc": (
        "Half of a HALS iteration on 1000 digits is the two products with V, which NMFSC makes too: "
        "the ratio is bound by the ratio of iterations (about 14 at s = 0.6, 29 at s = 0.3)."
    ),
    "sparse": (
        "Time is no limit here: all methods settle within it, and the differences are those of "
        "the local minima they settle in."
    ),
    "nmf": (
        "On TDT2 half of an iteration's 110 ms are the two products with the sparse data, at 3 GF/s, "
        "which scikit-learn makes too, a fifth the sweeps, and the rest passes over the factors. "
        "On CBCL the products run at 39 GF/s and take 30 % of an iteration, the three sweeps the rest."
    ),
    "kl": (
        "On a generated spectrogram of 400×500, r = 8, two thirds of an iteration are the passes that "
        "divide the data by the model and multiply back, about half of that in two products with 8 "
        "columns; a sixth is the objective, the rest momentum and small arrays."
    ),
    "beta": (
        "On a generated spectrogram of 400×500, r = 8, three quarters of an iteration are the passes "
        "that make the two parts of the gradient, half of that divisions, and a twentieth is the "
        "objective. Which local minimum is found depends on the start more than on the method."
    ),
    "robust": (
        "For Huber's loss three fifths of an iteration are three passes that make the model, cut its "
        "residuals off and multiply back, a third of that in both products and in the cutting each; "
        "finding an answer at all (the start, the units, measuring the result) takes about as long as "
        "four iterations of some twenty. "
        "For magnitudes half of an iteration are passes over the residuals, which make weights and "
        "measure the loss, a fifth Gram matrices of every sample and every feature, and an eighth the "
        "search for active sets, which a rival that clips its solutions saves."
    ),
    "klsparse": (
        "Not profiled. The cone path's program has an exponential cone for each entry of the data, and "
        "its solver gives up on some of them."
    ),
    "proj": (
        "A row of 10⁶ entries takes 10 ms: four passes over 8 MB, one of them after a sieve, at 3 to "
        "4 GB/s of the 13 GB/s that a copy reaches. Short rows wait for NumPy calls, 20 µs together."
    ),
    "nnls": (
        "Three quarters are the active-set search. With 20 atoms, 8 of them active, entering the "
        "right ones into a Cholesky factor alone takes 60 % of the time. With 400 atoms the "
        "gradients dominate: about twenty for each column, each reads the active rows of a Gram "
        "matrix of 1.3 MB, which is as large as the second-level cache."
    ),
    "l0": (
        "Inverting and down-dating one matrix per column takes O(k³) flops in loops over rows of "
        "length k, which vectorize but do not reach the speed of a matrix product."
    ),
    "scfc": (
        "An iteration has 560 ms of products and 330 ms of other work: 100 to project rows of codes, "
        "80 for two times tanh of all responses, the rest for gradients and energies. All are single "
        "passes over arrays of 46 MB and wait for memory as much as they compute. A step that "
        "is tried again costs a product and a projection more, in about half of the iterations."
    ),
    "sparselda": (
        "Not profiled. A step is an accelerated descent with the projection on the cone; the rival is "
        "a second-order cone program with a dense matrix of the size of the features."
    ),
    "grow": "The smallest size fits a cache and the largest does not, which adds to the exponent.",
    "custom": (
        "Nearly all the time is the cone solver's; what is ours is canonicalization and recognition."
    ),
    "anyconvex": (
        "Both sides solve one cone program for W in each iteration, and that is most of the time. "
        "What is saved is compiling, the program of H, and with counts the size: exponential cones for "
        "each entry of the data. With masks the rival's programs are of the factor's size too."
    ),
    "terms": (
        "At 200×500 an iteration takes one to two milliseconds, most of it Python calls of one "
        "proximal step after the other. At 2000² the two products with V take a half. Terms that tie "
        "components together (l2,1 over features, nuclear, whole sums) take up to fifty rounds of "
        "copies a visit. A factor may fall into another local minimum than the rival's."
    ),
    "unmix": (
        "Of an iteration, the two products with V, four rows wide and bound by reading V, take a half, "
        "the active sets of the samples a quarter. With smooth spectra, ten visits of the components, "
        "each a banded system and a few NumPy calls, take as long as the samples."
    ),
    "masks": (
        "With 70 % observed, what is hidden is filled in: of an iteration, two fifths are products of "
        "the model and of its residuals, at the speed of matrix products, and half are passes over the "
        "data, the mask and the residuals; the sweeps take a fiftieth. With 1 % observed each column "
        "has its own system: making these systems and their active sets take a third each, and the "
        "rest unpacks and scales a Gram matrix for each column."
    ),
    "blocks": (
        "A known matrix between two factors makes components alike, and the block's Gram matrix nearly "
        "singular: component-wise steps then take up to ten times as many sweeps of each block. "
        "Exact steps (ANLS) take about as long."
    ),
    "rivals": (
        "Where blocks are solved as they are written, each step is a program that CVXPY builds again "
        "for a cone solver, as the rival does; what is saved are steps, not the time of one. "
        "With exponential cones (bilinear logistic, hidden states) nearly all of it is the solver's."
    ),
    "default": (
        "Where the choice loses, it is to another basin: a few laps of a race do not show which of two "
        "runs ends lower. More effort races more starts."
    ),
    "basins": (
        "The race drops runs by their objective after a few iterations, and now and then the one "
        "that would have ended lowest."
    ),
    "first": (
        "Half is imports (CVXPY, numba, SciPy) and the work itself. Of the rest, two descents "
        "and the search for the best direction in a band, half is numba's passes over Python code; the "
        "optimizer's level hardly matters."
    ),
    "compile": (
        "85 functions of 0.1 to 3 s each, half in numba's type inference and half in LLVM, and 1.5 s "
        "for the first use of the compiler; with two processes, also 2.5 s for their imports. All "
        "kernels are counted; a plain NMF needs two of them, a tenth of the time."
    ),
    "memory": (
        "The peak is reached when a factor is extrapolated: the iterate, the one before, the points "
        "both were extrapolated from and a temporary of the factor's size are alive then."
    ),
    "outofcore": (
        "Every strip is copied from the file and brought into units of one once a step; "
        "the next one is read meanwhile by another thread."
    ),
    "dask": (
        "A step asks the workers once, for about 4 ms of processor time of all processes together; "
        "beyond it the work is that of one process, strip by strip."
    ),
    "streams": (
        "Exact codes of a batch are found five times, each followed by ten sweeps over the components; "
        "the codes take most of it."
    ),
}
"""One or two sentences for each benchmark."""
