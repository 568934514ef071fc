"""Autoencoders with sparse codes: SCFC, and what it is compared with."""

from __future__ import annotations

from conicnmf.autoencoders.batches import MiniBatch
from conicnmf.autoencoders.exact_codes import ExactCodes
from conicnmf.autoencoders.fast_codes import FastCodes
from conicnmf.autoencoders.inputs import standardize
from conicnmf.autoencoders.nmfsc import NMFSC, code_norms, infer_exact
from conicnmf.autoencoders.psd import PredictiveCodes
from conicnmf.autoencoders.scfc import SCFC
from conicnmf.autoencoders.schedules import Approach, Ramp
from conicnmf.autoencoders.sesm import SymmetricMachine
from conicnmf.autoencoders.transfer import encode
from conicnmf.autoencoders.windows import windows

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
