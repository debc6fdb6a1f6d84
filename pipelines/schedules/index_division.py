"""Division of indices by a size that is open until run time: a multiplication in the kernel.

(Granlund and Montgomery, "Division by invariant integers using multiplication", 1994.)
"""

from __future__ import annotations

from ...dialects.mlir import arith, gpu, ir, math
from ..rewriting import constant, index_constant
from .parameters import Parameters
from .size import OpenNumbers, Size

# The bits of what is divided.
_BITS = 31


def divided(
    number: ir.Value, size: Size, pieces: int, parameters: Parameters
) -> tuple[ir.Value, ir.Value]:
    """The quotient and the rest of an index by `size` over `pieces`, which divides it.

    The index is below 2^31.
    """
    i32, index = ir.IntegerType.get_signless(32), ir.IndexType.get()
    narrow = arith.index_castui(i32, number)
    if size.is_known:
        by = constant(i32, size.known // pieces)
        whole = arith.divui(narrow, by)
    else:
        whole = _quotient(narrow, size, pieces, parameters)
        in_pieces = arith.divui(parameters.size(size), index_constant(pieces))
        by = arith.index_castui(i32, in_pieces)
    rest = arith.subi(narrow, arith.muli(whole, by))
    return arith.index_castui(index, whole), arith.index_castui(index, rest)


def thread_number(threads: int) -> ir.Value:
    """The number (i32) of the thread that executes a kernel, whose blocks have so many.

    There are fewer than 2^31 and those of a block.
    """
    i32 = ir.IntegerType.get_signless(32)
    block = arith.index_cast(i32, gpu.block_id(gpu.Dimension.x))
    thread = arith.index_cast(i32, gpu.thread_id(gpu.Dimension.x))
    return arith.addi(arith.muli(block, constant(i32, threads)), thread)


def _quotient(number: ir.Value, size: Size, pieces: int, parameters: Parameters) -> ir.Value:
    """The product with the least number that is no less than 2^n over the divisor, shifted by n.

    n is the bits of what is divided and of the divisor, so that this number has 32.
    """
    i32, i64 = ir.IntegerType.get_signless(32), ir.IntegerType.get_signless(64)

    def divisor(open_: OpenNumbers) -> tuple[ir.Value, ir.Value]:
        """The divisor, and its bits."""
        by = arith.divui(open_.value(size), index_constant(pieces))
        by = arith.maxui(by, index_constant(1))
        found = arith.minui(arith.index_cast(i64, by), constant(i64, 2**_BITS))
        zeros = math.ctlz(arith.subi(found, constant(i64, 1)))
        return found, arith.subi(constant(i64, 64), zeros)

    def factor(open_: OpenNumbers) -> ir.Value:
        by, bits = divisor(open_)
        one = constant(i64, 1)
        most = arith.subi(arith.shli(constant(i64, 2**_BITS), bits), one)
        return arith.trunci(i32, arith.addi(arith.divui(most, by), one))

    def bits(open_: OpenNumbers) -> ir.Value:
        return arith.trunci(i32, divisor(open_)[1])

    by = parameters.computed(("factor", size, pieces), i32, factor)
    shift = parameters.computed(("bits", size, pieces), i32, bits)
    # Twice the number fills 32 bits: the upper half of the product has as many.
    twice = arith.extui(i64, arith.shli(number, constant(i32, 32 - _BITS)))
    upper = arith.shrui(arith.muli(twice, arith.extui(i64, by)), constant(i64, 32))
    return arith.shrui(arith.trunci(i32, upper), shift)
