"""`hir.if`: a host branch."""

from ..mlir import ext, ir
from .dialect import Hir
from .value_types import ResultsType


class IfOp(Hir.Operation, name="if", traits=[ir.NoTerminatorTrait]):
    """Runs one of two blocks; each ends in hir.outputs of the same types.

    An output is a buffer allocated in the branch, the program's from here on, or one from outside; both
    branches agree in which.

    Example:
      %results = "hir.if"(%condition) ({
        %y = "hir.unary"(%x) {kind = "neg"} : (memref<8xf32>) -> memref<8xf32>
        "hir.output"(%y) : (memref<8xf32>) -> ()
      }, {
        %y = "hir.unary"(%x) {kind = "abs"} : (memref<8xf32>) -> memref<8xf32>
        "hir.output"(%y) : (memref<8xf32>) -> ()
      }) : (i1) -> !hir.results_t
    """

    condition: ext.Operand[ir.IntegerType]
    results_value: ext.Result[ResultsType]
    then: ext.Region
    otherwise: ext.Region
