"""Problems of any shape from terms: data, each with its model as a short text, put together."""

from conicnmf.model.composing.approx import Approx
from conicnmf.model.composing.compose import compose, composed

__all__ = ["Approx", "compose", "composed"]
