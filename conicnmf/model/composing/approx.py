"""`Approx`: data, and the products that approximate them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Annotated, Any

from conicnmf.model.composing.text import Product, read_text
from conicnmf.model.known import as_loss
from conicnmf.model.losses import Frobenius
from conicnmf.model.names import labels_of
from conicnmf.model.terms import Loss
from conicnmf.settings import AS_GIVEN, Positive, checks_arguments
from conicnmf.types import Data
from conicnmf.validate import as_data


@dataclass(frozen=True, eq=False, init=False, repr=False)
class Approx:
    """V ≈ a sum of products, by a loss; `compose` puts several of them together.

    Parameters
    ----------
    V : array or sparse matrix
    model : str
        As in NumPy: ``"W @ H"``, ``"W @ S @ H"``, ``"W.T @ H"``, ``"D @ W @ H + b @ 1"``. The name 1
        is a row or a column of ones. ``"M * W @ H"`` multiplies W by a constant M entry by entry.
    loss : Loss or str, optional
        Squared Frobenius by default; a name means the loss with its default settings.
    weight : float
        What the loss is multiplied by.
    name : str, optional
        What V is called in errors and reports; V, or V1, V2, … by default.

    Examples
    --------
    >>> import numpy as np, conicnmf as cn
    >>> cn.Approx(np.ones((5, 4)), "W @ H + b @ 1", weight=0.5)
    V (5 × 4) ≈ W @ H + b @ 1 by Frobenius(scale=0.5)
    """

    V: Data
    model: str
    loss: Loss
    name: str
    products: tuple[Product, ...]
    labels: tuple[Any, Any]

    @checks_arguments
    def __init__(
        self,
        V: Any,
        model: str,
        *,
        loss: Annotated[Loss | str | None, AS_GIVEN] = None,
        weight: Positive = 1.0,
        name: str = "",
    ) -> None:
        data = as_data(V)
        chosen = Frobenius() if loss is None else as_loss(loss)
        chosen.check(data.shape)
        chosen.check_data(data, name or "V")
        values = (
            data,
            model,
            weighted(chosen.plainest, weight),
            name,
            read_text(model),
            labels_of(V),
        )
        for field, value in zip(self.__dataclass_fields__, values, strict=True):
            object.__setattr__(self, field, value)

    def __repr__(self) -> str:
        rows, columns = self.V.shape
        return f"{self.name or 'V'} ({rows} × {columns}) ≈ {self.model} by {self.loss}"


def weighted(loss: Loss, weight: float) -> Loss:
    """Return a multiple of a loss.

    Examples
    --------
    >>> weighted(Frobenius(2.0), 0.5)
    Frobenius(scale=1)
    """
    return loss if weight == 1 else loss.times(float(weight))
