"""`hir.launch`: launches a kernel."""

from ..mlir import ext, ir
from .dialect import Hir
from .value_types import StreamType


class LaunchOp(Hir.Operation, name="launch", traits=[ir.NoTerminatorTrait]):
    """Launches `kernel`, a hir.kernel or a gpu.func (`@module::@function`), on `stream` or the current one.

    Sizes may be run-time values; `shared_bytes` is dynamic shared memory. The region holds one
    hir.argument an argument; `cluster` (three sizes) is optional.

    Example:
      "hir.launch"(%blocks, %one, %one, %threads, %one, %one, %none) ({
        "hir.argument"(%x) : (memref<?xf32>) -> ()
      }) {kernel = @kernels::@scale}
        : (index, index, index, index, index, index, index) -> ()
    """

    kernel: ir.SymbolRefAttr
    grid_x: ext.Operand[ir.IndexType]
    grid_y: ext.Operand[ir.IndexType]
    grid_z: ext.Operand[ir.IndexType]
    block_x: ext.Operand[ir.IndexType]
    block_y: ext.Operand[ir.IndexType]
    block_z: ext.Operand[ir.IndexType]
    shared_bytes: ext.Operand[ir.IndexType]
    stream: ext.Operand[StreamType] | None
    arguments: ext.Region
