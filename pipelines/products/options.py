"""When matrix products call cuBLASLt."""

from __future__ import annotations

from dataclasses import dataclass

# Products with fewer multiplications are kernels of ours: a call costs more than they take.
LEAST_MULTIPLICATIONS = 1 << 15


@dataclass(frozen=True)
class MatmulOptions:
    """Whether matrix products call the library, and what it may do.

    `allow_tf32` lets it round f32 operands to tf32.
    """

    library: bool = False
    allow_tf32: bool = False
    least_multiplications: int = LEAST_MULTIPLICATIONS
