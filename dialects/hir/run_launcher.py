"""`hir.run_launcher`: launches what a hir.launcher does."""

from ..mlir import ext, ir
from .dialect import Hir
from .region_arguments import holds_only_arguments


class RunLauncherOp(Hir.Operation, name="run_launcher", traits=[ir.NoTerminatorTrait]):
    """Runs a hir.launcher of the module on the current stream.

    The region holds one hir.argument for each argument of its block, of the same type; the lowering
    compares them.

    Example:
      "hir.run_launcher"() ({
        "hir.argument"(%x) : (memref<?xf32>) -> ()
        "hir.argument"(%n) : (index) -> ()
      }) {launcher = @launch_scale} : () -> ()
    """

    launcher: ir.FlatSymbolRefAttr
    arguments: ext.Region

    @staticmethod
    def verify_region_invariants(op: "RunLauncherOp") -> bool:
        return holds_only_arguments(op, op.arguments)
