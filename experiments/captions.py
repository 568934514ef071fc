"""What the pictures of the experiments show, a sentence or two for each."""

from __future__ import annotations

CAPTIONS = {
    "heiler-cbcl/basis_plain": "Parts of faces without a bound on sparseness.",
    "heiler-cbcl/basis_sparse_h": "Parts of faces with a lower bound on the sparseness of H.",
    "heiler-cbcl/basis_sparse_w": "Parts of faces with a lower bound on the sparseness of W.",
    "heiler-labels/errors": "Errors on test samples as the label cones become narrower (to the "
    "right). Horizontal lines are baselines without label cones.",
    "heiler-paatero/profiles": "The four profiles that were found (blue) and the true ones (dashed), "
    "without and with a bound on sparseness.",
    "heiler-quantization/binary_faces": "Images of binary codes: each coefficient is 0 or 1. "
    "25 of the 64 codes are shown for each method, each image on its own scale.",
    "heiler-quantization/quantization": "Error of the reconstruction when each coefficient may take "
    "only k values.",
    "heiler-sparse-pca/loadings": "Loadings of three components on ten variables: orange is positive, "
    "blue is negative. Lines separate the three hidden factors.",
    "heiler-table3/errors": "Reconstruction error for each level of sparseness: measured (left) and "
    "published (right).",
    "heiler-table3/times": "Mean time of a run for each level of sparseness; dashed lines are the "
    "published times of 2005.",
    "hoyer-bars/bars": "The true features, twelve images made from them, and the features that "
    "three methods found.",
    "ohanlon-table1/convergence": "Similarity of the learned and the true dictionary after each "
    "round, for three densities of the codes. The dotted line is at 0.95.",
    "thom-gabor/filters": "Pairs of a filter (left) and the Gabor function that fits it best (right), "
    "from the best correlation to the worst. Orange is positive, blue is negative.",
    "thom-grid/errors": "Test error in percent for each pair of sparseness levels.",
    "thom-grid/scatter": "Test error and reconstruction error of each pair of sparseness levels. "
    "The best classifiers do not have the best reconstruction.",
    "thom-mnist/filters": "The first filters of digits. Orange is positive, blue is negative; most are "
    "strokes.",
    "thom-supervised/filters": "Filters learned without a teacher (first three rows) and with one "
    "(last three rows). Orange is positive, blue is negative.",
    "thom-thousand/supervised": "Filters learned with a teacher, from the banks of all classes. "
    "Orange is positive, blue is negative.",
    "thom-thousand/unsupervised": "Filters learned without a teacher. Orange is positive, blue is "
    "negative.",
    "yang-filters/filters": "Filters that detect glasses and facial hair. Orange is positive, blue is "
    "negative.",
    "yang-orthogonality/basis_nlhn": "Parts learned by the non-negative linear Hebbian network.",
    "yang-orthogonality/basis_nlhn_online": "The same network, which sees one face at a time.",
    "yang-orthogonality/basis_nmf": "Parts learned by NMF.",
    "yang-orthogonality/basis_pca": "Principal components. Orange is positive, blue is negative.",
    "yang-orthogonality/basis_projective_nmf": "Parts learned by projective NMF.",
    "yang-orthogonality/orthogonality": "Orthogonality of the parts during learning: 1 means that no "
    "two parts overlap. Each line is one start.",
    "yang-ranking/top_and_bottom": "The faces with the largest weights (top) and the smallest ones "
    "(bottom) under each method.",
}
"""By experiment and name of the picture; ``filters`` stands for ``filters-0.5`` and the like."""


def caption(experiment: str, picture: str) -> str:
    """Return the caption of a picture, or nothing where there is none.

    Examples
    --------
    >>> caption("thom-mnist", "filters-10000")[:17]
    'The first filters'
    >>> caption("thom-mnist", "other")
    ''
    """
    kind = picture.partition("-")[0]
    return CAPTIONS.get(f"{experiment}/{picture}", CAPTIONS.get(f"{experiment}/{kind}", ""))
