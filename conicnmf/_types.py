"""Names for the arrays that travel through the package."""

from __future__ import annotations

from typing import Any, TypeAlias

import numpy as np
import scipy.sparse as sp
from numpy.typing import NDArray

Array: TypeAlias = NDArray[np.floating[Any]]
Data: TypeAlias = Array | sp.csr_array[Any]
