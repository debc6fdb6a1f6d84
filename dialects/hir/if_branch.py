"""`hir.if`: a host branch."""

from ..mlir import ext, ir
from .dialect import Hir
from .refusal import has_one_block, refuse
from .result_types import branch_types
from .value_types import ResultsType


class IfOp(Hir.Operation, name="if", traits=[ir.NoTerminatorTrait]):
    """Runs one of two blocks; each ends in hir.outputs of the same types.

    An output is a buffer allocated in the branch, the program's from here on, or one from outside;
    both branches agree in which.

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

    @staticmethod
    def verify_region_invariants(op: "IfOp") -> bool:
        if op.condition.type.width != 1:
            return refuse(
                op, f"the condition of hir.if is i1, not {op.condition.type}: compare it first"
            )
        for region, name in ((op.then, "first"), (op.otherwise, "second")):
            if not has_one_block(op, region, f"the {name} branch of hir.if"):
                return False
            if not _outputs_are_last(region.blocks[0]):
                return False
        then, otherwise = branch_types(op.then) or [], branch_types(op.otherwise) or []
        if len(then) != len(otherwise):
            return refuse(
                op,
                f"both branches of hir.if give as many outputs; the first gives {len(then)}, the "
                f"second {len(otherwise)}",
            )
        for number, (here, there) in enumerate(zip(then, otherwise, strict=True)):
            if here != there:
                return refuse(
                    op,
                    f"output {number} of hir.if is {here} in the first branch, but {there} in the "
                    "second; both have one type",
                )
        return True


def _outputs_are_last(block: ir.Block) -> bool:
    seen = False
    for op in block:
        if op.operation.name == "hir.output":
            seen = True
        elif seen:
            return refuse(
                op,
                f"{op.operation.name} comes after an output of the branch; the outputs end it: put "
                "it before them",
            )
    return True
