"""What the tests of kernels share."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from support.cpu_kernels import Kernels

# Builds the kernels of a file of kernels/.
Build = Callable[[str], Kernels]

KERNELS = Path(__file__).parent / "kernels"


def zeros(count: int, type_: Any = np.int32) -> NDArray[Any]:
    return np.zeros(count, type_)
