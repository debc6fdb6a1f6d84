"""divide-functions-over-mesh: a function on tensors over a mesh becomes what each device does."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from ...dialects.hir.mesh import MESH
from ...dialects.mlir import ir, passmanager
from ...dialects.records import dataclass
from ..pass_base import Pass, fail, register
from ..schedules.device import device_of_option
from ..walking import operations_where

_TIDIES = "builtin.module(func.func(canonicalize,cse))"


@register
@dataclass(frozen=True)
class DivideFunctionsOverMesh(Pass):
    """Divides the operations of functions with `hir.mesh`; a changed spread is a hir.reshard.

      func.func @main(%x: tensor<2x16xf32> {hir.spread = ["axis:1"]},
                      %w: tensor<16x4xf32> {hir.spread = ["axis:0"]}) -> tensor<2x4xf32>
          attributes {hir.mesh = array<i64: 2>} {
        %y = linalg.matmul ins(%x, %w : ...) outs(%zeros : tensor<2x4xf32>) -> tensor<2x4xf32>
        return %y : tensor<2x4xf32>
      }
    becomes
      func.func @main(%x: tensor<2x8xf32>, %w: tensor<8x4xf32>) -> tensor<2x4xf32> {
        %part = linalg.matmul ins(%x, %w : ...) outs(%zeros : ...) -> tensor<2x4xf32>
        %buffer = bufferization.to_buffer %part read_only : tensor<2x4xf32> to memref<2x4xf32>
        %sum = "hir.reshard"(%buffer) {from = ["partial:sum"], to = ["whole"], ...} : ...
        %y = bufferization.to_tensor %sum restrict : memref<2x4xf32> to tensor<2x4xf32>
        return %y : tensor<2x4xf32>
      }

    An argument or result without `hir.spread` is whole on every device. Operations are divided as
    hir-divide-over-mesh divides those of Host IR: each linalg operation by those of its loops for
    which the devices send the fewest bytes. Reshapes, slices and their like are spread as their
    tensors; where a reshape joins a dim that is divided to others before it, what takes it takes
    the tensor before the reshape. What else takes tensors takes whole ones.
    """

    name: ClassVar[str] = "divide-functions-over-mesh"
    subjects: ClassVar[tuple[str, ...]] = ("func.func",)

    chips: str = ""

    def run(self, op: ir.Operation) -> None:
        functions = operations_where(op, lambda inner: MESH in inner.attributes)
        if not functions:
            return
        # Imported late: few programs have a mesh.
        from ..mesh.declared import mesh_of_function
        from ..mesh.division import Division
        from ..overlap.cost import bytes_meanwhile

        meanwhile = partial(bytes_meanwhile, device_of_option(self.chips))
        names = {ir.StringAttr(each.attributes["sym_name"]).value for each in functions}
        for call in operations_where(op, lambda inner: inner.name == "func.call"):
            if ir.FlatSymbolRefAttr(call.attributes["callee"]).value in names:
                fail(call, "a function over a mesh is run by itself, not called by another")
        for function in functions:
            mesh = mesh_of_function(function)
            assert mesh is not None
            Division(function, mesh, meanwhile).run()
        passmanager.PassManager.parse(_TIDIES, op.context).run(op)
