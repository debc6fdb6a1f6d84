"""`hir.launcher`: how the operations of one kind are launched."""

from ..mlir import ext, ir
from .dialect import Hir
from .refusal import has_one_block, refuse


class LauncherOp(
    Hir.Operation, name="launcher", traits=[ir.IsIsolatedFromAboveTrait, ir.NoTerminatorTrait]
):
    """A function of the host that launches kernels on the current stream of its caller.

    The arguments of its one block are buffers and scalars; it gives nothing. hir.run_launcher
    calls it.

    Example:
      "hir.launcher"() ({
      ^bb0(%x: memref<?xf32>, %n: index):
        "hir.launch"(%n, %n, %n, %n, %n, %n, %n) ({
          "hir.argument"(%x) : (memref<?xf32>) -> ()
        }) {kernel = @kernels::@scale}
          : (index, index, index, index, index, index, index) -> ()
      }) {sym_name = "launch_scale"} : () -> ()
    """

    sym_name: ir.StringAttr
    body: ext.Region

    @staticmethod
    def verify_invariants(op: "LauncherOp") -> bool:
        if not op.sym_name.value:
            return refuse(op, "hir.launcher has a name; 'sym_name' is empty")
        parent = op.operation.parent
        if parent is not None and parent.name != "builtin.module":
            return refuse(op, f"hir.launcher stands in a builtin.module, not in {parent.name}")
        return has_one_block(op, op.body, "the body of hir.launcher", arguments=-1)
