"""`hir.call`: runs another program of the module."""

from ..mlir import ext, ir
from .call_arguments import is_tensor_function, take_arguments
from .dialect import Hir
from .refusal import refuse
from .region_arguments import holds_only_arguments
from .structure import is_well_formed
from .symbols import enclosing_module, lookup, symbol_names
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

    @staticmethod
    def verify_region_invariants(op: "CallOp") -> bool:
        if not holds_only_arguments(op, op.arguments):
            return False
        callee = lookup(op, [op.callee.value])
        if callee is not None and is_tensor_function(callee):
            return take_arguments(op, op.arguments, callee)
        if callee is None or callee.name != "hir.program":
            module = enclosing_module(op)
            known = symbol_names(module, "hir.program") if module is not None else []
            there = "nothing" if callee is None else f"a {callee.name}"
            return refuse(
                op,
                f"hir.call runs a hir.program of the module; @{op.callee.value} is {there} (there "
                f"are: {', '.join(f'@{name}' for name in known) or 'none'})",
            )
        # What is wrong with the program itself, its own verifier says.
        return not is_well_formed(callee) or take_arguments(op, op.arguments, callee)
