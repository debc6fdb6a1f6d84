"""`hir.coalesce`: communications as one group."""

from ..mlir import ext, ir
from .dialect import Hir
from .refusal import has_one_block, refuse
from .value_types import RequestType


class CoalesceOp(Hir.Operation, name="coalesce", traits=[ir.NoTerminatorTrait]):
    """The communications of its block begin as one group; the request stands for all of them.

    Beside them the block may compute their peers.

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
        names = [inner.operation.name for inner in op.body.blocks[0]]
        for inner, name in zip(op.body.blocks[0], names, strict=True):
            if name != "hir.communicate" and not name.startswith("arith."):
                return refuse(
                    inner,
                    "hir.coalesce holds hir.communicate operations, and arithmetic for their "
                    f"peers, not {name}: put it before or after the group",
                )
        if "hir.communicate" not in names:
            return refuse(op, "hir.coalesce groups communications; it holds none")
        return True
