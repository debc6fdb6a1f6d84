"""Kernels that a program launches."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypeVar

from ...mlir import ir
from ...records import dataclass
from .errors import BuildError
from .sizes import Size

_Extent = TypeVar("_Extent", bound=int | Size)


@dataclass(frozen=True)
class Kernel:
    """A gpu function, or a hir.kernel that names one: its symbol's path and its parameters' types.

    `block` and `shared_bytes` are those of its launches, where it states them.
    """

    path: tuple[str, ...]
    parameters: tuple[ir.Type, ...]
    block: tuple[int, ...] | None = None
    shared_bytes: int = 0

    @property
    def name(self) -> str:
        """The symbol as the text has it."""
        return "::".join(f"@{part}" for part in self.path)


class Kernels(dict[str, Kernel]):
    """The kernels of a gpu.module, by name."""

    def __missing__(self, name: str) -> Kernel:
        known = ", ".join(self) or "none"
        raise BuildError(f"the gpu.module has no kernel {name!r}; it has {known}")


def three_sizes(what: str, sizes: _Extent | Sequence[_Extent]) -> list[_Extent | int]:
    """Returns the sizes of a grid, block or cluster; 1 where there are fewer than three."""
    given = list(sizes) if isinstance(sizes, Sequence) else [sizes]
    if not 1 <= len(given) <= 3:
        raise BuildError(f"{what} has one to three sizes, not {len(given)}")
    return [*given, *[1] * (3 - len(given))]
