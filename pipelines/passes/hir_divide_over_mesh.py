"""hir-divide-over-mesh: a program over a mesh becomes what each of its devices does."""

from __future__ import annotations

from functools import partial
from typing import ClassVar

from ...dialects.hir.program_mesh import mesh_of
from ...dialects.mlir import ir
from ...dialects.records import dataclass
from ..hir.memory.owners import callee_of
from ..pass_base import Pass, fail, register
from ..schedules.device import device_of_option
from ..walking import operations_where


@register
@dataclass(frozen=True)
class HirDivideOverMesh(Pass):
    """Divides the operations of programs with a `mesh`, and writes hir.reshard where that changes.

      "hir.program"() ({
      ^bb0(%x: memref<8x4xf32>, %w: memref<6x4xf32>):
        %y = "hir.linear"(%x, %w) {...} : (memref<8x4xf32>, memref<6x4xf32>) -> memref<8x6xf32>
        "hir.output"(%y) {spread = ["whole"]} : (memref<8x6xf32>) -> ()
      }) {mesh = array<i64: 2>, inputs = [{name = "x", spread = ["axis:1"]},
                                          {name = "w", spread = ["axis:1"]}], ...}
    becomes
      ^bb0(%x: memref<8x2xf32>, %w: memref<6x2xf32>):
        %part = "hir.linear"(%x, %w) {...} : ... -> memref<8x6xf32>
        %y = "hir.reshard"(%part) {from = ["partial:sum"], to = ["whole"], ...} : ...
        "hir.output"(%y) : (memref<8x6xf32>) -> ()

    An input or output without `spread` is whole on every device. Each operation, in order, is
    divided along the axes of the mesh by those of its loops for which the devices send the fewest
    bytes, what its result will be sent for counted, and what each computes of a product as the
    bytes that it could send meanwhile. Parts of sums pass through what is linear in
    them. What is written in place, and what operations that are no compute operations take, is
    whole.
    """

    name: ClassVar[str] = "hir-divide-over-mesh"
    subjects: ClassVar[tuple[str, ...]] = ("hir.program",)

    chips: str = ""

    def run(self, op: ir.Operation) -> None:
        for call in operations_where(op, lambda inner: inner.name == "hir.call"):
            callee = callee_of(call)
            if callee is not None and mesh_of(callee) is not None:
                fail(call, "a program over a mesh is run by itself, not called by another")
        for program in operations_where(op, lambda inner: inner.name == "hir.program"):
            mesh = mesh_of(program)
            if mesh is not None:
                # Imported late: few programs have a mesh.
                from ..hir.mesh.division import Division
                from ..overlap.cost import bytes_meanwhile

                meanwhile = partial(bytes_meanwhile, device_of_option(self.chips))
                Division(program, mesh, meanwhile).run()
