"""`hir.host_call`: calls a C function of the user's."""

from ..mlir import ext, ir
from .dialect import Hir
from .value_types import ResultsType


class HostCallOp(Hir.Operation, name="host_call", traits=[ir.NoTerminatorTrait]):
    """Calls the C function `callee`.

    A buffer goes as a pointer to its MLIR descriptor, a scalar as it is; the current stream comes last.
    `result_types`, optional, lists at most one scalar type, which hir.result takes out.

    Example:
      %results = "hir.host_call"() ({
        "hir.argument"(%x) : (memref<?xf32>) -> ()
      }) {callee = @log_buffer} : () -> !hir.results_t
    """

    callee: ir.FlatSymbolRefAttr
    results_value: ext.Result[ResultsType]
    arguments: ext.Region
