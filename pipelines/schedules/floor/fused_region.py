"""A fused linalg.generic inside of its kernel: operands' elements, sizes, values from outside."""

from __future__ import annotations

from collections.abc import Mapping

from ....dialects.mlir import ir, memref
from ....dialects.records import dataclass
from ..iteration import Iteration
from .dependence import Dependence
from .points import applied


@dataclass(frozen=True)
class FusedRegion:
    """An operation, and what stands in the kernel for its operands.

    `extents` are the loops' numbers of iterations; `outside` maps what the region takes from
    outside to the kernel's arguments.
    """

    op: ir.Operation
    iteration: Iteration
    dependence: Dependence
    buffers: list[ir.Value]
    extents: list[ir.Value]
    outside: Mapping[ir.Value, ir.Value]

    @property
    def yielded(self) -> list[ir.Value]:
        """What the outputs' elements become."""
        return list(list(self.op.regions[0].blocks[0])[-1].operation.operands)

    def load(self, operand: int, indices: Mapping[int, ir.Value]) -> ir.Value:
        """Emits an operand's element, where the loops that its map uses have these indices."""
        buffer = self.buffers[operand]
        if not isinstance(buffer.type, ir.MemRefType):
            return buffer
        return memref.load(buffer, self._place(operand, indices))

    def store(self, output: int, value: ir.Value, indices: Mapping[int, ir.Value]) -> None:
        """Emits the store of an output's element."""
        operand = self.iteration.inputs + output
        memref.store(value, self.buffers[operand], self._place(operand, indices))

    def _place(self, operand: int, indices: Mapping[int, ir.Value]) -> list[ir.Value]:
        map_ = self.iteration.maps[operand]
        return [applied(expression, map_.n_dims, indices) for expression in map_.results]
