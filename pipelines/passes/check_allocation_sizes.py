"""check-allocation-sizes: the host allocates no memory of sizes that there cannot be."""

from __future__ import annotations

import math
from functools import reduce
from typing import ClassVar

from ...dialects.hir.layout import DYNAMIC
from ...dialects.mlir import arith, ir, scf
from ...dialects.records import dataclass
from ..host.emitter import Emitter
from ..host.types import element_bytes
from ..locations import location_text
from ..pass_base import Pass, register
from ..rewriting import index_constant
from ..view_checks import checked_product
from ..walking import host_operations_where

_ALLOCATIONS = ("gpu.alloc", "memref.alloc", "memref.alloca")


@register
@dataclass(frozen=True)
class CheckAllocationSizes(Pass):
    """Ends the program where a size is negative, or the bytes of an allocation are none of an i64.

      %m = gpu.alloc (%n) : memref<?x4xf32>
    becomes
      %bytes, %high = arith.mului_extended %n, %bytes_of_4 : index
      %beyond = arith.shrui (%high or %n or %bytes), 63
      scf.if %beyond ne 0 { llvm.call @hirc_refuse(%message, %least, %greatest, %location) }
      %m = gpu.alloc (%n) : memref<?x4xf32>
    """

    name: ClassVar[str] = "check-allocation-sizes"
    subjects: ClassVar[tuple[str, ...]] = _ALLOCATIONS
    makes: ClassVar[tuple[str, ...]] = ("arith.", "scf.", "llvm.", "builtin.")

    def run(self, op: ir.Operation) -> None:
        emitter = Emitter(op)
        for inner in host_operations_where(op, _is_open):
            _check(inner, emitter)


def _is_open(op: ir.Operation) -> bool:
    return op.name in _ALLOCATIONS and DYNAMIC in ir.MemRefType(op.results[0].type).shape


def _check(op: ir.Operation, emitter: Emitter) -> None:
    kind = ir.MemRefType(op.results[0].type)
    known = math.prod(size for size in kind.shape if size != DYNAMIC)
    sizes = [value for value in op.operands if isinstance(value.type, ir.IndexType)]
    sizes = sizes[: list(kind.shape).count(DYNAMIC)]
    with op.location, ir.InsertionPoint(op):
        _, beyond = checked_product(sizes, known * element_bytes(kind.element_type))
        least, greatest = reduce(arith.minsi, sizes), reduce(arith.maxsi, sizes)
        wrong = arith.cmpi(arith.CmpIPredicate.ne, beyond, index_constant(0))
        test = scf.IfOp(wrong)
        with ir.InsertionPoint(test.then_block):
            end = scf.YieldOp([])
    shape = "x".join("?" if size == DYNAMIC else str(size) for size in kind.shape)
    message = (
        f"{op.name} of {shape}x{kind.element_type}: of its sizes, from %lld to %lld, one is "
        "negative, or they make more than 2^63 - 1 bytes"
    )
    emit = emitter.at(end.operation)
    numbers = [emit.convert(value) for value in (least, greatest)]
    position = location_text(op.location)
    emit.call("hirc_refuse", [emit.string(message), *numbers, emit.string(position)])
