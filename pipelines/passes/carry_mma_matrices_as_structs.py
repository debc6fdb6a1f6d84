"""Lets structured loops and branches carry warp matrices through the nvgpu conversion."""

from __future__ import annotations

from typing import ClassVar

from ...dialects.mlir import ir, passmanager
from ...dialects.records import dataclass
from ..pass_base import Pass, fail, register


@register
@dataclass(frozen=True)
class CarryMmaMatricesAsStructs(Pass):
    """Gives every matrix that an scf op carries the LLVM struct that holds its fragment.

    `convert-nvgpu-to-nvvm` legalizes the types that scf ops carry, and does not know
    `!gpu.mma_matrix`, which belongs to `convert-gpu-to-nvvm`; so a loop over warp matrices
    stops it. Casts on both sides of the loop cancel once both conversions are done.

        %r = scf.for ... iter_args(%c = %init) -> (!gpu.mma_matrix<16x16xf32, "COp">)
    becomes
        %s = builtin.unrealized_conversion_cast %init : !gpu.mma_matrix<...> to !llvm.struct<...>
        %t = scf.for ... iter_args(%d = %s) -> (!llvm.struct<(f32, f32, f32, f32, ...)>) {
          %c = builtin.unrealized_conversion_cast %d : !llvm.struct<...> to !gpu.mma_matrix<...>
    """

    name: ClassVar[str] = "carry-mma-matrices-as-structs"
    subjects: ClassVar[tuple[str, ...]] = ("gpu.subgroup_mma_",)

    def run(self, op: ir.Operation) -> None:
        carriers: list[ir.Operation] = []

        def visit(inner: ir.Operation) -> ir.WalkResult:
            if inner.name.startswith("scf."):
                carriers.append(inner)
            return ir.WalkResult.ADVANCE

        op.walk(visit)
        for carrier in carriers:
            _retype(carrier)


def _retype(op: ir.Operation) -> None:
    before = ir.InsertionPoint(op)
    for index, operand in enumerate(op.operands):
        if _is_matrix(operand.type):
            op.operands[index] = _cast(operand, _fragment_struct(op, operand.type), op, before)
    for region in op.regions:
        for block in region:
            for argument in block.arguments:
                _retype_value(argument, op, ir.InsertionPoint.at_block_begin(block))
    for result in op.results:
        _retype_value(result, op, ir.InsertionPoint.after(op))


def _retype_value(value: ir.Value, op: ir.Operation, point: ir.InsertionPoint) -> None:
    matrix = value.type
    if not _is_matrix(matrix):
        return
    value.set_type(_fragment_struct(op, matrix))
    back = _cast(value, matrix, op, point)
    value.replace_all_uses_except(back, back.owner.operation)


def _cast(
    value: ir.Value, target: ir.Type, op: ir.Operation, point: ir.InsertionPoint
) -> ir.OpResult:
    return ir.Operation.create(
        "builtin.unrealized_conversion_cast", [target], [value], loc=op.location, ip=point
    ).result


def _is_matrix(kind: ir.Type) -> bool:
    return str(kind).startswith("!gpu.mma_matrix<")


def _fragment_struct(op: ir.Operation, matrix: ir.Type) -> ir.Type:
    """The registers one lane holds, as `convert-gpu-to-nvvm` itself types them."""
    probe = ir.Module.parse(
        f"gpu.module @probe {{ func.func @probe(%matrix: {matrix}) {{ return }} }}", op.context
    )
    try:
        passmanager.PassManager.parse(
            "builtin.module(gpu.module(convert-gpu-to-nvvm))", op.context
        ).run(probe.operation)
    except ir.MLIRError:
        fail(op, f"a loop or branch cannot carry a warp matrix of type {matrix}")
    function = probe.body.operations[0].regions[0].blocks[0].operations[0]
    return function.regions[0].blocks[0].arguments[0].type
