"""tanh of a row in compiled loops: a quotient of polynomials in single precision."""

from __future__ import annotations

import math

from conicnmf.geometry.compilers import inlined
from conicnmf.types import Array


@inlined
def write_tanh(p: Array, shift: float, slope: float, out: Array) -> None:
    """Write tanh(slope·(p + shift)) to `out`.

    In single precision it is within 3e-7, by arithmetic that compilers turn into vectors; in double it
    is math.tanh. The quotient is the one of Eigen's ptanh.

    Examples
    --------
    >>> import numpy as np
    >>> out = np.empty(2)
    >>> write_tanh(np.array([1.0, 2.0]), -1.0, 0.5, out)
    >>> out.round(3)
    array([0.   , 0.462])
    """
    kind = p.dtype.type
    s, b = kind(shift), kind(slope)
    if p.itemsize > 4:
        for i in range(p.size):
            out[i] = math.tanh(b * (p[i] + s))
        return
    end = kind(7.9)  # beyond it tanh is 1 in single precision
    a13, a11, a9 = (
        kind(-2.76076847742355e-16),
        kind(2.00018790482477e-13),
        kind(-8.60467152213735e-11),
    )
    a7, a5 = kind(5.12229709037114e-08), kind(1.48572235717979e-05)
    a3, a1 = kind(6.37261928875436e-04), kind(4.89352455891786e-03)
    b6, b4 = kind(1.19825839466702e-06), kind(1.18534705686654e-04)
    b2, b0 = kind(2.26843463243900e-03), kind(4.89352518554385e-03)
    for i in range(p.size):
        x = b * (p[i] + s)
        # Comparisons that a NaN fails keep it.
        x = end if x > end else x
        x = -end if x < -end else x
        y = x * x
        above = (((((a13 * y + a11) * y + a9) * y + a7) * y + a5) * y + a3) * y + a1
        out[i] = x * above / (((b6 * y + b4) * y + b2) * y + b0)
