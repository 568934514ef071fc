"""Autoencoders with sparse codes: SCFC, and what it is compared with."""

from __future__ import annotations

from conicnmf.families.autoencoders.batches import MiniBatch
from conicnmf.families.autoencoders.exact_codes import ExactCodes
from conicnmf.families.autoencoders.fast_codes import FastCodes
from conicnmf.families.autoencoders.inputs import standardize
from conicnmf.families.autoencoders.nmfsc import NMFSC, code_norms, infer_exact
from conicnmf.families.autoencoders.psd import PredictiveCodes
from conicnmf.families.autoencoders.scfc import SCFC
from conicnmf.families.autoencoders.schedules import Approach, Ramp
from conicnmf.families.autoencoders.sesm import SymmetricMachine
from conicnmf.families.autoencoders.transfer import encode
from conicnmf.families.autoencoders.windows import windows
from conicnmf.solve.methods.base import register_solvers

__all__ = [
    "NMFSC",
    "SCFC",
    "Approach",
    "ExactCodes",
    "FastCodes",
    "MiniBatch",
    "PredictiveCodes",
    "Ramp",
    "SymmetricMachine",
    "code_norms",
    "encode",
    "infer_exact",
    "standardize",
    "windows",
]

register_solvers(NMFSC, SCFC, MiniBatch)
