"""`hir.host_call`: calls a C function that the user provides."""

from ..mlir import ext, ir
from .dialect import Hir
from .refusal import refuse
from .region_arguments import holds_only_arguments
from .result_types import declared_types
from .symbols import lookup
from .value_types import ResultsType
from .values import is_scalar


class HostCallOp(Hir.Operation, name="host_call", traits=[ir.NoTerminatorTrait]):
    """Calls the C function `callee`.

    A buffer goes as a pointer to its MLIR descriptor, a scalar as it is; the current stream comes
    last. `result_types`, optional, lists at most one scalar type, which hir.result takes out.

    Example:
      %results = "hir.host_call"() ({
        "hir.argument"(%x) : (memref<?xf32>) -> ()
      }) {callee = @log_buffer} : () -> !hir.results_t
    """

    callee: ir.FlatSymbolRefAttr
    results_value: ext.Result[ResultsType]
    arguments: ext.Region

    @staticmethod
    def verify_region_invariants(op: "HostCallOp") -> bool:
        if not holds_only_arguments(op, op.arguments):
            return False
        callee = lookup(op, [op.callee.value])
        if callee is not None and callee.name in ("hir.program", "hir.kernel"):
            way = "hir.call" if callee.name == "hir.program" else "hir.launch"
            return refuse(
                op,
                f"hir.host_call calls a C function; @{op.callee.value} is a {callee.name}: use "
                f"{way}",
            )
        types = declared_types(op)
        if types is None or len(types) > 1 or not all(is_scalar(each) for each in types):
            return refuse(
                op,
                "'result_types' lists at most one scalar type, as [i64]; it is "
                f"{op.attributes['result_types']}: give more through a buffer",
            )
        return True
