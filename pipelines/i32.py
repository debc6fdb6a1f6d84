"""Numbers of 32 bits, in which kernels count threads and places."""

from __future__ import annotations

from ..dialects.mlir import arith, gpu, ir
from .rewriting import constant


def i32() -> ir.Type:
    """Returns their type."""
    return ir.IntegerType.get_signless(32)


def i32_constant(value: int) -> ir.Value:
    """Returns a constant."""
    return constant(i32(), value)


def narrow(index: ir.Value) -> ir.Value:
    """Returns an index, which is not negative, as a number."""
    return arith.index_castui(i32(), index)


def as_index(value: ir.Value) -> ir.Value:
    """Returns a number, which is not negative, as an index."""
    return arith.index_castui(ir.IndexType.get(), value)


def is_below(one: ir.Value, other: ir.Value) -> ir.Value:
    """Returns whether one number is less than another, without signs."""
    return arith.cmpi(arith.CmpIPredicate.ult, one, other)


def thread_in_block() -> ir.Value:
    """Returns the number of the thread along x in its block."""
    return narrow(gpu.thread_id(gpu.Dimension.x))


def block_in_grid() -> ir.Value:
    """Returns the number of the block along x."""
    return narrow(gpu.block_id(gpu.Dimension.x))
