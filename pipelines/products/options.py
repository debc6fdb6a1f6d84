"""When matrix products call cuBLASLt."""

from __future__ import annotations

from ...dialects.records import dataclass

# hirc's kernel takes less time for so many multiplications than the library, on an H200.
KERNEL_MULTIPLICATIONS = 1 << 20


@dataclass(frozen=True)
class MatmulOptions:
    """Whether matrix products call the `library`, or are hirc's `own` kernels.

    `allow_tf32` lets it round f32 operands to tf32, `splits` makes products of them three of bf16,
    and `transforms` lets convolutions of them multiply what is transformed; `ignores_nan` lets it
    take a relu that makes a nan 0, where its own keeps it. Products of up to
    `kernel_multiplications`, and what else has a faster kernel (`small`), are not for it; with 0,
    all that it can compute are. With `falls_back` kernels take its place where it is not there.
    """

    library: bool = False
    allow_tf32: bool = False
    ignores_nan: bool = False
    kernel_multiplications: int = KERNEL_MULTIPLICATIONS
    own: bool = False
    falls_back: bool = False
    splits: bool = False
    transforms: bool = False

    @property
    def are_formed(self) -> bool:
        """Whether products are read as such, by the library or by a kernel of their own."""
        return self.library or self.own
