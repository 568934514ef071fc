"""scikit-learn estimators: samples are rows here, and fit, transform and pipelines work as usual."""

from conicnmf.estimators.autoencoders import SCFC, SCFCClassifier
from conicnmf.estimators.discriminants import NonNegativeKernelFDA, NonNegativeLDA
from conicnmf.estimators.factorizer import Factorizer
from conicnmf.estimators.function import non_negative_factorization
from conicnmf.estimators.l0_nmf import L0NMF
from conicnmf.estimators.minibatch_nmf import MiniBatchNMF
from conicnmf.estimators.nmf import NMF
from conicnmf.estimators.projections import HebbianNMF, ProjectiveNMF
from conicnmf.estimators.rivals import NMFSC, PSD, SESM
from conicnmf.estimators.sparse_coding import NonNegativeSparseCoding
from conicnmf.estimators.sparse_nmf import SparseNMF
from conicnmf.estimators.sparse_pca import SparsePCA

__all__ = [
    "L0NMF",
    "NMF",
    "NMFSC",
    "PSD",
    "SCFC",
    "SESM",
    "Factorizer",
    "HebbianNMF",
    "MiniBatchNMF",
    "NonNegativeKernelFDA",
    "NonNegativeLDA",
    "NonNegativeSparseCoding",
    "ProjectiveNMF",
    "SCFCClassifier",
    "SparseNMF",
    "SparsePCA",
    "non_negative_factorization",
]
