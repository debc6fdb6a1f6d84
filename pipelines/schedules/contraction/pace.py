"""Results that are computed few at a time, while another warpgroup's products run.

Of instructions of f32 that do not wait for each other, four or more in a row take the registers
that products by warpgroups read: each costs the tensor cores 0.9 cycles (H200). Three or fewer take
none of their time, and a fourth of the rate that they have alone. The assembler begins as many as
it can, so that results wait here for earlier ones, by a word of which no bit is used.
"""

from __future__ import annotations

from ....dialects.mlir import arith, gpu, ir
from ...i32 import i32
from ..elements import WORD_BYTES, element_bytes
from .indices import number

# So many pairs of results are computed at a time: of one, two and three the fastest.
_AT_ONCE = 2


class Pace:
    """Makes pairs of results wait for earlier ones, in the order in which they are computed."""

    def __init__(self) -> None:
        # The assembler does not know that grids have one layer.
        layers = arith.index_castui(i32(), gpu.grid_dim(gpu.Dimension.z))
        self._zero = arith.subi(layers, number(1))
        self._made: list[ir.Value] = []

    def after_earlier(self, sums: list[ir.Value]) -> list[ir.Value]:
        """Returns the sums of the next pair, as they are once an earlier pair has been made."""
        if len(self._made) < _AT_ONCE:
            return sums
        nothing = arith.andi(self._made[-_AT_ONCE], self._zero)
        return [_bits(arith.xori(_bits(each, i32()), nothing), each.type) for each in sums]

    def add(self, value: ir.Value) -> None:
        """Takes note of what was made of a pair."""
        bits = ir.IntegerType.get_signless(8 * element_bytes(value.type))
        word = _bits(value, bits)
        if bits != i32():
            resized = arith.extui if element_bytes(value.type) < WORD_BYTES else arith.trunci
            word = resized(i32(), word)
        self._made.append(word)


def _bits(value: ir.Value, kind: ir.Type) -> ir.Value:
    return value if value.type == kind else arith.bitcast(kind, value)
