"""Autoencoders with sparse codes: SCFC, and what it is compared with."""

from __future__ import annotations

from conicnmf.families.autoencoders.batches import MiniBatch
from conicnmf.families.autoencoders.exact import code_norms, exact_codes, infer_exact
from conicnmf.families.autoencoders.fast_codes import FastCodes
from conicnmf.families.autoencoders.inputs import standardize
from conicnmf.families.autoencoders.psd import PredictiveCodes
from conicnmf.families.autoencoders.scfc import SCFC
from conicnmf.families.autoencoders.schedules import Approach, Ramp
from conicnmf.families.autoencoders.sesm import SymmetricMachine
from conicnmf.families.autoencoders.transfer import encode
from conicnmf.families.autoencoders.windows import windows
from conicnmf.solve.methods.base import register_solvers

__all__ = [
    "SCFC",
    "Approach",
    "FastCodes",
    "MiniBatch",
    "PredictiveCodes",
    "Ramp",
    "SymmetricMachine",
    "code_norms",
    "encode",
    "exact_codes",
    "infer_exact",
    "standardize",
    "windows",
]

register_solvers(SCFC, MiniBatch)
