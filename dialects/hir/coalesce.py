"""`hir.coalesce`: communications as one group."""

from ..mlir import ext, ir
from .dialect import Hir
from .refusal import has_one_block, refuse
from .value_types import RequestType


class CoalesceOp(Hir.Operation, name="coalesce", traits=[ir.NoTerminatorTrait]):
    """The communications of its block begin as one group; the request stands for all of them.

    Example:
      %request = "hir.coalesce"() ({
        %a = "hir.communicate"(%x, %y, %team) {kind = "allgather"}
          : (memref<8xf32>, memref<16xf32>, !hir.communicator_t) -> !hir.request_t
      }) : () -> !hir.request_t
    """

    request: ext.Result[RequestType]
    body: ext.Region

    @staticmethod
    def verify_invariants(op: "CoalesceOp") -> bool:
        if not has_one_block(op, op.body, "the body of hir.coalesce"):
            return False
        for inner in op.body.blocks[0]:
            if inner.operation.name != "hir.communicate":
                return refuse(
                    inner,
                    f"hir.coalesce holds hir.communicate operations alone, not "
                    f"{inner.operation.name}: put it before or after the group",
                )
        if not len(list(op.body.blocks[0])):
            return refuse(op, "hir.coalesce groups communications; it holds none")
        return True
