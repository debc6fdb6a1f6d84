"""When convolutions call cuDNN."""

from __future__ import annotations

from ...dialects.records import dataclass


@dataclass(frozen=True)
class ConvolutionOptions:
    """Whether convolutions call the `library`, all that it can compute.

    With `falls_back` only those for which it takes less time do, and kernels take its place where
    it is not there. `transforms` lets it multiply what is transformed where elements are f32.
    """

    library: bool = False
    falls_back: bool = False
    transforms: bool = False

    @property
    def is_for_all(self) -> bool:
        """Whether the library computes every convolution that it can."""
        return self.library and not self.falls_back
