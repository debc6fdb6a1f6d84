"""`hir.coalesce`: communications as one group."""

from ..mlir import ext, ir
from .dialect import Hir
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
