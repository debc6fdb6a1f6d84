"""widen-term-rows: rows of terms that contractions read begin with sectors of the caches."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..contractions.rows import widen_term_rows
from ..fusion.tiles import ROUNDED, TILES
from ..pass_base import Pass, register
from ..schedules.device import device_of_option
from ..walking import operations_where


@register
@dataclass(frozen=True)
class WidenTermRows(Pass):
    """Lets contractions whose terms are no multiple of 16 bytes be read by the copy engine (TMA).

    What computes a factor writes it to wider rows; inputs are copied to such rows where that pays.
    Rows of two factors that are computed end with zeros, up to a whole step of terms, where these
    take less time than steps that go beyond rows.
    It is for the tensor cores of chips whose warpgroups multiply, and comes when operations are
    fused: identities are copies here. `chips`, joined by `+`, are those that the program is built
    for.

      %t = linalg.generic {...} ins(%x) outs(%e : tensor<8x30x30x78xbf16>)
    becomes
      %f = tensor.empty() : tensor<8x30x30x80xbf16>
      %s = tensor.extract_slice %f[0, 0, 0, 0] [8, 30, 30, 78] [1, 1, 1, 1] : ...
      %t = linalg.generic {...} ins(%x) outs(%s : tensor<8x30x30x78xbf16>)
    """

    name: ClassVar[str] = "widen-term-rows"

    chips: str = ""

    def run(self, op: ir.Operation) -> None:
        if device_of_option(self.chips).has_warpgroup_products:
            for found in operations_where(op, lambda inner: TILES in inner.attributes):
                widen_term_rows(found, is_rounded=ROUNDED in found.attributes)
