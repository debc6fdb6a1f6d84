"""normalize-tensor-operations: linalg on tensors in the one form that fusion works on."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..fusion.generalize import generalize
from ..fusion.generic import GENERIC, has_tensors_only, outs_of
from ..fusion.nested_reductions import merge_nested
from ..fusion.normalize import normalize, reduces_nothing
from ..fusion.scans import SCAN, scan_generic
from ..fusion.split_windows import split_windows
from ..pass_base import Pass, register
from ..walking import operations_where


@register
@dataclass(frozen=True)
class NormalizeTensorOperations(Pass):
    """Brings elementwise operations and reductions into one form of linalg.generic.

    Named operations other than products, convolutions and poolings become linalg.generics; loops of
    one iteration disappear; reshapes by dims of size 1 become part of the indexing maps; tensors of
    one scalar become that scalar; and reductions become operations of the region over all
    iterations, which `hir.collective` marks. f16 and bf16 are accumulated in f32. A maximum or
    minimum of one of the same kind becomes a single one over the loops of both, and one of large
    windows that overlap several, one a dim.

      %z = linalg.fill ins(%zero : f32) outs(%e : tensor<?xf32>) -> tensor<?xf32>
      %s = linalg.reduce {arith.addf} ins(%x : tensor<?x?xf32>) outs(%z : tensor<?xf32>)
             dimensions = [1]
    becomes
      %s = linalg.generic {..., iterator_types = ["parallel", "reduction"]}
             ins(%x : tensor<?x?xf32>) outs(%e : tensor<?xf32>) attrs = {hir.collective} {
      ^bb0(%a: f32, %o: f32):
        %sum = "hir.reduce_loops"(%a) {kind = "addf", loops = array<i64: 1>} : (f32) -> f32
        linalg.yield %sum : f32
      } -> tensor<?xf32>
    """

    name: ClassVar[str] = "normalize-tensor-operations"

    def run(self, op: ir.Operation) -> None:
        generalize(op)
        for found in operations_where(op, _is_its_start):
            # MLIR drops it once it is on buffers, and its region may not read what it begins with.
            for result, out in zip(found.results, outs_of(found), strict=True):
                result.replace_all_uses_with(out)
            found.erase()
        normal: set[ir.Operation] = set()
        replaced: list[ir.Operation] = []
        for found in operations_where(op, lambda inner: inner.name == SCAN):
            normal.add(scan_generic(found))
            replaced.append(found)
        for found in operations_where(
            op, lambda inner: inner.name == GENERIC and inner not in normal
        ):
            new = normalize(found, normal)
            if new is not None:
                normal.add(new)
                replaced.append(found)
        for found in reversed(replaced):
            found.erase()
        for found in operations_where(op, lambda inner: inner in normal):
            merge_nested(found, normal)
        for found in normal:
            split_windows(found)


def _is_its_start(op: ir.Operation) -> bool:
    return op.name == GENERIC and has_tensors_only(op) and reduces_nothing(op)
