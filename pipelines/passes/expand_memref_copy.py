"""expand-memref-copy: copies in kernels become loops."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from ...dialects.mlir import ir, memref, scf
from ...dialects.records import dataclass
from ..pass_base import Pass, fail, register
from ..rewriting import index_constant, rewrite_each


@register
@dataclass(frozen=True)
class ExpandMemrefCopy(Pass):
    """Turns memref.copy into loops over the elements, all run by the thread that executes it.

    Upstream lowers a copy of strided buffers to a function of the host's runtime, which kernels
    do not have, and one of packed buffers to a memcpy of unknown alignment, which goes byte by
    byte.

      memref.copy %a, %b : memref<4xf32> to memref<4xf32, strided<[2]>>
    becomes
      scf.for %i = %c0 to %c4 step %c1 { memref.store (memref.load %a[%i]), %b[%i] }
    """

    name: ClassVar[str] = "expand-memref-copy"
    subjects: ClassVar[tuple[str, ...]] = ("memref.copy",)

    def run(self, op: ir.Operation) -> bool:
        return rewrite_each(op, {"memref.copy": _expand})


def _expand(op: ir.Operation) -> Sequence[ir.Value]:
    source, target = op.operands
    for buffer in (source, target):
        if not isinstance(buffer.type, ir.MemRefType):
            fail(op, f"a kernel cannot copy {buffer.type}; memref.cast it to a ranked type")
    zero, one = index_constant(0), index_constant(1)
    sizes = [
        memref.dim(source, index_constant(axis)) for axis in range(ir.MemRefType(source.type).rank)
    ]
    _copy(source, target, zero, one, sizes, [])
    return []


def _copy(
    source: ir.Value,
    target: ir.Value,
    zero: ir.Value,
    one: ir.Value,
    sizes: Sequence[ir.Value],
    position: list[ir.Value],
) -> None:
    """The loops over the dimensions that `position` does not fix yet."""
    if len(position) == len(sizes):
        memref.store(memref.load(source, position), target, position)
        return
    loop = scf.ForOp(zero, sizes[len(position)], one)
    with ir.InsertionPoint(loop.body):
        _copy(source, target, zero, one, sizes, [*position, loop.induction_variable])
        scf.YieldOp([])
