"""drop-idle-loops: what collective operations went along is no loop when they are folded away."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..fusion.generic import COLLECTIVE, COLLECTIVE_MARK
from ..fusion.split import split
from ..pass_base import Pass, register
from ..walking import operations_where


@register
@dataclass(frozen=True)
class DropIdleLoops(Pass):
    """Lets results of collective operations that were folded away go along loops of their own only.

    Where another loop has no iterations, they would not be written. Comes last of the passes that
    fuse, takes what `hir.collective` marks, and the mark itself.

      linalg.generic {indexing_maps = [#all, (d0, d1) -> (d0), #all],
                      iterator_types = ["parallel", "reduction"]}
          ins(%x : tensor<?x?xi64>) outs(%d, %e : tensor<?xi64>, tensor<?x?xi64>)
          attrs = {hir.collective} {
      ^bb0(%a: i64, %o: i64, %p: i64):
        %s = arith.addi %a, %a : i64
        linalg.yield %zero, %s : i64, i64
      }
    becomes
      linalg.generic {indexing_maps = [(d0) -> (d0)], iterator_types = ["parallel"]}
          outs(%d : tensor<?xi64>) {
      ^bb0(%o: i64):
        linalg.yield %zero : i64
      }
      linalg.generic {indexing_maps = [#all, #all], iterator_types = ["parallel", "parallel"]}
          ins(%x : tensor<?x?xi64>) outs(%e : tensor<?x?xi64>) {
      ^bb0(%a: i64, %p: i64):
        %s = arith.addi %a, %a : i64
        linalg.yield %s : i64
      }
    """

    name: ClassVar[str] = "drop-idle-loops"

    def run(self, op: ir.Operation) -> None:
        # One may lie in the region of another.
        for found in reversed(
            operations_where(op, lambda inner: COLLECTIVE_MARK in inner.attributes)
        ):
            del found.attributes[COLLECTIVE_MARK]
            if not operations_where(found, lambda inner: inner.name in COLLECTIVE):
                split(found)
