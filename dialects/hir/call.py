"""`hir.call`: runs another program of the module."""

from ..mlir import ext, ir
from .dialect import Hir
from .value_types import ResultsType


class CallOp(Hir.Operation, name="call", traits=[ir.NoTerminatorTrait]):
    """Runs the program `callee` on the current stream.

    The region holds one hir.argument an input, then those with a `destination`, the buffers that
    outputs are written to. The results are those of the callee, taken out with hir.result; a result
    without a destination is a fresh buffer, the caller's to free.

    Example:
      %results = "hir.call"() ({
        "hir.argument"(%x) : (memref<?xf32>) -> ()
      }) {callee = @layer} : () -> !hir.results_t
      %y = "hir.result"(%results) {index = 0 : i64} : (!hir.results_t) -> memref<?xf32>
    """

    callee: ir.FlatSymbolRefAttr
    results_value: ext.Result[ResultsType]
    arguments: ext.Region
