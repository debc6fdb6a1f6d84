"""`hir.kernel`: names a gpu function for launches."""

from ..mlir import ir
from .dialect import Hir


class KernelOp(Hir.Operation, name="kernel"):
    """Names the gpu.func `function` and what its launches have in common.

    Attributes, each optional: `block` and `cluster` (three sizes each), `shared_bytes`, `writes` (the
    numbers of the arguments it writes; without it, any buffer may be written).

    Example:
      "hir.kernel"() {sym_name = "scale", function = @kernels::@scale, writes = array<i64: 1>} : () -> ()
    """

    sym_name: ir.StringAttr
    function: ir.SymbolRefAttr
