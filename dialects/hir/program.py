"""`hir.program`: the container: typed inputs, outputs, and a body."""

from ..mlir import ext, ir
from .dialect import Hir


class ProgramOp(
    Hir.Operation, name="program", traits=[ir.IsIsolatedFromAboveTrait, ir.NoTerminatorTrait]
):
    """A host program. The one block's arguments are the inputs; `hir.output` operations end it.

    `inputs` describes them: an array with one dictionary an input, of its `name`, its `sizes` (one
    entry a dim: a number, or a name; equal names are equal sizes, checked at run time) and the
    `alignment` of its first element in bytes.

    Example:
      "hir.program"() ({
      ^bb0(%x: memref<?xf32>):
        %y = "hir.unary"(%x) {kind = "neg"} : (memref<?xf32>) -> memref<?xf32>
        "hir.output"(%y) {name = "y"} : (memref<?xf32>) -> ()
      }) {sym_name = "main", inputs = [{name = "x", sizes = ["n"]}],
          function_type = (memref<?xf32>) -> memref<?xf32>} : () -> ()
    """

    sym_name: ir.StringAttr
    function_type: ir.TypeAttr
    body: ext.Region
