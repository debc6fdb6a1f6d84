"""hir.reuse: a fresh buffer in the memory of another."""

from __future__ import annotations

from ....dialects.hir import ReuseOp
from ....dialects.mlir import ir
from .buffers import allocated_address, pack
from .memory import fill_with_zeros, planned
from .registry import lowers
from .state import ProgramState


@lowers("hir.reuse")
def lower_reuse(op: ReuseOp, state: ProgramState) -> list[ir.Value]:
    """Begins where the memory of the storage begins."""
    kind = ir.MemRefType(op.buffer.type)
    memory = planned(state, op, kind, list(op.sizes))
    address = allocated_address(state, op.storage)
    if "zero_init" in op.attributes:
        fill_with_zeros(state, address, memory.bytes)
    return [pack(state, kind, address, address, memory.sizes, memory.strides)]
